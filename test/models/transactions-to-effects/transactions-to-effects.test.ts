import { localClients } from '../../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../../bin/local/emulators/kinesis-emulator';
import { DynamoDbParkingStore, ONCE_POSTGRES_TABLE } from '../../../lib/core/consumer';
import { migrateOutbox } from '../../../lib/core/outbox';
import { createParkingTable, PARKING_TABLE } from '../../support/plays/parking-stores';
import { describeOnPostgres } from '../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../support/postgres/postgres-server';
import { type FaultyKinesis, startFaultyKinesis } from './faulty-kinesis';
import { playTransactionsToEffects, SHARDS, STREAM } from './play';

const SEED = 40;

describeOnPostgres('an outbox, a stream and a consumer', () => {
  let server: PostgresServer;
  let kinesis: Emulator;
  let dynamodb: Emulator;
  let network: FaultyKinesis;
  beforeAll(async () => {
    const started = [PostgresServer.start(), startKinesisEmulator(), startDynamoDbEmulator()] as const;
    [server, kinesis, dynamodb] = await Promise.all(started);
    network = await startFaultyKinesis(kinesis.endpoint, SEED);
  }, 90_000);
  afterAll(async () => {
    await network?.stop();
    await Promise.all([server?.stop(), kinesis?.stop(), dynamodb?.stop()]);
  });

  test('each committed change is applied once and in order, despite throttles, splits, crashes and errors', async () => {
    const pool = server.pool(await server.createDatabase('effects'));
    const admin = await pool.connect();
    await migrateOutbox(admin);
    await admin.query(ONCE_POSTGRES_TABLE);
    admin.release();
    const direct = localClients({ kinesis: kinesis.endpoint, dynamodb: dynamodb.endpoint, lambda: kinesis.endpoint });
    const faulty = localClients({ kinesis: network.endpoint, dynamodb: network.endpoint, lambda: network.endpoint });
    await direct.kinesis.createStream({ StreamName: STREAM, ShardCount: SHARDS });
    await createParkingTable(direct.dynamodb);
    const facts = await playTransactionsToEffects({
      ...{ pool, seed: SEED, kinesis: direct.kinesis, network: faulty.kinesis },
      parking: () => new DynamoDbParkingStore(direct.dynamodb, { tableName: PARKING_TABLE, consumer: 'accounts' }),
    });
    for (const fact of ['rolledBack', 'crashes', 'parked'] as const) expect(facts[fact]).toBeGreaterThan(0);
    expect(network.faults.throttled).toBeGreaterThan(0);
    for (const { kinesis: client, dynamodb: other } of [direct, faulty]) {
      client.destroy();
      other.destroy();
    }
  }, 180_000);
});

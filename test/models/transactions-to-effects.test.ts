import { localClients } from '../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { DynamoDbParkingStore, ONCE_POSTGRES_TABLE } from '../../lib/core/consumer';
import { migrateOutbox } from '../../lib/core/outbox';
import { type FaultyKinesis, startFaultyKinesis } from '../support/fakes/faulty-kinesis';
import { createParkingTable, PARKING_TABLE } from '../support/plays/parking-stores';
import { type Effects, playTransactionsToEffects, SHARDS, STREAM } from '../support/plays/transactions-to-effects';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';

const SEED = 40;

/** This test writes effects to Postgres. `npm run conformance dynamodb` writes them to DynamoDB. */
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
    await admin.query('CREATE TABLE effect (id serial, account text, change int)');
    admin.release();
    const direct = localClients({ kinesis: kinesis.endpoint, dynamodb: dynamodb.endpoint, lambda: kinesis.endpoint });
    const faulty = localClients({ kinesis: network.endpoint, dynamodb: network.endpoint, lambda: network.endpoint });
    await direct.kinesis.createStream({ StreamName: STREAM, ShardCount: SHARDS });
    await createParkingTable(direct.dynamodb);
    const effects: Effects = {
      async apply(account, change, once) {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          await once.postgres(client);
          await client.query('INSERT INTO effect (account, change) VALUES ($1, $2)', [account, change]);
          await client.query('COMMIT');
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        } finally {
          client.release();
        }
      },
      async changesOf(account) {
        const { rows } = await pool.query('SELECT change FROM effect WHERE account = $1 ORDER BY id', [account]);
        return rows.map(({ change }) => change);
      },
    };
    const facts = await playTransactionsToEffects({
      ...{ pool, effects, seed: SEED, kinesis: direct.kinesis, network: faulty.kinesis },
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

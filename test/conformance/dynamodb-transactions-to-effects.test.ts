import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { localClients } from '../../bin/local/emulators/clients';
import type { Emulator } from '../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { DynamoDbParkingStore } from '../../lib/core/consumer';
import { migrateOutbox } from '../../lib/core/outbox';
import { startFaultyKinesis } from '../support/fakes/faulty-kinesis';
import { createConsumerTables, EFFECTS_TABLE } from '../support/plays/consumer-tables';
import { PARKING_TABLE } from '../support/plays/parking-stores';
import { type Effects, playTransactionsToEffects, SHARDS, STREAM } from '../support/plays/transactions-to-effects';
import { hasPostgres, PostgresServer } from '../support/postgres/postgres-server';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

const SEED = 40;

describeOnDynamoDbEmulators('an outbox, a stream and a consumer with DynamoDB transactions', (emulator) => {
  (hasPostgres ? test : test.skip)(
    'what takes effect is what was committed, in order and once, whatever throttles, splits, crashes, or fails',
    async () => {
      const started = [PostgresServer.start(), startKinesisEmulator(), emulator.start()] as const;
      const [server, kinesis, table] = await Promise.all(started);
      const network = await startFaultyKinesis(kinesis.endpoint, SEED);
      const endpointsOf = ({ endpoint }: Pick<Emulator, 'endpoint'>) => ({
        ...{ kinesis: endpoint, dynamodb: table.endpoint, lambda: endpoint },
      });
      const [direct, faulty] = [localClients(endpointsOf(kinesis)), localClients(endpointsOf(network))];
      try {
        const pool = server.pool(await server.createDatabase('effects'));
        const admin = await pool.connect();
        await migrateOutbox(admin);
        admin.release();
        await direct.kinesis.createStream({ StreamName: STREAM, ShardCount: SHARDS });
        await createConsumerTables(direct.dynamodb);
        const facts = await playTransactionsToEffects({
          ...{ pool, seed: SEED, kinesis: direct.kinesis, network: faulty.kinesis },
          parking: () => new DynamoDbParkingStore(direct.dynamodb, { tableName: PARKING_TABLE, consumer: 'accounts' }),
          effects: effectsIn(direct.dynamodb),
        });
        for (const fact of ['rolledBack', 'crashes', 'parked'] as const) expect(facts[fact]).toBeGreaterThan(0);
        expect(network.faults.throttled).toBeGreaterThan(0);
      } finally {
        for (const client of [direct, faulty].flatMap((each) => [each.kinesis, each.dynamodb, each.lambda]))
          client.destroy();
        await network.stop();
        await Promise.all([server.stop(), kinesis.stop(), table.stop()]);
      }
    },
    900_000,
  );
});

/** The effects of the consumer example: a list for each account. */
function effectsIn(dynamodb: DynamoDB): Effects {
  const keyOf = (account: string) => ({ id: { S: account } });
  return {
    async apply(account, change, once) {
      const append = {
        Update: {
          ...{ TableName: EFFECTS_TABLE, Key: keyOf(account) },
          UpdateExpression: 'SET changes = list_append(if_not_exists(changes, :none), :change)',
          ExpressionAttributeValues: { ':none': { L: [] }, ':change': { L: [{ N: String(change) }] } },
        },
      };
      await dynamodb.transactWriteItems({ TransactItems: once([append]) });
    },
    async changesOf(account) {
      const { Item } = await dynamodb.getItem({ TableName: EFFECTS_TABLE, Key: keyOf(account), ConsistentRead: true });
      return Item?.changes?.L?.map(({ N }) => Number(N)) ?? [];
    },
  };
}

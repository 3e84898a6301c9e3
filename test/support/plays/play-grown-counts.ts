import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  AdaptiveIndex,
  type AdaptiveIndexOptions,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  fanOutQuery,
  increaseShardCount,
  type QueryClient,
  shardPut,
} from '../../../lib/core';
import { adaptiveConfig } from '../fakes/adaptive-config';
import { jumpingClock } from '../fakes/jumping-clock';
import { createKeyedTable } from '../keyed-table';
import { createTable } from '../sharded-tables';

/** The number of queries to the count table at the start of a reader, if the table has many stored counts. */
interface StartCost {
  queries: number;
}

const COUNTS = adaptiveConfig.adaptive!.tableName;
/** Source: the DynamoDB API reference, BatchWriteItem. */
const MAX_BATCH = 25;

const tenantOf = (number: number): string => `tenant ${String(number).padStart(6, '0')}`;
const sharesOf = (number: number): number => 2 + (number % 30);

/**
 * Starts readers and writers without cached counts on an index with many stored counts. One reader reads the count of its value,
 * and another reader reads all counts. Then the count of one value increases.
 *
 * @param time the clock of the readers and writers. @default the system clock
 *
 * @throws if a reader misses an item, or if a count differs from the stored count
 */
export async function playGrownCounts(
  dynamoDb: DynamoDB,
  values: number,
  time: Pick<AdaptiveIndexOptions, 'clock' | 'timeOfDay'> = {},
): Promise<{ named: StartCost; all: StartCost }> {
  await createTable(dynamoDb, adaptiveConfig, { orderId: 'S', byStatusShard: 'S', createdAt: 'S' });
  await createKeyedTable(dynamoDb, COUNTS, 'index', 'value');
  await fillCounts(dynamoDb, values);
  const documents = DynamoDBDocument.from(dynamoDb);
  const some = [0, Math.floor(values / 2), values - 1];

  const writer = new AdaptiveIndex(adaptiveConfig, new DynamoDbShardCountReader(dynamoDb, adaptiveConfig), time);
  for (const number of some) {
    const status = tenantOf(number);
    for (let nth = 0; nth < 40; nth++) {
      const order = { orderId: `${status} ${nth}`, status, createdAt: String(nth) };
      await documents.put(shardPut([await writer.forWriting(status)], order));
    }
  }

  const begin = () => {
    const cost: StartCost = { queries: 0 };
    const client: QueryClient = {
      query: async (input, options) => {
        cost.queries += 1;
        return dynamoDb.query(input, options);
      },
    };
    return {
      cost,
      index: new AdaptiveIndex(adaptiveConfig, new DynamoDbShardCountReader(client, adaptiveConfig), time),
    };
  };

  const byName = begin();
  await byName.index.forReading(undefined, [tenantOf(some[1]!)]);
  const named = { ...byName.cost };
  for (const number of some) {
    const page = await fanOutQuery(dynamoDb, byName.index, { value: tenantOf(number), limit: 100 });
    if (page.items.length !== 40 || page.stats.shards !== sharesOf(number)) {
      throw new Error(`${page.items.length} items of ${page.stats.shards} shards for value ${number}`);
    }
  }

  const whole = begin();
  const { shards } = await whole.index.forReading();
  for (let number = 0; number < values; number++) {
    const { write, read } = shards.byValue![tenantOf(number)]!;
    if (write !== sharesOf(number) || read !== write) throw new Error(`value ${number} has the count ${write}`);
  }

  const store = new DynamoDbShardCountStore(dynamoDb, adaptiveConfig);
  const raise = { value: tenantOf(some[2]!), to: 60, reason: 'to see', changedBy: 'a test' };
  await increaseShardCount(adaptiveConfig, store, raise, { clock: jumpingClock() });
  const later = await begin().index.forReading(undefined, [raise.value]);
  if (later.shards.byValue![raise.value]!.write !== 60) throw new Error('an increase was not visible');
  return { named, all: whole.cost };
}

/** Writes counts directly into the table, because thousands of increases take too long for a test. */
async function fillCounts(dynamoDb: DynamoDB, values: number): Promise<void> {
  const index = { S: `${adaptiveConfig.tableName}/${adaptiveConfig.indexName}` };
  for (let from = 0; from < values; from += MAX_BATCH) {
    const numbers = Array.from({ length: Math.min(MAX_BATCH, values - from) }, (_, nth) => from + nth);
    const puts = numbers.map((number) => ({
      PutRequest: {
        Item: {
          index,
          value: { S: `=${tenantOf(number)}` },
          write: { N: String(sharesOf(number)) },
          read: { N: String(sharesOf(number)) },
          version: { N: '2' },
          commit: { S: 'a' },
          changedBy: { S: 'a test' },
          changedAt: { S: '2026-01-01T00:00:00.000Z' },
          reason: { S: 'to see' },
        },
      },
    }));
    const { UnprocessedItems } = await dynamoDb.batchWriteItem({ RequestItems: { [COUNTS]: puts } });
    if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('the emulator has throttled a write');
  }
}

import { DynamoDB, type WriteRequest } from '@aws-sdk/client-dynamodb';
import { startDynamoDbEmulator } from '../../bin/local/dynamodb-emulator';
import type { DynamoDbItem, ShardedIndexConfig } from '../../lib/core';
import { createTable } from '../conformance/sharded-tables';
import {
  EVERYTHING,
  MODEL_IDS,
  type ModelIndex,
  type ModelLimits,
  playFanOutCase,
  type SortType,
} from '../fakes/fan-out-model';

/**
 * What dynalite can do: no multi-attribute keys, and strings ordered as DynamoDB does only below the surrogates, since it
 * stores them by UTF-8 and compares them by UTF-16. The sizes keep a case at some tens of requests.
 */
const DYNALITE: ModelLimits = {
  ...EVERYTHING,
  layouts: ['single-attribute'],
  sortKeyCounts: [0, 1],
  sortValues: 5,
  mostShards: 20,
  mostItems: 100,
};

/** Most items of one BatchWriteItem. */
const BATCH = 25;

/**
 * Plays cases of the model on dynalite with the AWS SDK: one table for each kind of key, empty between the cases.
 *
 * @throws an error that names the seed of the first case that does not equal the oracle
 */
export async function playOnDynalite(cases: number, firstSeed: number): Promise<void> {
  const emulator = await startDynamoDbEmulator();
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
  const indexes = new Map<string, ModelIndex>();
  const indexFor = async (config: ShardedIndexConfig, type: SortType): Promise<ModelIndex> => {
    const tableName = `${config.tableName}-${config.sortKeyAttributes.length}-${type}`;
    const index = indexes.get(tableName) ?? (await createIndex(dynamoDb, { ...config, tableName }, type));
    indexes.set(tableName, index);
    return index;
  };
  try {
    for (let seed = firstSeed; seed < firstSeed + cases; seed++) {
      await playFanOutCase(seed, DYNALITE, indexFor).catch((error: Error) => {
        throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
      });
    }
  } finally {
    dynamoDb.destroy();
    await emulator.stop();
  }
}

async function createIndex(dynamoDb: DynamoDB, config: ShardedIndexConfig, type: SortType): Promise<ModelIndex> {
  const { tableName: TableName, sortKeyAttributes } = config;
  await createTable(dynamoDb, config, { jobId: 'S', shard: 'S', ...(sortKeyAttributes.length > 0 && { sort: type }) });
  const write = async (requests: WriteRequest[]): Promise<void> => {
    for (let at = 0; at < requests.length; at += BATCH) {
      const RequestItems = { [TableName]: requests.slice(at, at + BATCH) };
      const { UnprocessedItems = {} } = await dynamoDb.batchWriteItem({ RequestItems });
      if (Object.keys(UnprocessedItems).length > 0) throw new Error(`${TableName} did not take every write`);
    }
  };
  const index = {
    put: (items: DynamoDbItem[]) => write(items.map((Item) => ({ PutRequest: { Item } }))),
    delete: (items: DynamoDbItem[]) => write(items.map(({ jobId }) => ({ DeleteRequest: { Key: { jobId: jobId! } } }))),
  };
  const ranks = await tieRanks(dynamoDb, config, type, index);
  return {
    ...index,
    query: (input, options) => dynamoDb.query({ ...input, TableName }, options),
    compareTies: (a, b) => ranks.get(idOf(a))! - ranks.get(idOf(b))!,
  };
}

/** How the service orders equal sort keys is its own affair: it shows when all items there can be are in one shard. */
async function tieRanks(
  dynamoDb: DynamoDB,
  { tableName: TableName, indexName: IndexName }: ShardedIndexConfig,
  type: SortType,
  index: Pick<ModelIndex, 'put' | 'delete'>,
): Promise<Map<string, number>> {
  const sort = { S: { S: 'x' }, N: { N: '1' }, B: { B: Buffer.from('x') } }[type];
  const tied = Array.from({ length: MODEL_IDS }, (_, number) => ({
    jobId: { S: `job-${number}` },
    shard: { S: 'all' },
    sort,
  }));
  await index.put(tied);
  const { Items = [] } = await dynamoDb.query({
    TableName,
    IndexName,
    KeyConditionExpression: '#shard = :all',
    ExpressionAttributeNames: { '#shard': 'shard' },
    ExpressionAttributeValues: { ':all': { S: 'all' } },
  });
  if (Items.length !== MODEL_IDS) throw new Error(`${TableName} shows ${Items.length} of ${MODEL_IDS} items`);
  await index.delete(tied);
  return new Map(Items.map((item, rank) => [idOf(item as DynamoDbItem), rank]));
}

function idOf({ jobId }: DynamoDbItem): string {
  return (jobId as { S: string }).S;
}

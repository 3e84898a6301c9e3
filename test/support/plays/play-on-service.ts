import { type AttributeValue, DynamoDB, type WriteRequest } from '@aws-sdk/client-dynamodb';
import { type DynamoDbItem, lightQueryClient, type QueryClient, type ShardedIndexConfig } from '../../../lib/core';
import {
  MODEL_IDS,
  MODEL_TIE_TYPES,
  type ModelIndex,
  type ModelLimits,
  playFanOutCase,
  playFanOutCases,
  type SortType,
} from '../fakes/fan-out-model';
import { createTable } from '../sharded-tables';

/** The maximum number of items of one BatchWriteItem request. */
const BATCH = 25;

/** A shard that no case uses. */
const RANKING_SHARD = 9_999;

/**
 * Runs cases of the model on a service. Each kind of key has one table, which is emptied after each case. Every second
 * kind of key uses the light client.
 *
 * @throws an error with the seed of the first case that differs from the oracle
 */
export async function playOnService(
  endpoint: string,
  limits: ModelLimits,
  cases: number,
  firstSeed: number,
): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint });
  const clients: QueryClient[] = [dynamoDb, lightQueryClient(dynamoDb)];
  const indexes = new Map<string, ModelIndex>();
  const indexFor = async (config: ShardedIndexConfig, type: SortType): Promise<ModelIndex> => {
    const tableName = [config.tableName, config.keyLayout, config.sortKeyAttributes.length, type].join('-');
    const client = clients[indexes.size % 2]!;
    const index = indexes.get(tableName) ?? (await createIndex(dynamoDb, client, { ...config, tableName }, type));
    indexes.set(tableName, index);
    return index;
  };
  try {
    await playFanOutCases(cases, firstSeed, (seed) => playFanOutCase(seed, limits, indexFor));
  } finally {
    dynamoDb.destroy();
  }
}

/** The attribute types of the keys of the table and of the index. */
export function keyTypes(
  { sortKeyAttributes, keyLayout }: ShardedIndexConfig,
  type: SortType,
): Record<string, 'S' | 'N' | 'B'> {
  const types = { sort: type, ...MODEL_TIE_TYPES };
  return {
    jobId: 'S',
    ...(keyLayout === 'multi-attribute' ? { status: 'S', shard: 'N' } : { shard: 'S' }),
    ...Object.fromEntries(sortKeyAttributes.map((name) => [name, types[name as keyof typeof types]])),
  };
}

async function createIndex(
  dynamoDb: DynamoDB,
  client: QueryClient,
  config: ShardedIndexConfig,
  type: SortType,
): Promise<ModelIndex> {
  await createTable(dynamoDb, config, keyTypes(config, type));
  return openIndex(dynamoDb, client, config, type);
}

/** Opens an index of an existing, empty table. */
export async function openIndex(
  dynamoDb: DynamoDB,
  client: QueryClient,
  config: ShardedIndexConfig,
  type: SortType,
  settle: () => Promise<void> = async () => {},
): Promise<ModelIndex> {
  const { tableName: TableName } = config;
  const write = async (requests: WriteRequest[]): Promise<void> => {
    for (let at = 0; at < requests.length; at += BATCH) {
      const RequestItems = { [TableName]: requests.slice(at, at + BATCH) };
      const { UnprocessedItems = {} } = await dynamoDb.batchWriteItem({ RequestItems });
      if (Object.keys(UnprocessedItems).length > 0) throw new Error(`${TableName} did not accept every write`);
    }
    await settle();
  };
  const index = {
    put: (items: DynamoDbItem[]) => write(items.map((Item) => ({ PutRequest: { Item } }))),
    delete: (items: DynamoDbItem[]) => write(items.map(({ jobId }) => ({ DeleteRequest: { Key: { jobId: jobId! } } }))),
  };
  const ranks = await tieRanks(dynamoDb, config, type, index);
  return {
    ...index,
    query: (input, options) => client.query({ ...input, TableName }, options),
    compareTies: (a, b) => ranks.get(idOf(a))! - ranks.get(idOf(b))!,
  };
}

/**
 * Returns the order of items with equal sort keys, which only the service knows. Reads this order from a shard with all
 * possible items.
 */
async function tieRanks(
  dynamoDb: DynamoDB,
  { tableName: TableName, indexName: IndexName, keyLayout }: ShardedIndexConfig,
  type: SortType,
  index: Pick<ModelIndex, 'put' | 'delete'>,
): Promise<Map<string, number>> {
  const sort = { S: { S: 'x' }, N: { N: '1' }, B: { B: Buffer.from('x') } }[type];
  const shard = keyLayout === 'multi-attribute' ? { N: String(RANKING_SHARD) } : { S: `a#${RANKING_SHARD}` };
  const key: DynamoDbItem = keyLayout === 'multi-attribute' ? { shard, status: { S: 'a' } } : { shard };
  const tied = Array.from({ length: MODEL_IDS }, (_, number) => ({
    jobId: { S: `job-${number}` },
    ...key,
    sort,
    tie: { N: '1' },
    last: { S: 'x' },
  }));
  await index.put(tied);
  const { Items = [] } = await dynamoDb.query({
    TableName,
    IndexName,
    KeyConditionExpression: Object.keys(key)
      .map((name) => `#${name} = :${name}`)
      .join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(Object.keys(key).map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      Object.entries(key).map(([name, value]) => [`:${name}`, value as AttributeValue]),
    ),
  });
  if (Items.length !== MODEL_IDS) throw new Error(`${TableName} returns ${Items.length} of ${MODEL_IDS} items`);
  await index.delete(tied);
  return new Map(Items.map((item, rank) => [idOf(item as DynamoDbItem), rank]));
}

function idOf({ jobId }: DynamoDbItem): string {
  return (jobId as { S: string }).S;
}

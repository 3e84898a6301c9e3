import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue, DynamoDB, GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDbItem,
  plainItem,
  type ShardedConfig,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../lib/core';
import { toAttributeValue } from '../../lib/core/sharded-index/query/sort-key-select';
import { seededRandom } from '../../lib/testing/seeded-random';

/** The properties in which the sharded indexes of the tests differ. */
export interface Shape {
  keyLayout: ShardedIndexConfig['keyLayout'];
  /** The type of the value attribute. Not set if the index contains all items of the table, without a value. */
  value?: 'S' | 'N';
  sortKey?: keyof typeof SORT_KEYS;
  tieBreaker?: boolean;
  compositeTableKey?: boolean;
}

/**
 * Sort keys of each type in the documented order of DynamoDB. Each type has few sort keys, so that most items share
 * their sort key with another item.
 */
export const SORT_KEYS = {
  S: ['a', 'ab', 'b', 'z', 'é', '\u{1f680}'],
  N: [{ N: '-1E30' }, -2.5, 0, 0.001, { N: '12345678901234567.25' }, { N: '12345678901234567.5' }],
  /**
   * Texts whose order in UTF-8 (DynamoDB) differs from their order in UTF-16 (JavaScript). dynalite uses both orders.
   */
  astral: ['z', '\uffe5', '\u{1f680}', '\u{1f680}a'],
  B: [[0], [0, 255], [127], [128], [128, 0], [255]].map((bytes) => Uint8Array.from(bytes)),
} as const;

export const VALUES = { S: ['open', 'done', 'grün#1'], N: [7, -1.5, Number.MAX_SAFE_INTEGER] } as const;

/** The shard counts of the values above. */
const SHARD_COUNTS = [6, 2, 1];

/** An item as the service stores it, its shard, and its rank among the items of its shard in the order of the service. */
export interface Entry {
  id: string;
  value: string | number | undefined;
  sortKey: number;
  tieBreaker: number;
  owner: 'ann' | 'bob';
  shard: number;
  rank: number;
  item: DynamoDbItem;
}

export interface ShardedTable {
  shape: Shape;
  config: ShardedIndexConfig;
  entries: Entry[];
}

const SIZE = 120;

/** Creates a table of the shape and writes its items. */
export async function createShardedTable(dynamoDb: DynamoDB, shape: Shape, number: number): Promise<ShardedTable> {
  const config = configOf(shape, `Table-${number}`);
  await createTable(dynamoDb, config, attributeTypes(shape));
  const random = seededRandom(number + 1);
  const below = (bound: number) => Math.floor(random() * bound);
  const entries = Array.from({ length: SIZE }, (_, index) =>
    entryOf(config, shape, {
      id: `item-${index}`,
      value: shape.value && VALUES[shape.value][below(3)],
      sortKey: shape.sortKey ? below(SORT_KEYS[shape.sortKey].length) : 0,
      tieBreaker: shape.tieBreaker ? below(3) : 0,
      owner: below(4) === 0 ? 'ann' : 'bob',
    }),
  );
  const table = { shape, config, entries };
  for (const { item } of entries) await dynamoDb.putItem({ TableName: config.tableName, Item: item });
  await readOrderOfService(dynamoDb, table);
  return table;
}

/** The definition of a table for CreateTable and for a template. */
export function tableDefinition(config: ShardedConfig, attributeTypes: Record<string, 'S' | 'N' | 'B'>) {
  return {
    TableName: config.tableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: Object.entries(attributeTypes).map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: keySchema([config.tableKey[0]!], config.tableKey.slice(1)),
    ...(config.indexName !== undefined && { GlobalSecondaryIndexes: [indexOf(config)] }),
  };
}

/** Creates a table with one sharded index, and waits until the table is active. */
export async function createTable(
  dynamoDb: DynamoDB,
  config: ShardedConfig,
  attributeTypes: Record<string, 'S' | 'N' | 'B'>,
): Promise<void> {
  const TableName = config.tableName;
  await dynamoDb.createTable(tableDefinition(config, attributeTypes));
  while ((await dynamoDb.describeTable({ TableName })).Table?.TableStatus !== 'ACTIVE') await sleep(5);
}

export function keyOf({ config }: ShardedTable, { item }: Entry): DynamoDbItem {
  return Object.fromEntries(config.tableKey.map((attribute) => [attribute, item[attribute]!]));
}

function configOf(shape: Shape, tableName: string): ShardedIndexConfig {
  const counts = SHARD_COUNTS.map((count) => ({ write: count, read: count })) as [Count, Count, Count];
  return {
    tableName,
    indexName: 'sharded',
    tableKey: shape.compositeTableKey ? ['id', 'part'] : ['id'],
    keyLayout: shape.keyLayout,
    // These names are reserved words of DynamoDB. The library must support such names.
    ...(shape.value && { valueAttribute: 'status' }),
    shardAttribute: 'shard',
    sortKeyAttributes: [...(shape.sortKey ? ['timestamp'] : []), ...(shape.tieBreaker ? ['order'] : [])],
    shards: shape.value
      ? {
          default: counts[2],
          byValue: Object.fromEntries(VALUES[shape.value].map((value, index) => [String(value), counts[index]!])),
        }
      : { default: counts[0] },
    strategy: 'calculated',
  };
}

type Count = ShardedIndexConfig['shards']['default'];

function attributeTypes({ keyLayout, value, sortKey, tieBreaker, compositeTableKey }: Shape) {
  return {
    id: 'S',
    ...(compositeTableKey && { part: 'N' }),
    ...(value && keyLayout === 'multi-attribute' && { status: value }),
    shard: value && keyLayout === 'single-attribute' ? 'S' : 'N',
    ...(sortKey && { timestamp: sortKey === 'astral' ? 'S' : sortKey }),
    ...(tieBreaker && { order: 'N' }),
  } as Record<string, 'S' | 'N' | 'B'>;
}

function indexOf({
  indexName,
  keyLayout,
  valueAttribute,
  shardAttribute,
  sortKeyAttributes,
}: ShardedIndexConfig): GlobalSecondaryIndex {
  const value = keyLayout === 'multi-attribute' && valueAttribute ? [valueAttribute] : [];
  return {
    IndexName: indexName,
    KeySchema: keySchema([...value, shardAttribute], sortKeyAttributes),
    Projection: { ProjectionType: 'ALL' },
  };
}

function keySchema(hash: string[], range: string[]): KeySchemaElement[] {
  const element = (KeyType: 'HASH' | 'RANGE') => (AttributeName: string) => ({ AttributeName, KeyType });
  return [...hash.map(element('HASH')), ...range.map(element('RANGE'))];
}

function entryOf(config: ShardedIndexConfig, shape: Shape, facts: Omit<Entry, 'shard' | 'rank' | 'item'>): Entry {
  const { id, value, sortKey, tieBreaker, owner } = facts;
  const plain = {
    id,
    owner,
    ...(shape.compositeTableKey && { part: id.length }),
    ...(shape.value && { status: value }),
    ...(shape.sortKey && { timestamp: SORT_KEYS[shape.sortKey][sortKey] }),
    ...(shape.tieBreaker && { order: tieBreaker }),
  };
  const own = attributeValues(plain);
  const added = shardAttributes(config, plainItem(own));
  const item = { ...own, ...attributeValues(added) };
  return { ...facts, shard: Number(String(added.shard).split('#').at(-1)), rank: -1, item };
}

function attributeValues(values: object): DynamoDbItem {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toAttributeValue(value)]));
}

/** Reads the order of equal sort keys and the format of numbers with a plain query, because the service decides both. */
async function readOrderOfService(dynamoDb: DynamoDB, { shape, config, entries }: ShardedTable): Promise<void> {
  const names = shape.value && shape.keyLayout === 'multi-attribute' ? ['shard', 'status'] : ['shard'];
  const partitions = new Map(entries.map(({ item }) => [JSON.stringify(names.map((name) => item[name])), item]));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  for (const partition of partitions.values()) {
    const read = async (ScanIndexForward: boolean) => {
      const { Items = [] } = await dynamoDb.query({
        TableName: config.tableName,
        IndexName: config.indexName,
        KeyConditionExpression: names.map((name) => `#${name} = :${name}`).join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(
          names.map((name) => [`:${name}`, partition[name] as AttributeValue]),
        ),
        ScanIndexForward,
      });
      return Items.map((item) => Object.assign(byId.get(item.id!.S!)!, { item }));
    };
    const ascending = await read(true);
    ascending.forEach((entry, rank) => {
      entry.rank = rank;
    });
    const inOrder = ascending.every((entry, index) => index === 0 || ascending[index - 1]!.sortKey <= entry.sortKey);
    if (!inOrder)
      throw new Error(`${config.tableName}: the service does not use the sort order that DynamoDB documents`);
    const descending = (await read(false)).reverse();
    if (ascending.some((entry, index) => entry !== descending[index])) {
      throw new Error(
        `${config.tableName}: the descending order of the service is not the reverse of its ascending order`,
      );
    }
  }
}

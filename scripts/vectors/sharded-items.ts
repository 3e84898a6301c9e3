import {
  type AttributeValue,
  type DynamoDbItem,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedTableConfig,
  shardAttributes,
  shardAttributesOfUpdate,
  shardKeys,
} from '../../lib/core/sharded-index';
import { plainItem } from '../../lib/core/sharded-index/query/plain-item';
import { numberText } from '../../lib/core/sharding/key-value';

/**
 * The attributes that a writer adds to an item, or to an update that sets the value. Items and attributes are in DynamoDB's JSON
 * format, which keeps the exact digits of a number.
 */
interface ItemVector {
  config: string;
  item: DynamoDbItem;
  attributes: DynamoDbItem;
}

/** The possible places of an item in a table that is sharded by its own key. The place for writers is first. */
interface KeyVector {
  config: string;
  value: AttributeValue;
  key: DynamoDbItem;
  keys: DynamoDbItem[];
}

/** An item that a writer rejects, with an error that names the field. */
interface Refusal {
  config: object;
  item: DynamoDbItem;
  field: string;
}

const count = (write: number, read = write) => ({ write, read });

const byStatus: ShardedIndexConfig = {
  tableName: 'Orders',
  indexName: 'byStatus',
  tableKey: ['orderId'],
  keyLayout: 'multi-attribute',
  valueAttribute: 'status',
  shardAttribute: 'byStatusShard',
  sortKeyAttributes: ['createdAt'],
  shards: { default: count(5), byValue: { shipped: count(20, 35), '7': count(3), '0.5': count(100), ü: count(1_000) } },
  strategy: 'calculated',
};
const inOneAttribute: ShardedIndexConfig = { ...byStatus, keyLayout: 'single-attribute' };
const ofLines: ShardedIndexConfig = { ...byStatus, tableKey: ['orderId', 'line'], shards: { default: count(200) } };
const wholeTable: ShardedIndexConfig = {
  tableName: 'Orders',
  indexName: 'byTime',
  tableKey: ['orderId'],
  keyLayout: 'multi-attribute',
  shardAttribute: 'byTimeShard',
  sortKeyAttributes: ['createdAt'],
  shards: { default: count(10_000) },
  strategy: 'calculated',
};
const invoices: ShardedTableConfig = {
  tableName: 'Invoices',
  tableKey: ['InvoiceNumber', 'ClientTransactionId'],
  keyLayout: 'single-attribute',
  valueAttribute: 'InvoiceNumber',
  shardAttribute: 'InvoiceNumber',
  sortKeyAttributes: ['ClientTransactionId'],
  shardedBy: ['ClientTransactionId'],
  separator: '-',
  firstShard: 1,
  shards: { default: count(5), byValue: { '121213': count(200) } },
  strategy: 'calculated',
};

const CONFIGS: Record<string, ShardedConfig> = {
  'an index by value': byStatus,
  'an index by value, in one attribute': inOneAttribute,
  'an index of a table with a sort key': ofLines,
  'an index of a table with a sort key, in one attribute': { ...ofLines, keyLayout: 'single-attribute' },
  'an index of the whole table': wholeTable,
  'an index of the whole table, in one attribute': { ...wholeTable, keyLayout: 'single-attribute' },
  'an index whose shards count from 1': { ...byStatus, firstShard: 1 },
  'an index of the whole table whose shards count from 7': { ...wholeTable, firstShard: 7 },
  'an index with keys such as open-1': { ...inOneAttribute, firstShard: 1, separator: '-' },
  'an index with keys such as open.07': { ...inOneAttribute, separator: '.', shardWidth: 2 },
  'an index with keys such as 001::open': {
    ...inOneAttribute,
    firstShard: 1,
    separator: '::',
    shardWidth: 3,
    shardPlacement: 'prefix',
  },
  'an index with a longest write': { ...byStatus, longestWriteSeconds: 900 },
  'a sparse index': { ...byStatus, sparse: true },
  'a sparse index of the whole table, with a tie-breaker': {
    ...wholeTable,
    sortKeyAttributes: ['createdAt', 'priority'],
    sparse: true,
  },
  'an index with one random shard': { ...byStatus, shards: { default: count(1) }, strategy: 'random' },
  'a table': invoices,
  'a table with keys such as 03#121212': {
    ...invoices,
    separator: '#',
    firstShard: 0,
    shardWidth: 2,
    shardPlacement: 'prefix',
  },
  'a table whose value is an attribute of its own': {
    ...invoices,
    tableKey: ['key', 'at'],
    valueAttribute: 'account',
    shardAttribute: 'key',
    sortKeyAttributes: ['at'],
    shardedBy: ['account-2', 'at'],
  },
  'a table whose count changes from 5 to 8': { ...invoices, shards: { default: { write: 8, read: 8, since: 5 } } },
  'a table with one random shard': {
    ...invoices,
    shards: { default: count(1) },
    shardedBy: [],
    strategy: 'random',
  },
};

const S = (text: string) => ({ S: text });
const N = (digits: string) => ({ N: digits });
const B = (...bytes: number[]) => ({ B: Uint8Array.from(bytes) });

/** Key values of each type: texts with separators, texts with unusual characters, the empty text, and numbers that languages print differently. */
const KEYS: AttributeValue[] = [
  ...['a', 'Client1_trans1', 'a#7', 'Zürich', '東京', '😀', ''].map(S),
  ...[
    '0',
    '7',
    '-7',
    '0.5',
    '-3.25',
    '1000000',
    '1000000000000000000000',
    '0.000001',
    '0.00000012',
    '9007199254740993',
  ].map(N),
  B(0),
  B(251, 255, 191),
];

/** Sort keys of each type. */
const SORT_KEYS: AttributeValue[] = [{ S: '2026-11-26' }, { N: '0' }, { B: Uint8Array.from([0]) }];

function ofIndex(config: ShardedIndexConfig): DynamoDbItem[] {
  const [id, range] = config.tableKey as [string, string?];
  const keys = KEYS.map((key, at) => ({
    [id]: key,
    ...(range && { [range]: KEYS[(at + 5) % KEYS.length]! }),
    ...(config.sparse !== true && { createdAt: SORT_KEYS[at % SORT_KEYS.length]! }),
  }));
  if (config.valueAttribute === undefined) return keys;
  const values = [S('shipped'), S('open'), N('7'), S('7'), N('0.5'), S('ü'), N('-12'), S('shipped#1')];
  const items = keys.map((key, at) => ({ ...key, status: values[at % values.length]! }));
  const { createdAt: _, ...withoutBoth } = keys[0] as DynamoDbItem;
  return [...items, keys[0]!, withoutBoth]; // the last two items are not in the index
}

function ofTable(config: ShardedTableConfig): DynamoDbItem[] {
  const attributes = [...new Set([...config.shardedBy, config.tableKey[1]!])];
  return KEYS.slice(0, -2).map((_, at) => ({
    [config.valueAttribute]: [S('121212'), S('121213'), N('121213'), N('0.5'), S('Zürich')][at % 5]!,
    ...Object.fromEntries(attributes.map((name, number) => [name, KEYS[(at + number) % KEYS.length]!])),
  }));
}

const isTable = (config: ShardedConfig): config is ShardedTableConfig => config.indexName === undefined;

function itemVectors(): ItemVector[] {
  return Object.entries(CONFIGS).flatMap(([name, config]) =>
    (isTable(config) ? ofTable(config) : ofIndex(config)).map((item) => ({
      config: name,
      item,
      attributes: attributesInNotation(shardAttributes(config, given(item))),
    })),
  );
}

function updateVectors(): ItemVector[] {
  return ['an index by value', 'an index by value, in one attribute', 'an index of the whole table'].flatMap((config) =>
    [S('open'), N('7'), S('shipped')].map((status, n) => {
      const item = { orderId: KEYS[n]!, status };
      const added = shardAttributesOfUpdate(CONFIGS[config]!, given(item));
      return { config, item, attributes: attributesInNotation(added) };
    }),
  );
}

function keyVectors(): KeyVector[] {
  return Object.entries(CONFIGS).flatMap(([name, config]) => {
    if (!isTable(config) || config.strategy === 'random') return [];
    return ofTable(config).map(({ [config.valueAttribute]: value, ...key }) => ({
      config: name,
      value: value!,
      key,
      keys: shardKeys(config, given({ value: value! }).value as string, given(key)).map(attributesInNotation),
    }));
  });
}

/** An item as the SDK's document client returns it: a number that is not exact in JavaScript is an object. */
export function given(item: DynamoDbItem): Record<string, unknown> {
  const plain = plainItem(item);
  const isHeld = (name: string) => !('N' in item[name]! && typeof plain[name] === 'string');
  return Object.fromEntries(
    Object.entries(plain).map(([name, value]) => [
      name,
      isHeld(name) ? value : { value, toAttributeValue: () => item[name] },
    ]),
  );
}

export function attributesInNotation(attributes: Record<string, unknown>): DynamoDbItem {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, attributeValue(value)]));
}

function attributeValue(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  return value instanceof Uint8Array ? { B: value } : { N: numberText(value)! };
}

const order = { orderId: S('o-1'), status: S('open'), createdAt: S('2026-11-26') };
const { createdAt: _, ...unsorted } = order;
const line = { InvoiceNumber: S('121212'), ClientTransactionId: S('Client1_trans1') };

const REFUSED: Refusal[] = [
  { config: { ...inOneAttribute, shardWidht: 2 }, item: order, field: 'shardWidht' },
  { config: { ...byStatus, shardedBy: ['orderId'] }, item: order, field: 'shardedBy' },
  { config: { ...invoices, since: 3 }, item: line, field: 'since' },
  {
    config: { ...byStatus, shards: { default: count(1), byValues: { open: count(5) } } },
    item: order,
    field: 'byValues',
  },
  { config: { ...byStatus, shards: { default: { ...count(5), frist: 1 } } }, item: order, field: 'frist' },
  {
    config: { ...byStatus, version: 2, adaptive: { tableName: 'Counts', maximum: 64 } },
    item: order,
    field: 'version',
  },
  { config: { ...byStatus, strategy: 'hashed' }, item: order, field: 'strategy' },
  { config: { ...byStatus, keyLayout: 'two-attributes' }, item: order, field: 'keyLayout' },
  { config: { ...inOneAttribute, shardPlacement: 'middle' }, item: order, field: 'shardPlacement' },
  ...['', '7', 'shard1of'].map((separator) => ({
    config: { ...inOneAttribute, separator },
    item: order,
    field: 'separator',
  })),
  ...[-1, 0.5].map((firstShard) => ({ config: { ...inOneAttribute, firstShard }, item: order, field: 'firstShard' })),
  ...[0, 11].map((shardWidth) => ({ config: { ...inOneAttribute, shardWidth }, item: order, field: 'shardWidth' })),
  { config: { ...byStatus, separator: '-' }, item: order, field: 'separator' },
  { config: { ...wholeTable, keyLayout: 'single-attribute', shardWidth: 2 }, item: order, field: 'shardWidth' },
  { config: { ...byStatus, FirstShard: 1 }, item: order, field: 'FirstShard' },
  {
    config: { ...byStatus, shards: { default: count(1), byvalue: { open: count(5) } } },
    item: order,
    field: 'byvalue',
  },
  { config: { ...byStatus, shards: { default: { ...count(5), Write: 7 } } }, item: order, field: 'Write' },
  ...(['separator', 'firstShard'] as const).map((field) => {
    const { [field]: _, ...config } = invoices;
    return { config, item: line, field };
  }),
  ...(['sparse', 'longestWriteSeconds'] as const).map((field) => ({
    config: { ...invoices, [field]: field === 'sparse' ? true : 30 },
    item: line,
    field,
  })),
  { config: { ...byStatus, sparse: 'true' }, item: order, field: 'sparse' },
  ...[0, 0.5, 86_401].map((longestWriteSeconds) => ({
    config: { ...byStatus, longestWriteSeconds },
    item: order,
    field: 'longestWriteSeconds',
  })),
  ...[byStatus, inOneAttribute, { ...byStatus, sparse: false }].map((config) => ({
    config,
    item: unsorted,
    field: 'createdAt',
  })),
  { config: wholeTable, item: { orderId: S('o-1') }, field: 'createdAt' },
  { config: byStatus, item: { ...order, createdAt: S('') }, field: 'createdAt' },
  { config: byStatus, item: { ...order, createdAt: { BOOL: true } }, field: 'createdAt' },
  { config: { ...byStatus, strategy: 'random' }, item: unsorted, field: 'createdAt' },
  { config: { ...byStatus, sortKeyAttributes: ['createdAt', 'line'] }, item: order, field: 'line' },
  { config: byStatus, item: { status: S('open') }, field: 'orderId' },
  { config: byStatus, item: { ...order, orderId: { BOOL: true } }, field: 'orderId' },
  { config: byStatus, item: { ...order, status: S('') }, field: 'status' },
  { config: byStatus, item: { ...order, status: { BOOL: true } }, field: 'status' },
  { config: invoices, item: { ClientTransactionId: S('Client1_trans1') }, field: 'InvoiceNumber' },
  { config: invoices, item: { ...line, InvoiceNumber: S('12-12') }, field: 'InvoiceNumber' },
  { config: invoices, item: { InvoiceNumber: S('121212') }, field: 'ClientTransactionId' },
];

export function shardedItemVectors() {
  return {
    description:
      'What writers do with sharded indexes and with tables that are sharded by their own key. vectors: the attributes that a writer adds to an item (shardAttributes). updates: the attributes that it adds to an update that sets the value, without the sort key of the index (shardAttributesOfUpdate). keys: the keys of all places where an item can stand, the place for writers first (shardKeys). refused: what a writer refuses, with an error that names the field. Items are in the notation of DynamoDB: S is a text, N the digits of a number, B binary in base64.',
    configs: CONFIGS,
    vectors: itemVectors(),
    updates: updateVectors(),
    keys: keyVectors(),
    refused: REFUSED,
  };
}

import { type CqlKeyType, type ShardedKeyspacesConfig, shardColumns } from '../../lib/core/keyspaces';

/** A row with its values as CQL text, and the column that a writer adds. */
interface RowVector {
  config: string;
  row: Record<string, string>;
  columns: Record<string, number>;
}

/** A row that a writer rejects, with an error that names the field or the column. */
interface Refusal {
  config: object;
  row: Record<string, string>;
  field: string;
}

const count = (write: number, read = write) => ({ write, read });

const posts: ShardedKeyspacesConfig = {
  keyspaceName: 'tracker',
  tableName: 'blogs',
  partitionKey: [{ name: 'day', type: 'date' }],
  shardColumn: 'shard',
  firstShard: 1,
  clusteringColumns: [{ name: 'title', type: 'text', order: 'ASC' }],
  columns: ['description'],
  shards: { default: count(200), byValue: { '2020-07-09': count(5, 10) } },
  strategy: 'calculated',
};

/** Values of each type: the limits of the range of the type, and values that languages print differently. */
const VALUES: Record<CqlKeyType, string[]> = {
  ascii: ['', 'a', 'a#b'],
  bigint: ['0', '-7', '9223372036854775807', '-9223372036854775808'],
  blob: ['0x', '0x00', '0xfbffbf'],
  boolean: ['true', 'false'],
  date: ['2020-07-09', '1969-12-31', '0001-01-01', '9999-12-31'],
  decimal: ['0', '1.50', '-0.5', '1E+3', '100', '1E-7', '1E-2000', '1E+2001', '123456789012345678901234567890.125'],
  double: [
    '0',
    '-0.0',
    '0.1',
    '1E21',
    '123456789012345680000',
    '1E-6',
    '1E-7',
    '1.5E300',
    '5E-324',
    '5.684341886080802E-14',
    '2E-3',
    '2E23',
    'NaN',
    'Infinity',
    '-Infinity',
  ],
  float: ['0', '0.1', '1E10', '3.4028235E38', '1.4E-45', '-2.5'],
  int: ['0', '7', '-2147483648', '2147483647'],
  smallint: ['0', '-32768', '32767'],
  text: ['', 'Zürich', '東京', '😀', 'a#7'],
  time: ['00:00:00', '08:30:00.123456', '23:59:59.999999'],
  timestamp: [
    '2020-07-09T08:30:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ],
  timeuuid: ['2c1e8a50-c1b2-11ea-8b6e-0800200c9a66'],
  tinyint: ['0', '-128', '127'],
  uuid: ['ab000000-0000-4000-8000-000000000000', '2c1e8a50-c1b2-11ea-8b6e-0800200c9a66'],
  varchar: ['b'],
  varint: ['0', '-1', '123456789012345678901234567890'],
};

const TYPES = Object.keys(VALUES) as CqlKeyType[];

const ofType = (type: CqlKeyType): ShardedKeyspacesConfig => ({
  ...posts,
  clusteringColumns: [{ name: 'value', type, order: 'DESC' }],
  shards: { default: count(10_000) },
});

const spread: ShardedKeyspacesConfig = {
  ...posts,
  partitionKey: [
    { name: 'tenant', type: 'uuid' },
    { name: 'price', type: 'decimal' },
  ],
  clusteringColumns: [
    { name: 'at', type: 'timestamp', order: 'DESC' },
    { name: 'id', type: 'bigint', order: 'ASC' },
  ],
  calculatedFrom: ['id', 'at'],
  firstShard: 0,
  shards: { default: count(7), byValue: { 'ab000000-0000-4000-8000-000000000000#1.5': count(1_000) } },
};

const CONFIGS: Record<string, ShardedKeyspacesConfig> = {
  blogs: posts,
  'a partition key and a shard of several columns': spread,
  'no column but the shard in the partition key': {
    ...posts,
    partitionKey: [],
    shards: { default: count(200) },
  },
  'one random shard': { ...posts, shards: { default: count(1) }, strategy: 'random' },
  'rows that the product of the code points has placed': {
    ...posts,
    shards: { default: count(200) },
    strategy: 'product',
  },
  ...Object.fromEntries(TYPES.map((type) => [type, ofType(type)])),
};

const tenants = ['ab000000-0000-4000-8000-000000000000', '2c1e8a50-c1b2-11ea-8b6e-0800200c9a66'];

const ROWS: [config: string, row: Record<string, string>][] = [
  ...['2020-07-09', '2020-07-10'].flatMap((day) =>
    ['', 'Partition keys', 'Zürich#1'].map((title): [string, Record<string, string>] => ['blogs', { day, title }]),
  ),
  ...tenants.flatMap((tenant) =>
    ['1.50', '1.5', '2'].map((price): [string, Record<string, string>] => [
      'a partition key and a shard of several columns',
      { tenant, price, at: '2020-07-09T08:30:00.000Z', id: '12345678901' },
    ]),
  ),
  ['no column but the shard in the partition key', { title: 'a' }],
  ['one random shard', { day: '2020-07-09', title: 'a' }],
  ...['', 'Notes', 'Zürich', '東京', '😀'].map((title): [string, Record<string, string>] => [
    'rows that the product of the code points has placed',
    { day: '2020-07-09', title },
  ]),
  ...TYPES.flatMap((type) =>
    VALUES[type].map((value): [string, Record<string, string>] => [type, { day: '2020-07-09', value }]),
  ),
];

const row = { day: '2020-07-09', title: 'a' };

const REFUSED: Refusal[] = [
  { config: { ...posts, firstShrad: 1 }, row, field: 'firstShrad' },
  { config: { ...posts, shards: { default: count(1), byValues: {} } }, row, field: 'byValues' },
  { config: { ...posts, version: 2 }, row, field: 'version' },
  { config: { ...posts, strategy: 'hashed' }, row, field: 'strategy' },
  { config: posts, row: { title: 'a' }, field: 'day' },
  { config: posts, row: { day: '2020-07-09' }, field: 'title' },
  { config: ofType('ascii'), row: { day: '2020-07-09', value: 'é' }, field: 'value' },
  { config: ofType('timeuuid'), row: { day: '2020-07-09', value: tenants[0]! }, field: 'value' },
];

/** A row as the Node.js driver accepts it. */
export function givenRow({ partitionKey, clusteringColumns }: ShardedKeyspacesConfig, written: Record<string, string>) {
  const types = new Map([...partitionKey, ...clusteringColumns].map(({ name, type }) => [name, type]));
  return Object.fromEntries(Object.entries(written).map(([name, text]) => [name, givenValue(types.get(name)!, text)]));
}

function givenValue(type: CqlKeyType, text: string): unknown {
  if (type === 'boolean') return text === 'true';
  if (type === 'float' || type === 'double') return Number(text);
  return type === 'blob' ? Buffer.from(text.slice(2), 'hex') : text;
}

export function shardedRowVectors() {
  return {
    description:
      'What writers do with sharded tables of Amazon Keyspaces. vectors: the column that a writer adds to a row (shardColumns). refused: what a writer refuses, with an error that names the field or the column. Rows have the texts that CQL writes values as; a writer is given what the driver of its language has for the type.',
    configs: CONFIGS,
    vectors: ROWS.map(
      ([name, written]): RowVector => ({
        config: name,
        row: written,
        columns: shardColumns(CONFIGS[name]!, givenRow(CONFIGS[name]!, written)),
      }),
    ),
    refused: REFUSED,
  };
}

import { randomBytes } from 'node:crypto';
import { type Client, types } from 'cassandra-driver';
import { CqlType, ShardCounts } from '../../../lib';
import {
  type CqlClient,
  type CqlKeyType,
  type CqlRow,
  type CqlValue,
  fanOutSelect,
  KEYSPACES_WRITE_OPTIONS,
  type ShardedKeyspacesConfig,
  selectRow,
  shardColumns,
} from '../../../lib/core';
import { CQL_KEY_TYPES, keyTypeOf } from '../../../lib/core/keyspaces/cql-key-type';
import { columnNames } from '../../../lib/core/keyspaces/sharded-keyspaces-config';
import { seededRandom } from '../../../lib/testing/seeded-random';
import {
  MODEL_VALUES,
  type ModelShape,
  type ModelTable,
  modelConfig,
  playSelectCase,
} from '../../support/fakes/fan-out-select-model';
import { randomRuns } from '../../support/random-runs';
import { cassandraForTests } from './cassandra';
import { emitted, tableOf } from './create-table';

const CASES = randomRuns(500);
const MAX_SHARDS = 60;

const cassandra = cassandraForTests('tracker');
let client: Client;
/** A client with the driver options of an application that reads numbers without loss. */
let bigClient: Client;

beforeAll(() => {
  client = cassandra.client;
  bigClient = cassandra.connect({ encoding: { useBigIntAsLong: true, useBigIntAsVarint: true } });
});

async function create(config: ShardedKeyspacesConfig, extraColumns: Record<string, CqlType> = {}): Promise<void> {
  await client.execute(tableOf(config, extraColumns));
}

/**
 * A value that the driver cannot send as a parameter. Callers write the value as text, and statements contain the value
 * as a CQL literal.
 */
class WrittenValue {
  constructor(
    private readonly text: string,
    readonly literal = text,
  ) {}

  toString(): string {
    return this.text;
  }
}

/** The placeholders and the parameters of a row for a statement. */
function written(values: readonly unknown[]): { places: string[]; parameters: unknown[] } {
  const places = values.map((value) => (value instanceof WrittenValue ? value.literal : '?'));
  return { places, parameters: values.filter((value) => !(value instanceof WrittenValue)) };
}

function insertStatement(config: ShardedKeyspacesConfig, places: readonly string[]): string {
  const columns = columnNames(config).map((name) => `"${name}"`);
  return `INSERT INTO "${config.keyspaceName}"."${config.tableName}" (${columns.join(', ')}) VALUES (${places.join(', ')})`;
}

/** The number of parallel inserts. A connection of the driver accepts more. */
const BATCH = 500;

async function insert(config: ShardedKeyspacesConfig, rows: readonly CqlRow[]): Promise<void> {
  const names = columnNames(config);
  const write = (row: CqlRow) => {
    const { places, parameters } = written(names.map((name) => row[name]));
    return client.execute(insertStatement(config, places), parameters, KEYSPACES_WRITE_OPTIONS);
  };
  for (let start = 0; start < rows.length; start += BATCH) {
    await Promise.all(rows.slice(start, start + BATCH).map(write));
  }
}

function modelTable(config: ShardedKeyspacesConfig): ModelTable {
  const { keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns } = config;
  const partition = [...partitionKey.map(({ name }) => name), shardColumn];
  const key = [...partition, ...clusteringColumns.map(({ name }) => name)];
  const table = `"${keyspaceName}"."${tableName}"`;
  return {
    client,
    insert: (rows) => insert(config, rows),
    delete: async (rows) => {
      await Promise.all(
        rows.map((row) => {
          const { places, parameters } = written(key.map((name) => row[name]));
          const where = key.map((name, index) => `"${name}" = ${places[index]}`).join(' AND ');
          return client.execute(`DELETE FROM ${table} WHERE ${where}`, parameters, KEYSPACES_WRITE_OPTIONS);
        }),
      );
    },
    insertStatic: async (keys) => {
      const columns = [...partition, 'note'];
      const statement = `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
      await Promise.all(
        keys.map((row) =>
          client.execute(
            statement,
            columns.map((name) => row[name] ?? 'static'),
            KEYSPACES_WRITE_OPTIONS,
          ),
        ),
      );
    },
  };
}

describe('the types of clustering columns', () => {
  const random = seededRandom(11);
  const below = (count: number): number => Math.floor(random() * count);
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => below(256)));
  const uuid = (version: string): string => {
    const hex = bytes(16).toString('hex');
    const groups = [hex.slice(0, 8), hex.slice(8, 12), version + hex.slice(13, 16), hex.slice(16, 20), hex.slice(20)];
    return groups.join('-');
  };
  const ANY: Record<CqlKeyType, () => unknown> = {
    ascii: () => String.fromCharCode(...Array.from({ length: below(4) }, () => below(128))),
    bigint: () => bytes(8).readBigInt64BE().toString(),
    blob: () => bytes(1 + below(3)),
    boolean: () => random() < 0.5,
    date: () => types.LocalDate.fromString(String(bytes(4).readInt32BE() >> below(20))),
    decimal: () => new types.BigDecimal(below(2_000) - 1_000, [below(9), below(6_000) - 3_000, 400_000_000][below(3)]!),
    double: () => (random() < 0.1 ? 0 : bytes(8).readDoubleBE()),
    float: () => bytes(4).readFloatBE(),
    int: () => bytes(4).readInt32BE(),
    smallint: () => bytes(2).readInt16BE(),
    text: () => String.fromCodePoint(...Array.from({ length: below(4) }, () => 0x20 + below(0xd000))),
    time: () => `${String(below(24)).padStart(2, '0')}:00:00.${String(below(1e9)).padStart(9, '0')}`,
    timestamp: () => new Date(Math.round((random() - 0.5) * 2 * 8.64e15)),
    timeuuid: () => uuid('1'),
    tinyint: () => bytes(1).readInt8(),
    uuid: () => uuid('1245'[below(4)]!),
    varchar: () => String.fromCodePoint(0xe000 + below(0x1000), 0x10000 + below(0x10000)),
    varint: () => (bytes(8).readBigInt64BE() ** 3n).toString(),
  };

  test.each(CQL_KEY_TYPES)(
    '%s – fanOutSelect sorts values as Cassandra does, with every class of the driver',
    async (type) => {
      const config = {
        ...modelConfig({ clustering: [{ type, order: 'ASC' }] }, `type_${type}`),
        columns: [],
      };
      await create(config);
      const values = [...MODEL_VALUES[type], ...Array.from({ length: 200 }, ANY[type])];
      const key = { day: 'd', shard: 1 };
      await insert(
        config,
        values.map((created) => ({ ...key, created })),
      );
      const { compare, rank, textOf } = keyTypeOf(type);
      const ranks = values.map((value) => rank(textOf(value)!));
      const expected = [...new Set(values.map((value) => textOf(value)!))].sort((a, b) => compare(rank(a), rank(b)));
      expect(ranks).toHaveLength(values.length);
      for (const reader of [client, bigClient]) {
        const { rows } = await reader.execute(`SELECT created FROM tracker.type_${type} WHERE day = 'd' AND shard = 1`);
        expect(rows.map(({ created }) => textOf(created))).toEqual(expected);
      }
    },
  );
});

/** Values over the whole range of each type, in the order of Cassandra. */
const WHOLE_VALUES: Record<CqlKeyType, CqlValue[]> = {
  ...MODEL_VALUES,
  ascii: ['', '\0', 'A', 'a', 'a\0', 'ab', 'b', '\x7f', '\x7f\x7f'],
  blob: ['', '00', '0000', '01', '7f', '80', 'ff', 'ffff'].map((hex) => Buffer.from(hex, 'hex')),
  date: [
    // In CQL, a number as a date counts the days from the smallest date.
    new WrittenValue('-2147483648', '0'),
    '-000044-03-15',
    '0000-01-01',
    '1970-01-01',
    '2020-07-09',
    '+012345-06-07',
    new WrittenValue('2147483647', '4294967295'),
  ],
  decimal: [
    new WrittenValue(`-1${'0'.repeat(3_000)}`),
    '-0.1',
    new WrittenValue('-1E-400000000'),
    '0',
    new WrittenValue('1E-400000000'),
    new WrittenValue('1E-2000'),
    '1.5',
    new WrittenValue('5E+2'),
    '12345678901234567890.5',
    new WrittenValue(`1${'0'.repeat(3_000)}`),
  ],
  double: [-Infinity, -Number.MAX_VALUE, -0.5, -0, 0, Number.MIN_VALUE, 0.1, Number.MAX_VALUE, Infinity, Number.NaN],
  float: [-Infinity, -(2 ** 100), -0.5, -0, 0, 2 ** -149, 0.5, 2 ** 100, Infinity, Number.NaN],
  text: ['', '\0', 'a', 'a\0', 'ab', 'b', '\ud7ff', '\ue000', '\uff5e', '\u{10000}', '\u{10ffff}'],
  timestamp: [
    new WrittenValue('-9223372036854775808'),
    new WrittenValue('-8640000000000001'),
    ...[-8.64e15, -1, 0, 1, 1594279800000, 8.64e15].map((ms) => new Date(ms)),
    new WrittenValue('8640000000000001'),
    new WrittenValue('9223372036854775807'),
  ],
  uuid: ['00000000-0000-0000-0000-000000000000', ...MODEL_VALUES.uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  varint: [
    new WrittenValue(`-${'9'.repeat(2_000)}`),
    ...MODEL_VALUES.varint,
    new WrittenValue('9'.repeat(309)),
    new WrittenValue('9'.repeat(2_000)),
  ],
};

/** The clustering columns of the tables. Each type occurs at least once. */
const WHOLE_RANGES: ModelShape['clustering'][] = [
  [
    { type: 'timestamp', order: 'DESC' },
    { type: 'decimal', order: 'ASC' },
  ],
  [
    { type: 'varint', order: 'DESC' },
    { type: 'date', order: 'ASC' },
    { type: 'double', order: 'DESC' },
  ],
  [
    { type: 'float', order: 'ASC' },
    { type: 'ascii', order: 'DESC' },
    { type: 'blob', order: 'ASC' },
  ],
  [
    { type: 'smallint', order: 'DESC' },
    { type: 'text', order: 'ASC' },
    { type: 'timestamp', order: 'ASC' },
  ],
  [
    { type: 'tinyint', order: 'ASC' },
    { type: 'time', order: 'DESC' },
    { type: 'uuid', order: 'ASC' },
  ],
  [
    { type: 'boolean', order: 'ASC' },
    { type: 'bigint', order: 'ASC' },
    { type: 'timeuuid', order: 'DESC' },
  ],
  [
    { type: 'decimal', order: 'DESC' },
    { type: 'varchar', order: 'DESC' },
    { type: 'int', order: 'ASC' },
  ],
];

describe(`${CASES} random cases of fanOutSelect`, () => {
  const SHAPES: ModelShape[] = [
    { clustering: [{ type: 'text', order: 'ASC' }] },
    {
      clustering: [
        { type: 'timestamp', order: 'DESC' },
        { type: 'timeuuid', order: 'ASC' },
      ],
    },
    {
      clustering: [
        { type: 'int', order: 'DESC' },
        { type: 'text', order: 'DESC' },
      ],
      byRegion: true,
    },
    {
      clustering: [
        { type: 'date', order: 'ASC' },
        { type: 'bigint', order: 'DESC' },
        { type: 'uuid', order: 'ASC' },
      ],
    },
    {
      clustering: [
        { type: 'boolean', order: 'DESC' },
        { type: 'decimal', order: 'ASC' },
        { type: 'blob', order: 'DESC' },
      ],
    },
    {
      clustering: [
        { type: 'double', order: 'ASC' },
        { type: 'varint', order: 'ASC' },
        { type: 'time', order: 'DESC' },
      ],
      byRegion: true,
    },
    ...WHOLE_RANGES.map((clustering): ModelShape => ({ clustering, values: WHOLE_VALUES })),
  ];

  test.each(
    SHAPES.map((shape, index) => ({
      shape,
      index,
      name: shape.clustering.map(({ type, order }) => `${type} ${order}`).join(', '),
    })),
  )(
    'return the same rows as an oracle, while rows and shard counts change: sorted by $name',
    async ({ shape, index }) => {
      const config = modelConfig(shape, `model_${index}`);
      await create(config, { headline: CqlType.TEXT, body: CqlType.INT });
      // CloudFormation has no static columns. Cassandra can add a static column to a table with clustering columns.
      await client.execute(`ALTER TABLE tracker.model_${index} ADD note text STATIC`);
      const table = modelTable(config);
      const failures: string[] = [];
      for (let seed = index; seed < CASES; seed += SHAPES.length) {
        const play = playSelectCase(seed, shape, table, config, MAX_SHARDS);
        await play.catch((error: Error) => failures.push(`seed ${seed}: ${error.message}`));
      }
      expect(failures).toEqual([]);
    },
    600_000,
  );
});

describe('examples/keyspaces-blogs on Cassandra', () => {
  const { cql, config } = emitted({
    keyspaceName: 'tracker',
    tableName: 'blogs',
    partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
    regularColumns: [{ name: 'description', cqlType: CqlType.INT }],
    shardCounts: ShardCounts.uniform(200),
    firstShard: 1,
  });
  const titles = Array.from({ length: 3_000 }, (_, number) => `title ${number} ${randomBytes(4).toString('hex')}`);
  const day = { publish_date: '2020-07-09' };

  beforeAll(async () => {
    await client.execute(cql);
    const blogs = titles.map((title, description) => ({ ...day, title, description }));
    await insert(
      config,
      blogs.map((blog) => ({ ...blog, ...shardColumns(config, blog) })),
    );
  }, 60_000);

  test('the table of the example is the table in the guide', () => {
    expect(cql.replace(/\s+/g, ' ')).toBe(
      'CREATE TABLE IF NOT EXISTS tracker.blogs ( publish_date date, shard int, title text, description int, ' +
        'PRIMARY KEY ((publish_date, shard), title) ) WITH CLUSTERING ORDER BY (title ASC);',
    );
  });

  test('selectRow reads a blog with one SELECT', async () => {
    for (const number of [0, 1, 2_999]) {
      const counted = counting(client);
      const row = await selectRow(counted, config, { ...day, title: titles[number]! });
      expect(row).toMatchObject({ title: titles[number], description: number });
      expect(counted.requests).toBe(1);
    }
    expect(await selectRow(client, config, { ...day, title: 'none' })).toBeUndefined();
  });

  test('selectRow finds a blog in the shard of an earlier count', async () => {
    const grown = { ...config, shards: { default: { write: 300, read: 300 } } };
    for (const title of titles.slice(0, 50)) {
      const row = await selectRow(client, grown, { ...day, title }, { formerShardCounts: [200] });
      expect(row).toMatchObject({ title });
    }
  });

  test('the blogs use the shards 1 to 200, and fanOutSelect returns the blogs in the order of their titles', async () => {
    const { rows, stats, cursor } = await fanOutSelect(client, config, { value: day });
    expect(rows.map(({ title }) => title)).toEqual([...titles].sort());
    expect(new Set(rows.map(({ shard }) => shard))).toEqual(
      new Set(Array.from({ length: 200 }, (_, index) => index + 1)),
    );
    expect(cursor).toBeUndefined();
    expect(stats).toMatchObject({ shards: 200, requests: 200, waves: 1, rowsRead: 3_000 });
  });
});

function counting(of: Client): CqlClient & { requests: number } {
  const counted = {
    requests: 0,
    execute(query: string, parameters: unknown[], options: object): Promise<types.ResultSet> {
      counted.requests += 1;
      return of.execute(query, parameters, options);
    },
  };
  return counted;
}

import { createHash } from 'node:crypto';
import { types } from 'cassandra-driver';
import published from '../../../../docs/calculated-shard-vectors.json';
import {
  type CqlKeyType,
  InvalidColumnValueError,
  productOfCodePoints,
  type ShardedKeyspacesConfig,
  shardColumns,
} from '../../../../lib/core';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const config = keyspacesConfig({
  partitionKey: [{ name: 'publish_date', type: 'date' }],
  clusteringColumns: [
    { name: 'title', type: 'text', order: 'ASC' },
    { name: 'version', type: 'bigint', order: 'DESC' },
  ],
  columns: ['description'],
  shards: { default: { write: 200, read: 200 }, byValue: { '2020-07-09': { write: 5, read: 10 } } },
  calculatedFrom: ['title'],
});
const publish_date = '2020-07-10';

describe('shardColumns', () => {
  const cases = published.vectors.flatMap(({ id, shards }) =>
    Object.entries(shards).map(([count, shard]) => [id, Number(count), shard] as const),
  );
  test.each(cases)('returns the shard of the published test vector for %j over %d shards', (title, count, shard) => {
    const counted = { ...config, shards: { default: { write: count, read: count } } };
    expect(shardColumns(counted, { publish_date, title, version: 1 })).toEqual({ shard: 1 + shard });
  });

  test.each<[CqlKeyType, string, unknown]>([
    ['uuid', 'AB000000-0000-4000-8000-000000000000', 'ab000000-0000-4000-8000-000000000000'],
    ['timestamp', '2020-07-09T08:30:00Z', new Date('2020-07-09T08:30:00.000Z')],
    ['decimal', '1.50', 1.5],
    ['time', '08:30:00', '08:30:00.000'],
    ['double', '1.0', 1],
    ['int', '07', 7],
    ['boolean', 'True', true],
    ['date', '2020-7-9', new Date('2020-07-09')],
  ])('finds the count of the %s that the configuration writes as %s', (type, written, publish_date) => {
    const counted: ShardedKeyspacesConfig = {
      ...config,
      partitionKey: [{ name: 'publish_date', type }],
      shards: { default: { write: 1, read: 1 }, byValue: { [written]: { write: 50, read: 50 } } },
    };
    const shards = Array.from({ length: 300 }, (_, n) => shardColumns(counted, { publish_date, title: `t${n}` }).shard);
    expect(new Set(shards).size).toBeGreaterThan(40);
  });

  test.each<[CqlKeyType[], string, unknown[]]>([
    [['text', 'int'], 'a#b#07', ['a#b', 7]],
    [['int', 'text', 'int'], '07#a##b#8', [7, 'a##b', 8]],
    [['int', 'text'], '7#a', [7, 'a']],
  ])(
    'a partition key of the types %j – the count of the text %s in byValue applies to the values %j',
    (types, written, values) => {
      const partitionKey = types.map((type, index) => ({ name: `part${index}`, type }));
      const byValue = { [written]: { write: 1, read: 1 } };
      const counted: ShardedKeyspacesConfig = { ...config, partitionKey, shards: { ...config.shards, byValue } };
      const row = Object.fromEntries(values.map((value, index) => [`part${index}`, value]));
      const titles = ['a', 'b', 'c', 'd'];
      expect(titles.map((title) => shardColumns(counted, { ...row, title }).shard)).toEqual([1, 1, 1, 1]);
    },
  );

  test('accepts a table whose partition key is only the shard column, and rejects counts by value for this table', () => {
    const alone: ShardedKeyspacesConfig = { ...config, partitionKey: [], shards: { default: config.shards.default } };
    expect(shardColumns(alone, { title: 'a' })).toEqual(shardColumns(config, { publish_date, title: 'a' }));
    const counted = { ...alone, shards: { ...alone.shards, byValue: { '': { write: 2, read: 2 } } } };
    expect(() => shardColumns(counted, { title: 'a' })).toThrow(
      'config.shards.byValue must be absent because the shard column is the whole partition key',
    );
  });

  test('rejects counts by value whose text has fewer values than the partition key has columns', () => {
    const partitionKey = ['a', 'b'].map((name) => ({ name, type: 'text' as const }));
    const wrong = { ...config, partitionKey, shards: { ...config.shards, byValue: { x: { write: 2, read: 2 } } } };
    expect(() => shardColumns(wrong, { a: '', b: 'x', title: 'a' })).toThrow(
      'config.shards.byValue must be keyed by values of a (text), "#", b (text), got "x"',
    );
  });

  test.each([
    ['a value that is invalid for its column', { '2020-02-30': { write: 2, read: 2 } }, '2020-02-30'],
    ['the same value twice', { '2020-07-09': { write: 2, read: 2 }, '2020-7-9': { write: 3, read: 3 } }, '2020-7-9'],
  ])('rejects counts for %s', (_, byValue, value) => {
    const wrong = { ...config, shards: { ...config.shards, byValue } };
    expect(() => shardColumns(wrong, { publish_date, title: 'a', version: 1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_TABLE_CONFIG', field: 'config.shards.byValue', value }),
    );
  });

  test('draws the shard from the shard count that writers use for the value of the row', () => {
    const shards = new Set(
      Array.from(
        { length: 200 },
        (_, number) => shardColumns(config, { publish_date: '2020-07-09', title: `t${number}` }).shard,
      ),
    );
    expect([...shards].sort()).toEqual([1, 2, 3, 4, 5]);
  });

  test('returns the same shard for a value in any notation and in any class of the driver', () => {
    const byVersion: ShardedKeyspacesConfig = { ...config, calculatedFrom: ['version', 'title'] };
    const versions = [12345678901234567890n % 2n ** 62n, 10n].map((version) => [
      version,
      String(version),
      `+${version}`,
      types.Long.fromString(String(version)),
    ]);
    for (const notations of versions) {
      const shards = notations.map((version) => shardColumns(byVersion, { publish_date, title: 'a', version }).shard);
      expect(new Set(shards).size).toBe(1);
    }
    const days = ['2020-07-09', new Date('2020-07-09T23:59:00Z'), types.LocalDate.fromString('2020-07-09')];
    for (const day of days)
      expect(shardColumns(config, { publish_date: day, title: 'a' }).shard).toBeLessThanOrEqual(5);
  });

  test('returns a random shard if the strategy is "random"', () => {
    const random: ShardedKeyspacesConfig = { ...config, strategy: 'random', calculatedFrom: undefined };
    const drawn = Array.from({ length: 2_000 }, () => shardColumns(random, { publish_date }).shard!);
    expect(Math.min(...drawn)).toBe(1);
    expect(Math.max(...drawn)).toBe(200);
  });

  test('returns the shard of the product of the code points of the given columns if the strategy is "product"', () => {
    const product: ShardedKeyspacesConfig = { ...config, strategy: 'product' };
    const row = { publish_date, title: 'Notes', version: 7 };
    expect(shardColumns(product, row)).toEqual({ shard: shardOfTheDocument('Notes') });
    expect(shardColumns({ ...product, calculatedFrom: undefined }, row).shard).toBe(shardOfTheDocument('Notes#7'));
  });

  test.each<[object, string]>([
    [{ title: 'a' }, 'row.publish_date must be set (it is part of the partition key), got undefined'],
    [{ publish_date }, 'row.title must be set (the shard is calculated from it), got undefined'],
    [{ publish_date, title: 7 }, 'row.title must be text without half a surrogate pair (text), got 7'],
    [{ publish_date, title: '\ud800' }, 'row.title must be text without half a surrogate pair'],
  ])('rejects %j', (row, message) => {
    expect(() => shardColumns(config, row)).toThrow(InvalidColumnValueError);
    expect(() => shardColumns(config, row)).toThrow(message);
  });
});

test.each<[object, string, unknown]>([
  [{ version: 0 }, 'config.version', 0],
  [{ name: 'blogs' }, 'config.name', 'name'],
  [{ keyspaceName: '' }, 'config.keyspaceName', ''],
  [{ tableName: undefined }, 'config.tableName', undefined],
  [{ columns: ['x'.repeat(49)] }, 'config.columns', 'x'.repeat(49)],
  [{ columns: ['title'] }, 'config.columns', 'title'],
  [{ clusteringColumns: [{ name: 'title', type: 'text', order: 'UP' }] }, 'config.clusteringColumns.title.order', 'UP'],
  [{ clusteringColumns: [] }, 'config.strategy', 'calculated'],
  [{ partitionKey: [{ name: 'a-b', type: 'text' }] }, 'config.partitionKey.name', 'a-b'],
  [{ partitionKey: [{ name: 'a', type: 'json' }] }, 'config.partitionKey.a.type', 'json'],
  [{ firstShard: 2 ** 31 - 10_000 }, 'config.firstShard', 2 ** 31 - 10_000],
  [{ strategy: 'even' }, 'config.strategy', 'even'],
  [{ calculatedFrom: ['title', 'title'] }, 'config.calculatedFrom', ['title', 'title']],
  [{ strategy: 'random' }, 'config.calculatedFrom', ['title']],
  [{ shards: { default: { write: 2, read: 1 } } }, 'config.shards.default.read', 1],
  [{ shards: { default: { write: 2, read: 2, since: 5 } } }, 'config.shards.default.since', 5],
  [{ shards: { default: { write: 2, read: 2 }, byTitle: {} } }, 'config.shards', 'byTitle'],
])('shardColumns rejects a configuration with %j and names the field', (changes, field, value) => {
  const shardOf = () => shardColumns({ ...config, ...changes } as ShardedKeyspacesConfig, { publish_date, title: 'a' });
  expect(shardOf).toThrow(expect.objectContaining({ code: 'INVALID_TABLE_CONFIG', field, value }));
});

test.each<[unknown, string]>([
  [{ default: { read: 2 } }, 'config.shards.default.write must be a whole number from 1 to 10000, got undefined'],
])('shardColumns rejects a configuration with the shard counts %j and names the count', (shards, message) => {
  const shardOf = () => shardColumns({ ...config, shards } as never, { publish_date, title: 'a' });
  expect(shardOf).toThrow(message);
});

test.each([null, 5])('shardColumns rejects %j as a configuration', (none) => {
  const shardOf = () => shardColumns(none as never, { publish_date, title: 'a' });
  expect(shardOf).toThrow(expect.objectContaining({ code: 'INVALID_TABLE_CONFIG', field: 'config', value: none }));
});

test('the number of the last shard may be the largest int', () => {
  const highest = { ...config, firstShard: 2 ** 31 - 1 - 10_000 };
  expect(shardColumns(highest, { publish_date, title: 'a' }).shard).toBeGreaterThan(2 ** 31 - 1 - 10_000);
});

/** The shard by the AWS documentation: the product of the code points of a title, modulo 200, plus 1. */
const shardOfTheDocument = (title: string): number => 1 + productOfCodePoints(title, 200);

test.each(['Notes', 'é', 'a😀b', ''])(
  'productOfCodePoints returns the exact product for a text of any length: %s',
  (title) => {
    const product = [...title].reduce((all, character) => all * BigInt(character.codePointAt(0)!), 1n);
    expect(productOfCodePoints(title, 200)).toBe(Number(product % 200n));
  },
);

test.each<[unknown, unknown, string]>([
  ['Notes', 0, 'shardCount must be a whole number from 1 to 10000, got 0'],
  [7, 200, 'text must be a string, got 7'],
])('productOfCodePoints rejects %j over %j shards', (text, count, message) => {
  expect(() => productOfCodePoints(text as string, count as number)).toThrow(message);
});

describe('100,000 rows of a day over 200 shards', () => {
  const COUNT = 100_000;
  const SHARDS = 200;
  const SETS: [string, (number: number) => string][] = [
    [
      'UUIDs',
      (number) => {
        const hex = createHash('md5').update(String(number)).digest('hex');
        return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
      },
    ],
    ['titles', (number) => `Notes on partition keys, part ${number}`],
  ];

  /** The chi-squared statistic of the rows in the shards. It is about 199 ± 20 if the rows are evenly distributed. */
  function spread(shardOf: (title: string) => number, titleOf: (number: number) => string) {
    const held = new Map<number, number>();
    for (let number = 0; number < COUNT; number++) {
      const shard = shardOf(titleOf(number));
      held.set(shard, (held.get(shard) ?? 0) + 1);
    }
    const mean = COUNT / SHARDS;
    const empty = (SHARDS - held.size) * mean;
    const chiSquare = [...held.values()].reduce((sum, count) => sum + (count - mean) ** 2 / mean, empty);
    return { used: held.size, chiSquare };
  }

  test.each(SETS)(
    'for %s, the product of the code points fills only a few shards, but shardColumns fills all shards evenly',
    (name, titleOf) => {
      const product = spread(shardOfTheDocument, titleOf);
      const counted = { ...config, shards: { default: { write: SHARDS, read: SHARDS } } };
      const calculated = spread((title) => shardColumns(counted, { publish_date, title }).shard!, titleOf);
      expect(calculated.used).toBe(SHARDS);
      // If the rows are evenly distributed, the statistic exceeds 295 with a probability below 1 in 100,000.
      expect(calculated.chiSquare).toBeLessThan(295);
      expect(product.chiSquare).toBeGreaterThan(100 * calculated.chiSquare);
      if (name === 'UUIDs') expect(product).toEqual({ used: 1, chiSquare: COUNT * (SHARDS - 1) });
    },
  );
});

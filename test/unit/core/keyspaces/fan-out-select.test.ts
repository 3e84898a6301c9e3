import { types } from 'cassandra-driver';
import {
  type FanOutSelectRequest,
  fanOutRows,
  fanOutSelect,
  fanOutSelectCount,
  InvalidCursorError,
  KEYSPACES_WRITE_OPTIONS,
  productOfCodePoints,
  type ShardedKeyspacesConfig,
  selectRow,
  shardColumns,
} from '../../../../lib/core';
import { cqlFailure } from '../../../../lib/core/keyspaces/cql-failure';
import { allPages } from '../../../support/all-pages';
import { FakeCassandra } from '../../../support/fakes/fake-cassandra';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const SHARDS = 4;
const config = keyspacesConfig({
  tableName: 'events',
  partitionKey: [{ name: 'day', type: 'date' }],
  firstShard: 0,
  clusteringColumns: [
    { name: 'minute', type: 'int', order: 'DESC' },
    { name: 'id', type: 'int', order: 'ASC' },
  ],
  shards: { default: { write: SHARDS, read: SHARDS } },
});
const day = '2020-07-09';

/** A table with the events 0 to 39. Event n is in shard n modulo 4, and in minute n. */
function events(): FakeCassandra {
  const table = FakeCassandra.of(config);
  for (let id = 0; id < 40; id++) {
    table.insert({ day, shard: id % SHARDS, minute: id, id, body: `event ${id}` });
  }
  return table;
}

describe('the statements of fanOutSelect', () => {
  test('are prepared and idempotent, use LOCAL_ONE, and request only as many rows as a page probably needs', async () => {
    const table = events();
    await fanOutSelect(table, config, { value: { day }, limit: 4 });
    expect(table.sent).toHaveLength(SHARDS);
    expect(table.sent[1]).toEqual({
      query: 'SELECT "day", "shard", "minute", "id", "body" FROM "tracker"."events" WHERE "day" = ? AND "shard" = ?',
      parameters: [day, 1],
      options: { prepare: true, consistency: 10, isIdempotent: true, fetchSize: 2 },
    });
  });

  test('use LOCAL_QUORUM if the request contains this consistency level', async () => {
    const table = events();
    await fanOutSelect(table, config, { value: { day }, consistency: 'LOCAL_QUORUM' });
    expect(table.sent.every(({ options }) => options.consistency === 6)).toBe(true);
  });

  test.each([1, 8])(
    'are at most two for each shard and page if no two rows have the same first clustering column: pages of %d rows',
    async (limit) => {
      const table = events();
      const pages = await allPages(async (cursor) => {
        const page = await fanOutSelect(table, config, { value: { day }, limit, cursor });
        return { ...page, queries: table.sent.splice(0).map(({ query }) => query) };
      });
      expect(pages.flatMap(({ rows }) => rows.map(({ id }) => id))).toEqual([...Array(40).keys()].reverse());
      for (const { queries } of pages.slice(2, -1)) {
        expect(queries.length).toBeLessThanOrEqual(2 * SHARDS);
        for (const query of queries) expect(query).toMatch(/ AND "minute" <=? \?/);
      }
    },
  );
});

describe('a cursor', () => {
  test.each<[string, Partial<FanOutSelectRequest>]>([
    ['another value', { value: { day: '2020-07-10' } }],
    ['another order', { order: 'ascending' }],
    ['other conditions', { where: { minute: { lt: 30 } } }],
  ])('is rejected by a query with %s', async (_, other) => {
    const table = events();
    const { cursor } = await fanOutSelect(table, config, { value: { day }, limit: 5 });
    const sent = table.sent.length;
    await expect(fanOutSelect(table, config, { value: { day }, limit: 5, cursor, ...other })).rejects.toThrow(
      InvalidCursorError,
    );
    expect(table.sent).toHaveLength(sent);
    const altered = `${cursor!.slice(0, -2)}AA`;
    await expect(fanOutSelect(table, config, { value: { day }, cursor: altered })).rejects.toThrow(InvalidCursorError);
  });
});

test.each([undefined, 'unordered'] as const)(
  'rows of a shard in a wrong order throw an error, because a page could lack rows: order %s',
  async (order) => {
    const execute = async (_: string, [, shard]: unknown[]) => ({
      rows: shard === 0 ? [1, 2].map((number) => ({ shard, minute: number, id: number })) : [],
    });
    const page = fanOutSelect({ execute }, config, { value: { day }, order });
    await expect(page).rejects.toMatchObject({ code: 'WRONG_ORDER' });
  },
);

test('a shard with only static columns has no rows', async () => {
  const table = events();
  table.insertStatic({ day: '2020-07-10', shard: 0 });
  expect((await fanOutSelect(table, config, { value: { day: '2020-07-10' } })).rows).toEqual([]);
});

describe('fanOutSelect with several values', () => {
  const days = ['2020-07-09', '2020-07-10', '2020-07-11'];
  const values = days.map((each) => ({ day: each }));
  /** The days have 4, 2 and 1 shards. Each minute has one row of each day. */
  const counted: ShardedKeyspacesConfig = {
    ...config,
    firstShard: 1,
    shards: { ...config.shards, byValue: { [days[1]!]: { write: 2, read: 2 }, [days[2]!]: { write: 1, read: 1 } } },
  };
  const table = () => {
    const filled = FakeCassandra.of(counted);
    for (let minute = 0; minute < 12; minute++)
      for (const [index, count] of [4, 2, 1].entries())
        filled.insert({ day: days[index], shard: 1 + (minute % count), minute, id: 0, body: `${minute} of ${index}` });
    return filled;
  };

  test.each(['descending', 'ascending'] as const)(
    'returns the rows of all values in one order, and rows with equal keys in the order of the values: %s',
    async (order) => {
      const pages = await allPages((cursor) => fanOutSelect(table(), counted, { values, limit: 4, cursor, order }));
      expect(new Set(pages.map(({ stats }) => stats.shards))).toEqual(new Set([7]));
      const bodies = pages.flatMap(({ rows }) => rows.map(({ body }) => body));
      const descending = Array.from({ length: 36 }, (_, n) => `${11 - Math.floor(n / 3)} of ${n % 3}`);
      expect(bodies).toEqual(order === 'descending' ? descending : descending.reverse());
    },
  );

  test('adds 10,000 to the number of a missing shard of the second value', async () => {
    const filled = table();
    const execute: FakeCassandra['execute'] = (query, parameters, options) =>
      parameters[0] === days[1] && parameters[1] === 2
        ? Promise.reject(Object.assign(new Error('throttled'), { code: 0x1200 }))
        : filled.execute(query, parameters, options);
    const options = { attempts: 1, onShardFailure: 'partial' } as const;
    const page = await fanOutSelect({ execute }, counted, { values }, options);
    expect(page.missingShards).toEqual([10_002]);
    expect(page.rows).toHaveLength(30);
  });

  test.each<[object, string]>([
    [{ values: Array.from({ length: 101 }, () => ({ day })) }, 'values must be an array of 1 to 100 different values'],
    [{ values: [{ day }, { day: new Date(day) }] }, 'values[1] must be different from the other values'],
    [
      { values: [{ day, shard: 1 }] },
      'values[0] must be made of the columns of the partition key except the shard: day',
    ],
    [{ values: [day] }, 'values[0] must be an object with the columns day, got "2020-07-09"'],
  ])('rejects %j before it sends a request', async (request, message) => {
    const client = table();
    await expect(fanOutSelect(client, counted, request)).rejects.toThrow(message);
    expect(client.sent).toHaveLength(0);
  });
});

describe('selectRow', () => {
  const key = { day, minute: 3, id: 3 };

  test('sends one SELECT to the shard of the row', async () => {
    const table = events();
    await selectRow(table, config, key, { projection: ['body'], consistency: 'LOCAL_QUORUM' });
    expect(table.sent).toHaveLength(1);
    expect(table.sent[0]).toMatchObject({
      query: 'SELECT "body" FROM "tracker"."events" WHERE "day" = ? AND "shard" = ? AND "minute" = ? AND "id" = ?',
      options: { prepare: true, consistency: 6, isIdempotent: true },
    });
  });

  test('rejects a table with random shards, because the shard of a row is not known', async () => {
    const random: ShardedKeyspacesConfig = { ...config, strategy: 'random' };
    await expect(selectRow(events(), random, key)).rejects.toThrow(
      'use fanOutSelect with eq on every clustering column',
    );
  });

  test('also reads the product shard, after the calculated shard, if the options contain productShardCounts', async () => {
    const shards: unknown[] = [];
    const placed = config.firstShard + productOfCodePoints('3#3', 200);
    const execute: FakeCassandra['execute'] = async (_query, parameters) => {
      shards.push(parameters[1]);
      return { rows: parameters[1] === placed ? [key] : [] };
    };
    const of = shardColumns(config, key).shard;
    expect(await selectRow({ execute }, config, key, { productShardCounts: [200] })).toEqual(key);
    expect(shards).toEqual([of, placed]);
    shards.length = 0;
    expect(await selectRow({ execute }, config, key)).toBeUndefined();
    expect(shards).toEqual([of]);
  });

  test('sends one SELECT to the product shard if the strategy is "product"', async () => {
    const table = events();
    await selectRow(table, { ...config, strategy: 'product' }, key);
    const shard = config.firstShard + productOfCodePoints('3#3', SHARDS);
    expect(table.sent.map(({ parameters }) => parameters[1])).toEqual([shard]);
  });

  test('finds a row on the second page if the first page is empty', async () => {
    const execute: FakeCassandra['execute'] = async (_query, _parameters, { pageState }) =>
      pageState === undefined ? { rows: [], pageState: 'on' } : { rows: [key] };
    expect(await selectRow({ execute }, config, key)).toEqual(key);
  });

  test.each<[unknown, string]>([
    [{ projection: ['nope'] }, 'projection must be made of day, shard, minute, id, body, got "nope"'],
    [{ formerShardCounts: 5 }, 'formerShardCounts must be an array of shard counts, got 5'],
    [{ productShardCounts: [0] }, 'productShardCounts must be a whole number from 1 to 10000, got 0'],
  ])('rejects the options %j', async (options, message) => {
    const table = events();
    await expect(selectRow(table, config, key, options as never)).rejects.toThrow(message);
    expect(table.sent).toHaveLength(0);
  });

  test.each<[object, string]>([
    [{ day, minute: 3 }, 'key.id must be set'],
    [null as never, 'key must be an object, got null'],
    [{ ...key, id: 2 ** 31 }, 'key.id must be a whole number from -2147483648 to 2147483647 (int), got 2147483648'],
  ])('rejects the key %j', async (invalid, message) => {
    const table = events();
    await expect(selectRow(table, config, invalid)).rejects.toThrow(message);
    expect(table.sent).toHaveLength(0);
  });
});

test.each<[Partial<FanOutSelectRequest>, code: string, message: string]>([
  [{ where: 5 as never }, 'INVALID_ARGUMENT', 'where must be an object from clustering column to condition, got 5'],
  [{ value: {} }, 'INVALID_COLUMN_VALUE', 'value.day must be set (it is part of the partition key)'],
  [
    { value: { day, shard: 1 } },
    'UNKNOWN_COLUMN',
    'value must be made of the columns of the partition key except the shard: day, got "shard"',
  ],
  [{ value: { day: 7 } }, 'INVALID_COLUMN_VALUE', 'value.day must be a date such as "2020-07-09"'],
  [
    { where: { body: { eq: 'x' } } },
    'UNKNOWN_COLUMN',
    'where must be made of clustering columns: minute, id (other columns are not sorted)',
  ],
  [
    { where: { minute: { between: [1, 2, 3] as never } } },
    'INVALID_CLUSTERING_CONDITION',
    'where.minute.between must be an array of the lower and the upper bound',
  ],
  ...[{ gt: 5, lt: 1 }, { between: [5, 1] as [number, number] }].map(
    (minute): [Partial<FanOutSelectRequest>, string, string] => [
      { where: { minute } },
      'INVALID_CLUSTERING_CONDITION',
      'a lower bound that is at most the upper bound',
    ],
  ),
  [{ where: { minute: { beginsWith: '1' } } }, 'INVALID_CLUSTERING_CONDITION', 'text, varchar: minute is int'],
  [
    { where: { minute: 'eq' as never } },
    'INVALID_CLUSTERING_CONDITION',
    'where.minute must be eq, between, beginsWith',
  ],
  [{ projection: ['nope'] }, 'UNKNOWN_COLUMN', 'projection must be made of day, shard, minute, id, body, got "nope"'],
  [{ projection: [] }, 'INVALID_ARGUMENT', 'projection must be a non-empty array'],
  [{ order: 'newest' as never }, 'INVALID_ARGUMENT', 'order must be one of ascending, descending, unordered'],
  [
    { consistency: { toString: 'x', valueOf: 1 } as never },
    'INVALID_ARGUMENT',
    'consistency must be one of LOCAL_QUORUM, LOCAL_ONE',
  ],
  [{ filter: 'x' } as never, 'INVALID_ARGUMENT', 'request must be made of value, values, where'],
  [{ cursor: 'x' }, 'INVALID_CURSOR', 'cursor must be the unaltered cursor'],
])('fanOutSelect rejects %j before it sends a request', async (invalid, code, message) => {
  const table = events();
  const page = fanOutSelect(table, config, { value: { day }, ...invalid });
  await expect(page).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  expect(table.sent).toHaveLength(0);
});

describe('a failed read', () => {
  const named = (name: string, more: object = {}) => Object.assign(new Error(name), { name, ...more });
  test.each<[string, unknown]>([
    ['throttled', named('ResponseError', { code: 0x1200 })],
    ['throttled', named('NoHostAvailableError', { innerErrors: { a: named('ResponseError', { code: 0x1200 }) } })],
    ['transient', named('OperationTimedOutError')],
    ['transient', new Error('No connection available')],
    ['transient', named('NoHostAvailableError', { innerErrors: { a: new Error('No connection available') } })],
    ['transient', named('Error', { code: 'ECONNRESET' })],
    ...[0x0000, 0x1000, 0x1002, 0x1300, 0x1500, 0x1700].map(
      (code) => ['transient', named('ResponseError', { code })] as [string, unknown],
    ),
    ['transient', named('Error', { isSocketError: true })],
    ['transient', named('NoHostAvailableError')],
    ['final', named('ResponseError', { code: 0x2100 })],
    ['final', named('NoHostAvailableError', { innerErrors: { a: named('AuthenticationError') } })],
    ['final', new TypeError('x')],
  ])('is classified as %s: %p', (failure, error) => {
    expect(cqlFailure(error)).toBe(failure);
  });

  test('is not sent again if a value has another type than its column, and throws an error that describes the row', async () => {
    let requests = 0;
    const execute = async () => {
      requests += 1;
      return { rows: [{ shard: 0, minute: 1, id: 'one' }] } as never;
    };
    await expect(fanOutSelect({ execute }, config, { value: { day } })).rejects.toMatchObject({
      code: 'UNREADABLE_ROW',
      message: expect.stringMatching(
        /a row of shard \d+ of \w+\.\w+ has a value in column id that is not a valid \w+$/,
      ),
    });
    expect(requests).toBeLessThanOrEqual(SHARDS);
  });

  test.each<[string, string, () => object]>([
    [
      'the driver has no connection',
      'NO_CONNECTION',
      () => {
        throw new Error('No connection available');
      },
    ],
    ['a row lacks a clustering column', 'INCOMPLETE_ANSWER', () => ({ rows: [{ shard: 0, minute: 1 }] })],
    ['a clustering column is null', 'INCOMPLETE_ANSWER', () => ({ rows: [{ shard: 0, minute: 1, id: null }] })],
  ])('is sent again while %s, and throws %s after the last attempt', async (_, code, respond) => {
    let requests = 0;
    const execute = async () => {
      requests += 1;
      return respond() as never;
    };
    const options = { attempts: 2, backoffBaseMs: 1, backoffCapMs: 1 };
    const page = fanOutSelect({ execute }, config, { value: { day } }, options);
    await expect(page).rejects.toMatchObject({ code });
    expect(requests).toBeGreaterThan(SHARDS);
  });
});

test('maxPageBytes counts one byte for each digit of a bigint', async () => {
  const table = events();
  for (let id = 0; id < 40; id++) table.insert({ day, shard: id % SHARDS, minute: id, id, body: [10n, 2n ** 64n] });
  const bytes = Buffer.byteLength(
    JSON.stringify({ day, shard: 3, minute: 39, id: 39, body: ['10', String(2n ** 64n)] }),
  );
  const sized = async (maxPageBytes: number) =>
    (await fanOutSelect(table, config, { value: { day } }, { maxPageBytes })).rows.length;
  expect([await sized(2 * bytes), await sized(2 * bytes - 1)]).toEqual([2, 1]);
});

test('KEYSPACES_WRITE_OPTIONS make a statement prepared and idempotent, with LOCAL_QUORUM', () => {
  expect(KEYSPACES_WRITE_OPTIONS).toEqual({ prepare: true, consistency: 6, isIdempotent: true });
});

describe('a timestamp in a key, outside the range of Date', () => {
  const timed: ShardedKeyspacesConfig = {
    ...config,
    shards: { default: { write: 1, read: 1 } },
    clusteringColumns: [
      { name: 'created', type: 'timestamp', order: 'ASC' },
      { name: 'day', type: 'date', order: 'ASC' },
    ],
    partitionKey: [],
  };
  const queriesOf = async (created: Date) => {
    const queries: string[] = [];
    const execute = async (query: string) => {
      queries.push(query);
      const more = query.includes(' AS "created in milliseconds"') && { 'created in milliseconds': '9000000000000000' };
      return { rows: [{ created, day: types.LocalDate.fromString(day), ...more }] };
    };
    const { rows } = await fanOutSelect({ execute }, timed, { value: {} });
    expect(rows).toHaveLength(1);
    return queries;
  };

  test('adds one request to each page that contains such a timestamp', async () => {
    expect(await queriesOf(new Date(0))).toHaveLength(1);
    expect(await queriesOf(new Date(Number.NaN))).toEqual([
      expect.stringMatching(/^SELECT "shard"/),
      expect.stringMatching(/^SELECT toUnixTimestamp\("created"\) AS "created in milliseconds", "shard"/),
    ]);
  });
});

describe('invalid options and clients', () => {
  test.each([undefined, {}])('fanOutSelect and selectRow reject the client %j', async (client) => {
    const message = 'client must be a client with execute, such as the Client of cassandra-driver';
    await expect(fanOutSelect(client as never, config, { value: { day } })).rejects.toThrow(message);
    await expect(selectRow(client as never, config, { day, minute: 3, id: 3 })).rejects.toThrow(message);
  });
});

describe('beginsWith', () => {
  const titles: ShardedKeyspacesConfig = {
    ...config,
    clusteringColumns: [{ name: 'title', type: 'text', order: 'ASC' }],
  };

  test.each([
    ['text', 'ab', 'ac'],
    ['text', 'a\u{10ffff}\u{10ffff}', 'b'],
    ['text', 'a\ud7ff', 'a\ue000'],
    ['text', 'a\x7f', 'a\x80'],
    ['ascii', 'a\x7f', 'b'],
    ['text', '\u{10ffff}', undefined],
  ] as const)('on a column of type %s, the rows with the prefix %j end before %j', async (type, prefix, end) => {
    const sent: unknown[][] = [];
    const execute = async (query: string, parameters: unknown[]) => {
      sent.push([query.split('"shard" = ? AND ')[1], ...parameters.slice(2)]);
      return { rows: [] };
    };
    const typed: ShardedKeyspacesConfig = { ...titles, clusteringColumns: [{ name: 'title', type, order: 'ASC' }] };
    const where = { title: { beginsWith: prefix } };
    await fanOutSelect({ execute }, typed, { value: { day }, where, order: 'ascending' });
    expect(sent[0]).toEqual(
      end === undefined ? ['"title" >= ?', prefix] : ['"title" >= ? AND "title" < ?', prefix, end],
    );
  });
});

describe('keys with number classes of the driver', () => {
  const decimals: ShardedKeyspacesConfig = {
    ...config,
    shards: { default: { write: 2, read: 2 } },
    clusteringColumns: [{ name: 'amount', type: 'decimal', order: 'ASC' }],
  };
  const decimal = (unscaled: string, scale: number): types.BigDecimal => {
    const head = Buffer.alloc(4);
    head.writeInt32BE(scale);
    return types.BigDecimal.fromBuffer(
      Buffer.concat([head, types.Integer.toBuffer(types.Integer.fromString(unscaled))]),
    );
  };

  test('are ordered by their value, even if the driver cannot print them', async () => {
    const shards = [
      [decimal('1', 0), decimal('5', -2)],
      [decimal('40', 0), decimal('7', -400)],
    ];
    const execute = async (_: string, [, shard]: unknown[]) => ({
      rows: shards[shard as number]!.map((amount) => ({ amount, shard })),
    });
    const options = { maxPageBytes: 100_000 };
    const page = await fanOutSelect({ execute }, decimals, { value: { day } }, options);
    expect(page.rows.map(({ shard }) => shard)).toEqual([0, 1, 0, 1]);
  });

  test('are literals in the statement if the driver cannot send them as parameters', async () => {
    const execute = async (query: string, parameters: unknown[]) => {
      expect(query).toMatch(/ AND "amount" > blobAsDecimal\(0x[0-9a-f]+\)$/);
      expect(parameters).toHaveLength(2);
      return { rows: [] };
    };
    await fanOutSelect({ execute }, decimals, { value: { day }, where: { amount: { gt: decimal('1', -400) } } });
  });

  test('have the size of their short text, although the driver prints 1E-400000 with 400 kB of zeros', async () => {
    const small = decimal('1', 400_000);
    const execute = async (_: string, [, shard]: unknown[]) => ({
      rows: [{ amount: decimal(String(shard), 0), shard, list: [small] }],
    });
    const columns = { ...decimals, columns: ['list'] };
    const page = await fanOutSelect({ execute }, columns, { value: { day } }, { maxPageBytes: 1_000 });
    expect(page.rows).toHaveLength(2);
  });
});

describe('fanOutRows', () => {
  test('returns all rows in one order, and reads the next page only after the consumer has taken all rows of the previous page', async () => {
    const table = events();
    const ids: unknown[] = [];
    const sent: number[] = [];
    for await (const { id } of fanOutRows(table, config, { value: { day }, order: 'ascending', limit: 10 })) {
      ids.push(id);
      sent.push(table.sent.length);
    }
    expect(ids).toEqual([...Array(40).keys()]);
    const firstOfPages = ids.filter((_, at) => sent[at] !== sent[at - 1]);
    expect(firstOfPages).toEqual([0, 10, 20, 30]);
  });
});

test('fanOutSelectCount counts all rows, or only the rows that meet a condition, and reads only their keys', async () => {
  const byId: ShardedKeyspacesConfig = { ...config, clusteringColumns: [{ name: 'id', type: 'int', order: 'ASC' }] };
  const table = FakeCassandra.of(byId);
  for (let id = 0; id < 130; id++) table.insert({ day, shard: id % SHARDS, id, body: 'x' });
  const all = await fanOutSelectCount(table, byId, { value: { day } });
  expect(all).toMatchObject({ count: 130, stats: { rowsRead: 130, shards: SHARDS } });
  const some = await fanOutSelectCount(table, byId, { value: { day }, where: { id: { gte: 100 } } });
  expect(some).toMatchObject({ count: 30 });
  expect(table.sent.every(({ query }) => query.startsWith('SELECT "id" FROM'))).toBe(true);
});

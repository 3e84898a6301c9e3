import { types } from 'cassandra-driver';
import { boundValues } from '../../../../lambda/bound-values';
import { plainRow } from '../../../../lambda/keyspaces-query-fanout/plain-row';
import { queryMetrics } from '../../../../lambda/keyspaces-query-fanout/query-metrics';
import { queryPage } from '../../../../lambda/keyspaces-query-fanout/query-page';
import { FanOutHistory, InvalidArgumentError, UnknownTableError } from '../../../../lib/core';
import { type AllowedColumns, checkAllowedColumns } from '../../../../lib/core/keyspaces/allowed-values';
import { allPages } from '../../../support/all-pages';
import { FakeCassandra } from '../../../support/fakes/fake-cassandra';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const config = keyspacesConfig({
  partitionKey: [{ name: 'author', type: 'blob' }],
  firstShard: 0,
  clusteringColumns: [{ name: 'digest', type: 'blob', order: 'ASC' }],
  shards: { default: { write: 4, read: 4 } },
  strategy: 'random',
});
const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a, 'base64'), Buffer.from(b, 'base64'));
const ann = Buffer.from('ann');
const context = { getRemainingTimeInMillis: () => 30_000 };

function environment(rows: number, body = 'text') {
  const client = FakeCassandra.of(config, compare);
  for (let number = 0; number < rows; number++) {
    client.insert({ author: ann, shard: number % 4, digest: Buffer.from([number >> 8, number & 255]), body });
  }
  return { client, tables: { blogs: config }, history: new FanOutHistory() };
}
const event = { table: 'blogs', value: { author: ann.toString('base64') } };

describe('queryPage', () => {
  test.each([10, 10_000])('rejects a condition with %d levels of nesting before the first request', async (levels) => {
    const deep = JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    const page = queryPage(environment(1), { ...event, where: { digest: { between: deep } } } as never, context);
    await expect(page).rejects.toThrow(/where.digest.between must be a value, or a condition with values/);
  });

  test('returns the rows as plain JSON, and the number of rows, a cursor and the cost', async () => {
    const where = { digest: { gte: Buffer.from([0, 2]).toString('base64') } };
    const { response, page } = await queryPage(environment(10), { ...event, where, limit: 3 }, context);
    expect(response).toEqual({
      rows: [2, 3, 4].map((number) => ({
        author: ann.toString('base64'),
        shard: number % 4,
        digest: Buffer.from([0, number]).toString('base64'),
        body: 'text',
      })),
      cursor: expect.any(String),
      count: 3,
      stats: expect.objectContaining({ shards: 4, requests: 4, rowsRead: expect.any(Number) }),
    });
    expect(queryMetrics(page)).toMatchObject({ Pages: 1, Requests: 4, ItemsReturned: 3, MissingShards: 0 });
  });

  test('returns the rows of several values in one order, and encodes bytes in base64', async () => {
    const { client, ...rest } = environment(3);
    const bob = Buffer.from('bob');
    client.insert({ author: bob, shard: 1, digest: Buffer.from([0, 1]), body: 'text' });
    const values = [bob, ann].map((author) => ({ author: author.toString('base64') }));
    const { response } = await queryPage({ client, ...rest }, { table: 'blogs', values }, context);
    const read = response.rows.map(({ author, digest }) => [author, Buffer.from(String(digest), 'base64')[1]]);
    const [ofBob, ofAnn] = values.map(({ author }) => author);
    expect(read).toEqual([
      [ofAnn, 0],
      [ofBob, 1],
      [ofAnn, 1],
      [ofAnn, 2],
    ]);
  });

  test('ends a page before the response limit of Lambda, and continues from its cursor', async () => {
    const large = environment(10, 'x'.repeat(1_000_000));
    const pages = await allPages(async (cursor) => (await queryPage(large, { ...event, cursor }, context)).response);
    for (const page of pages) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(6 * 1_024 * 1_024);
    expect(pages.map(({ count }) => count)).toEqual([5, 5]);
  });

  test.each<[object, string]>([
    [[], 'event must be an object with table and a fan-out select'],
    [{ ...event, table: 'posts' }, 'table must be one of blogs, got "posts"'],
    [{ ...event, value: { author: 'a' } }, 'value.author must be padded base64, got "a"'],
    [{ table: 'blogs', values: [{ author: 'a' }] }, 'values[0].author must be padded base64, got "a"'],
    [{ ...event, where: { digest: { between: ['AA==', '='] } } }, 'where.digest.between must be padded base64'],
    [{ ...event, filter: 'x' }, 'request must be made of value, values, where, order'],
  ])('rejects %j before the first request', async (bad, message) => {
    const rejecting = environment(1);
    const page = queryPage(rejecting, bad as never, context);
    await expect(page).rejects.toThrow(InvalidArgumentError);
    await expect(page).rejects.toThrow(message);
    expect(rejecting.client.sent).toHaveLength(0);
  });

  test('rejects an unknown table with UnknownTableError', async () => {
    await expect(queryPage(environment(1), { ...event, table: 'x' }, context)).rejects.toThrow(UnknownTableError);
  });
});

describe('plainRow', () => {
  test('converts every type of the driver to JSON without loss', () => {
    const row = {
      small: 7n,
      large: 9007199254740993n,
      whole: types.Integer.fromString('-7'),
      // The toString method of the driver runs endlessly for this number.
      huge: types.Integer.fromBuffer(Buffer.from((10n ** 2_000n).toString(16).padStart(1_662, '0'), 'hex')),
      nan: Number.NaN,
      missing: null,
      date: types.LocalDate.fromString('2020-07-09'),
      time: new Date('2020-07-09T08:30:00.001Z'),
      id: types.Uuid.fromString('00000000-0000-4000-8000-000000000001'),
      price: types.BigDecimal.fromString('10.50'),
      // The drivers for Java and Python send 500 in this form. The toString method of the Node.js driver returns "5." for
      // this number.
      round: types.BigDecimal.fromBuffer(Buffer.from([255, 255, 255, 254, 5])),
      bytes: Buffer.from([1, 2]),
      tags: new Set(['a', 'b']),
      counts: new Map([['a', 1n]]),
      address: { street: 'x', number: 1 },
    };
    expect(plainRow(row)).toEqual({
      small: 7,
      large: '9007199254740993',
      whole: -7,
      huge: `1${'0'.repeat(2_000)}`,
      nan: 'NaN',
      missing: null,
      date: '2020-07-09',
      time: '2020-07-09T08:30:00.001Z',
      id: '00000000-0000-4000-8000-000000000001',
      price: '10.50',
      round: '5E2',
      bytes: 'AQI=',
      tags: ['a', 'b'],
      counts: [['a', 1]],
      address: { street: 'x', number: 1 },
    });
  });
});

describe('a Keyspaces query function with a list of allowed values', () => {
  const byTenant = keyspacesConfig({
    partitionKey: [
      { name: 'tenant', type: 'text' },
      { name: 'day', type: 'int' },
    ],
    firstShard: 0,
    clusteringColumns: [{ name: 'digest', type: 'blob', order: 'ASC' }],
    shards: { default: { write: 4, read: 4 } },
    strategy: 'random',
  });
  const client = FakeCassandra.of(byTenant, compare);
  const bound = (values: AllowedColumns) => {
    checkAllowedColumns('values', values);
    return { client, tables: { events: byTenant, blogs: config }, values, history: new FanOutHistory() };
  };
  const a = { tenant: 'a', day: 1 };

  test.each<[AllowedColumns, object]>([
    [[{ tenant: 'a' }], { value: a }],
    [[{ tenant: 'a' }], { values: [a, { ...a, day: 2 }] }],
    [[{ tenant: 'b' }, { tenant: 'a', day: 1 }], { values: [{ tenant: 'b', day: 9 }, a] }],
  ])('the allowed values are %j – the function accepts %j', async (values, request) => {
    const { response } = await queryPage(bound(values), { table: 'events', ...request } as never, context);
    expect(response.count).toBe(0);
  });

  test.each<[AllowedColumns, object, string]>([
    [[{ tenant: 'a' }], { value: { tenant: 'a#b', day: 1 } }, 'value'],
    [[{ tenant: 'a', day: 1 }], { value: { tenant: 'a', day: 2 } }, 'value'],
    [[{ tenant: 'a' }], { values: [a, { tenant: 'b', day: 1 }] }, 'values[1]'],
    [[{ tenant: 'a' }], {}, 'value'],
    [[{ tenant: 'a' }], { table: 'blogs', value: event.value }, 'value'],
  ])('the allowed values are %j – the function rejects %j before the first read', async (values, request, field) => {
    const sent = client.sent.length;
    const page = queryPage(bound(values), { table: 'events', ...request } as never, context);
    await expect(page).rejects.toThrow(`[VALUE_NOT_ALLOWED] ${field} must be one of the values`);
    expect(client.sent).toHaveLength(sent);
  });

  test.each(['', '["a"]', '[{"a":1,"b":2},{"b":2,"a":1}]'])(
    'does not start if the variable contains %j',
    (variable) => {
      expect(() => boundValues<AllowedColumns>(variable, checkAllowedColumns)).toThrow('EVEN_SHARDS_VALUES');
    },
  );
});

import {
  type DynamoDbItem,
  type FanOutRequest,
  fanOutQuery,
  InvalidCursorError,
  InvalidIndexValueError,
  type ShardedConfig,
  type ShardedIndexConfig,
} from '../../../../../lib/core';
import { allPages } from '../../../../support/all-pages';
import { FakeIndex, type FakeIndexOptions } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({ shards: { default: { write: 5, read: 5 } } });
const { valueAttribute: _, ...byTime } = { ...byStatus, indexName: 'byTime' };
const byPriority = { ...byTime, sortKeyAttributes: ['priority', 'createdAt'] };

const event = (index: number, shard: number): DynamoDbItem => ({
  jobId: { S: `event-${index}` },
  shard: { N: String(shard) },
  createdAt: { S: new Date(Date.UTC(2020, 0, 1, 0, 15 * index)).toISOString() },
});

/** 100 events in 5 shards, with one event every 15 minutes. */
function articleEvents(options?: FakeIndexOptions): FakeIndex {
  const index = new FakeIndex(byTime, options);
  for (let number = 0; number < 100; number++) index.put(event(number, (number * 7) % 5));
  return index;
}

const firstTwelveHours: FanOutRequest = {
  sortKey: { between: ['2020-01-01T00:00:00.000Z', '2020-01-01T11:59:59.000Z'] },
};

const ids = (items: readonly DynamoDbItem[]): string[] => items.map(({ jobId }) => (jobId as { S: string }).S);

const pages = async (index: FakeIndex, config: ShardedIndexConfig, request: FanOutRequest): Promise<DynamoDbItem[][]> =>
  (await allPages((cursor) => fanOutQuery(index, config, { ...request, cursor }))).map(({ items }) => items);

describe('fanOutQuery', () => {
  describe('on 100 events in 5 shards', () => {
    test('returns the 48 events of the first twelve hours in time order', async () => {
      const { items, cursor, stats } = await fanOutQuery(articleEvents(), byTime, firstTwelveHours);
      expect(ids(items)).toEqual(Array.from({ length: 48 }, (_, number) => `event-${number}`));
      expect(cursor).toBeUndefined();
      expect(stats).toEqual({
        shards: 5,
        requests: 5,
        waves: 1,
        throttled: 0,
        hedged: 0,
        itemsRead: 48,
        itemsHidden: 0,
        consumedReadUnits: 2.5,
      });
    });

    test('returns the newest events first in descending order, page by page', async () => {
      const read = await pages(articleEvents(), byTime, { order: 'descending', limit: 30 });
      expect(read.map(({ length }) => length)).toEqual([30, 30, 30, 10]);
      expect(ids(read.flat())).toEqual(Array.from({ length: 100 }, (_, number) => `event-${99 - number}`));
    });

    test.each<[FanOutRequest, number, number]>([
      [{ sortKey: { lt: '2020-01-01T02:30:00.000Z' } }, 0, 9],
      [{ sortKey: { gt: '2020-01-01T22:15:00.000Z' }, order: 'descending' }, 99, 90],
    ])('leaves out the event at the exclusive end of %j on every page', async (request, first, last) => {
      const found = (await pages(articleEvents(), byTime, { ...request, limit: 3 })).flatMap(ids);
      expect(found).toHaveLength(10);
      expect([found.at(0), found.at(-1)]).toEqual([`event-${first}`, `event-${last}`]);
    });

    test('reads 15 items for a page of 10 items', async () => {
      const { items, stats } = await fanOutQuery(articleEvents(), byTime, { limit: 10 });
      expect(items).toHaveLength(10);
      expect(stats).toMatchObject({ requests: 5, waves: 1, itemsRead: 15 });
    });

    test.each(['ascending', 'unordered'] as const)(
      'returns all items on an %s page with a limit of 2^40',
      async (order) => {
        const index = articleEvents();
        const { items } = await fanOutQuery(index, byTime, { limit: 2 ** 40, order });
        expect(items).toHaveLength(100);
        expect(index.requests.every(({ Limit }) => Limit === 1_000_000)).toBe(true);
      },
    );

    test('reads only one shard if the page is unordered and the shard has enough items', async () => {
      const { items, stats } = await fanOutQuery(articleEvents(), byTime, { limit: 10, order: 'unordered' });
      expect(items).toHaveLength(10);
      expect(stats).toMatchObject({ requests: 1, itemsRead: 10 });
    });

    test('returns only the attributes of the projection, and still orders by a sort key that is not in the projection', async () => {
      const { items, cursor } = await fanOutQuery(articleEvents(), byTime, { projection: ['jobId'], limit: 2 });
      expect(items).toEqual([{ jobId: { S: 'event-0' } }, { jobId: { S: 'event-1' } }]);
      const next = await fanOutQuery(articleEvents(), byTime, { projection: ['createdAt'], limit: 1, cursor });
      expect(next.items).toEqual([{ createdAt: event(2, 0).createdAt }]);
    });

    test('ends a page at maxPageBytes, but returns at least one item', async () => {
      const bytes = Buffer.byteLength(JSON.stringify(event(0, 0)));
      const page = (maxPageBytes: number) => fanOutQuery(articleEvents(), byTime, {}, { maxPageBytes });
      expect((await page(bytes * 3)).items).toHaveLength(3);
      const smallest = await page(1);
      expect(smallest.items).toHaveLength(1);
      const rest = await fanOutQuery(articleEvents(), byTime, { cursor: smallest.cursor });
      expect(rest.items).toHaveLength(99);
    });
  });

  test('reads exactly the shards of the value, in both key layouts', async () => {
    const shards = { default: { write: 1, read: 1 }, byValue: { succeeded: { write: 2, read: 3 } } };
    for (const keyLayout of ['multi-attribute', 'single-attribute'] as const) {
      const config: ShardedIndexConfig = { ...byStatus, keyLayout, shards };
      const index = new FakeIndex(config);
      await fanOutQuery(index, config, { value: 'succeeded' });
      await fanOutQuery(index, config, { value: 'failed' });
      const keys = index.requests.map(({ ExpressionAttributeValues }) => Object.values(ExpressionAttributeValues));
      expect(keys).toEqual(
        keyLayout === 'multi-attribute'
          ? [
              [{ N: '0' }, { S: 'succeeded' }],
              [{ N: '1' }, { S: 'succeeded' }],
              [{ N: '2' }, { S: 'succeeded' }],
              [{ N: '0' }, { S: 'failed' }],
            ]
          : [[{ S: 'succeeded#0' }], [{ S: 'succeeded#1' }], [{ S: 'succeeded#2' }], [{ S: 'failed#0' }]],
      );
    }
  });

  test.each(['multi-attribute', 'single-attribute'] as const)(
    'finds items by a number with more digits than a JavaScript number: %s',
    async (keyLayout) => {
      const digits = '12345678901234567890';
      const shards = { default: { write: 1, read: 1 }, byValue: { [digits]: { write: 2, read: 2 } } };
      const config: ShardedIndexConfig = { ...byStatus, keyLayout, shards };
      const index = new FakeIndex(config);
      const status = { N: digits };
      for (const shard of [0, 1]) {
        const stored = keyLayout === 'multi-attribute' ? { N: `${shard}` } : { S: `${digits}#${shard}` };
        index.put({ ...event(shard, shard), status, shard: stored });
      }
      expect((await pages(index, config, { value: status, limit: 1 })).flatMap(ids)).toEqual(['event-0', 'event-1']);
      expect((await fanOutQuery(index, config, { values: [status, 'open'] })).items).toHaveLength(2);
      await expect(fanOutQuery(index, config, { values: [status, digits] })).rejects.toThrow(
        'values[1] must be different from the other values',
      );
      for (const value of [12345678901234567890n, { N: 'many' }, { N: '1', S: '1' }, { S: 'open' }]) {
        const query = fanOutQuery(index, config, { value: value as never });
        await expect(query).rejects.toThrow(InvalidIndexValueError);
      }
    },
  );

  describe('cursor', () => {
    const config: ShardedIndexConfig = { ...byStatus, shards: { default: { write: 200, read: 200 } } };

    async function cursorOf(request: FanOutRequest, shards = 200): Promise<string> {
      const index = new FakeIndex(config);
      for (let shard = 0; shard < shards; shard++)
        index.put({ ...event(0, shard), jobId: { S: `${shard}` }, status: { S: 'a' } });
      return (await fanOutQuery(index, config, request)).cursor!;
    }

    test('has a length that does not depend on the number of shards', async () => {
      const small = await cursorOf({ value: 'a', limit: 1 }, 2);
      const large = await cursorOf({ value: 'a', limit: 150 });
      expect(large.length - small.length).toBeLessThanOrEqual(8);
      expect(large.length).toBeLessThanOrEqual(100);
    });

    test.each<[string, FanOutRequest]>([
      ['another value', { value: 'b' }],
      ['another order', { value: 'a', order: 'descending' }],
      ['another sort-key condition', { value: 'a', sortKey: { gt: '2020' } }],
      ['another filter', { value: 'a', filterExpression: 'attribute_exists(x)' }],
    ])('is rejected by a query with %s', async (_, request) => {
      const cursor = await cursorOf({ value: 'a', limit: 1 });
      await expect(fanOutQuery(new FakeIndex(config), config, { ...request, cursor })).rejects.toThrow(
        InvalidCursorError,
      );
    });

    test('is rejected by a query of another index, and accepted with another limit and another projection', async () => {
      const cursor = await cursorOf({ value: 'a', limit: 1 });
      const request: FanOutRequest = { value: 'a', limit: 7, projection: ['jobId'], cursor };
      await expect(fanOutQuery(new FakeIndex(config), config, request)).resolves.toBeDefined();
      const other = { ...config, indexName: 'other' };
      await expect(fanOutQuery(new FakeIndex(other), other, { value: 'a', cursor })).rejects.toThrow(
        'cursor must be the unaltered cursor of a page of the same query, got ',
      );
    });

    test('is accepted if the same placeholders of the filter are in another order', async () => {
      const filter = (expressionAttributeValues: FanOutRequest['expressionAttributeValues']): FanOutRequest => ({
        ...{ value: 'a', limit: 1, expressionAttributeValues },
        filterExpression: '#id BETWEEN :a AND :b',
        expressionAttributeNames: { '#id': 'jobId' },
      });
      const [a, b] = [{ S: '0' }, { S: '9' }];
      const cursor = await cursorOf(filter({ ':a': a, ':b': b }));
      expect(cursor).toBeDefined();
      const index = new FakeIndex(config);
      await expect(fanOutQuery(index, config, { ...filter({ ':b': b, ':a': a }), cursor })).resolves.toBeDefined();
      await expect(fanOutQuery(index, config, { ...filter({ ':a': b, ':b': a }), cursor })).rejects.toThrow(
        InvalidCursorError,
      );
    });

    test('is rejected if a character was changed, added or removed', async () => {
      const cursor = await cursorOf({ value: 'a', limit: 1 });
      const index = new FakeIndex(config);
      const altered = [...cursor].flatMap((character, at) => {
        const other = character === 'A' ? 'B' : 'A';
        const [before, after] = [cursor.slice(0, at), cursor.slice(at + 1)];
        return [before + other + after, before + after, `${before}${other}${character}${after}`];
      });
      for (const broken of [...altered, `${cursor}=`, `${cursor} `, '', 'x', 7 as unknown as string]) {
        await expect(fanOutQuery(index, config, { value: 'a', cursor: broken })).rejects.toThrow(InvalidCursorError);
      }
      expect(index.requests).toHaveLength(0);
    });
  });

  const INVALID_REQUESTS: Record<string, [message: string, request: unknown, config?: ShardedConfig][]> = {
    INVALID_INDEX_VALUE: [
      [
        'value must be a non-empty string, a finite number or { N: digits } because index byStatus is keyed by status, got undefined',
        {},
        byStatus,
      ],
      [
        'value must be at most 2048 bytes long including the shard',
        { value: 'x'.repeat(2_047) },
        { ...byStatus, keyLayout: 'single-attribute' },
      ],
      ['value must be at most 2048 bytes long', { value: 'x'.repeat(2_049) }, byStatus],
      ['without the separator "-"', { value: '12-1' }, invoices],
      ['because table Invoices is keyed by InvoiceNumber', {}, invoices],
      ['value must be absent because index byTime covers the whole table, got "a"', { value: 'a' }],
      ['values[1] must be a non-empty string, a finite number or { N: digits }', { values: ['open', ''] }, byStatus],
      ['value must be absent if values is set, got "open"', { value: 'open', values: ['done'] }, byStatus],
      ['values must be an array of 1 to 100 different values', { values: [...Array(101).keys()] }, byStatus],
    ],
    INVALID_ARGUMENT: [
      ['false or absent because DynamoDB has no consistent reads', { consistentRead: true }],
      ['true, false or absent, got "yes"', { value: '1', consistentRead: 'yes' }, invoices],
      ['limit must be a whole number of at least 1, got 0', { limit: 0 }],
      ...[0, Number.NaN, null].map((maxReadUnits): [string, unknown] => [
        'maxReadUnits must be a number of read units greater than 0',
        { maxReadUnits },
      ]),
      ['order must be one of ascending, descending, unordered, got "random"', { order: 'random' }],
      ['projection must be a non-empty array of top-level attribute names', { projection: [] }],
      ['top-level attribute names without a dot, "[" or a leading "#"', { projection: ['id', 'address.city'] }],
      [
        'projection must be at most about 240 attributes (their placeholders must fit into 4096 bytes), got 247',
        { projection: Array.from({ length: 247 }, (_, at) => `a${at}`) },
      ],
      ['filterExpression must be', { filterExpression: ' ' }],
      [
        'filterExpression must be at most 4096 bytes long, with at most 300 operators and 100 operands of an IN',
        { filterExpression: `#${'x'.repeat(4_100)} = :no` },
      ],
      [
        'expressionAttributeNames must be absent without a filterExpression',
        { expressionAttributeNames: { '#a': 'a' } },
      ],
      ['got "#evenShards0"', { filterExpression: '#a', expressionAttributeNames: { '#evenShards0': 'a' } }],
      ['start with ":"', { filterExpression: ':a', expressionAttributeValues: { a: { S: 'a' } } }],
      [
        'expressionAttributeValues[:a] must be an attribute value of one type, such as {"S":"text"}, nested at most 32 levels deep, got "text"',
        { filterExpression: ':a', expressionAttributeValues: { ':a': 'text' } },
      ],
      [
        'expressionAttributeValues must be at most 2097152 bytes in all (the limit of an expression of DynamoDB)',
        { filterExpression: ':a', expressionAttributeValues: { ':a': { S: 'x'.repeat(2 ** 21 - 1) } } },
      ],
      ['expressionAttributeValues must be an object', { filterExpression: ':a', expressionAttributeValues: null }],
      [
        'expressionAttributeNames[#a] must be an attribute name, got 7',
        { filterExpression: '#a', expressionAttributeNames: { '#a': 7 } },
      ],
      ['got "limits"', { limits: 5 }],
      ['request must be an object', null],
    ],
    INVALID_SORT_KEY_CONDITION: [
      [
        'sortKey must be an object with exactly one of eq, lt, lte, gt, gte, between, beginsWith, got {"gt":"a","lt":"b"}',
        { sortKey: { gt: 'a', lt: 'b' } },
      ],
      [
        'sortKey.between must be an array of the lower bound and then the upper bound, got [10,9]',
        { sortKey: { between: [10, 9] } },
      ],
      ['sortKey.beginsWith must be a string or binary', { sortKey: { beginsWith: 1 } }],
      ['sortKey.eq must be a non-empty string', { sortKey: { eq: '' } }],
      [
        'sortKey.eq must be at most 1024 bytes long (the limit of a sort key of DynamoDB)',
        { sortKey: { eq: 'x'.repeat(6_000_000) } },
      ],
      [
        'sortKey.gte must be a non-empty string, a finite number, binary, or an attribute value of type S, N or B',
        { sortKey: { gte: { N: 'ten' } } },
      ],
      [
        'sortKey.between must be a number below 2^53, or the digits of a larger one as { N: digits }',
        { sortKey: { between: [{ N: '1' }, 2 ** 53] } },
      ],
      ['index byTime has no sort key', { sortKey: { eq: 'a' } }, { ...byTime, sortKeyAttributes: [] }],
      [
        'sortKey must be conditions on the first attributes of priority, createdAt, without a gap',
        { sortKey: { createdAt: { gt: 1 } } },
        byPriority,
      ],
      [
        'sortKey.priority must be an eq condition because a condition on createdAt follows, got {"gt":1}',
        { sortKey: { priority: { gt: 1 }, createdAt: { gt: 1 } } },
        byPriority,
      ],
      [
        'sortKey.priority.between must be an array of the lower bound and then',
        { sortKey: { priority: { between: [2, 1] } } },
        byPriority,
      ],
    ],
  };

  test.each(
    Object.entries(INVALID_REQUESTS).flatMap(([code, rows]) =>
      rows.map((row): [string, ...typeof row] => [code, ...row]),
    ),
  )('rejects an invalid request before it reads, with %s: %s', async (code, message, request, config = byTime) => {
    const index = new FakeIndex(config);
    const query = fanOutQuery(index, config, request as FanOutRequest);
    await expect(query).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(index.requests).toHaveLength(0);
  });
});

import {
  type DynamoDbItem,
  type FanOutRequest,
  fanOutQuery,
  InvalidArgumentError,
  InvalidCursorError,
  InvalidIndexValueError,
  InvalidSortKeyConditionError,
  type ShardedConfig,
  type ShardedIndexConfig,
} from '../../../../../lib/core';
import { FakeIndex, type FakeIndexOptions } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({ shards: { default: { write: 5, read: 5 } } });
const { valueAttribute: _, ...byTime } = { ...byStatus, indexName: 'byTime' };

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

/** All pages of a query, one after the other. */
async function pages(index: FakeIndex, config: ShardedIndexConfig, request: FanOutRequest): Promise<DynamoDbItem[][]> {
  const all: DynamoDbItem[][] = [];
  let cursor: string | undefined;
  do {
    const page = await fanOutQuery(index, config, { ...request, cursor });
    all.push(page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

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

    test('reads all pages of a shard', async () => {
      const { items, stats } = await fanOutQuery(articleEvents({ pageItems: 3 }), byTime, {});
      expect(ids(items)).toEqual(Array.from({ length: 100 }, (_, number) => `event-${number}`));
      expect(stats.requests).toBe(35);
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
      await expect(page(0)).rejects.toThrow('maxPageBytes must be');
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

  test('finds items by a number with more digits than a JavaScript number', async () => {
    for (const keyLayout of ['multi-attribute', 'single-attribute'] as const) {
      const config: ShardedIndexConfig = {
        ...byStatus,
        keyLayout,
        shards: { default: { write: 1, read: 1 }, byValue: { '12345678901234567890': { write: 2, read: 2 } } },
      };
      const index = new FakeIndex(config);
      const status = { N: '12345678901234567890' };
      for (let shard = 0; shard < 2; shard++) {
        const stored = keyLayout === 'multi-attribute' ? { N: `${shard}` } : { S: `12345678901234567890#${shard}` };
        index.put({ ...event(0, shard), jobId: { S: `${shard}` }, status, [config.shardAttribute]: stored });
      }
      const page = await fanOutQuery(index, config, { value: status, limit: 1 });
      const rest = await fanOutQuery(index, config, { value: status, cursor: page.cursor });
      expect([...page.items, ...rest.items].map(({ jobId }) => jobId)).toEqual([{ S: '0' }, { S: '1' }]);
      const values = [status, 'open'];
      expect((await fanOutQuery(index, config, { values })).items).toHaveLength(2);
      await expect(fanOutQuery(index, config, { values: [status, '12345678901234567890'] })).rejects.toThrow(
        'values[1] must be different from the other values',
      );
      for (const value of [12345678901234567890n, { N: 'many' }, { N: '1', S: '1' }, { S: 'open' }]) {
        await expect(fanOutQuery(index, config, { value: value as never })).rejects.toBeInstanceOf(
          InvalidIndexValueError,
        );
      }
    }
  });

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

    test('is rejected by a query of another index', async () => {
      const cursor = await cursorOf({ value: 'a', limit: 1 });
      const other = { ...config, indexName: 'other' };
      await expect(fanOutQuery(new FakeIndex(other), other, { value: 'a', cursor })).rejects.toThrow(
        'cursor must be the unaltered cursor of a page of the same query, got ',
      );
    });

    test('is accepted by a query with another limit and another projection', async () => {
      const cursor = await cursorOf({ value: 'a', limit: 1 });
      const request: FanOutRequest = { value: 'a', limit: 7, projection: ['jobId'], cursor };
      await expect(fanOutQuery(new FakeIndex(config), config, request)).resolves.toBeDefined();
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

  describe('invalid input', () => {
    test.each<[string, ShardedConfig, unknown, new (...args: never[]) => Error, string]>([
      [
        'a missing value',
        byStatus,
        {},
        InvalidIndexValueError,
        'value must be a non-empty string, a finite number or { N: digits } because index byStatus is keyed by status, got undefined',
      ],
      [
        'a value that is too long with its shard',
        { ...byStatus, keyLayout: 'single-attribute' },
        { value: 'x'.repeat(2_047) },
        InvalidIndexValueError,
        'value must be at most 2048 bytes long including the shard',
      ],
      [
        'a table value with the separator',
        invoices,
        { value: '12-1' },
        InvalidIndexValueError,
        'without the separator "-"',
      ],
      [
        'a consistent read of an index',
        byTime,
        { consistentRead: true },
        InvalidArgumentError,
        'false or absent because',
      ],
      [
        'a consistentRead that is no boolean',
        invoices,
        { value: '1', consistentRead: 'yes' },
        InvalidArgumentError,
        'true, false or absent, got "yes"',
      ],
      [
        'a missing value of a table',
        invoices,
        {},
        InvalidIndexValueError,
        'because table Invoices is keyed by InvoiceNumber',
      ],
      [
        'a value for an index of the whole table',
        byTime,
        { value: 'a' },
        InvalidIndexValueError,
        'value must be absent because index byTime covers the whole table, got "a"',
      ],
      ['a limit of 0', byTime, { limit: 0 }, InvalidArgumentError, 'limit must be a whole number of at least 1, got 0'],
      [
        'an unknown order',
        byTime,
        { order: 'random' },
        InvalidArgumentError,
        'order must be one of ascending, descending, unordered, got "random"',
      ],
      [
        'a sort-key condition of two kinds',
        byTime,
        { sortKey: { gt: 'a', lt: 'b' } },
        InvalidSortKeyConditionError,
        'sortKey must be an object with exactly one of eq, lt, lte, gt, gte, between, beginsWith, got {"gt":"a","lt":"b"}',
      ],
      [
        'a between with swapped bounds',
        byTime,
        { sortKey: { between: [10, 9] } },
        InvalidSortKeyConditionError,
        'sortKey.between must be an array of the lower bound and then the upper bound, got [10,9]',
      ],
      [
        'a prefix of a number',
        byTime,
        { sortKey: { beginsWith: 1 } },
        InvalidSortKeyConditionError,
        'sortKey.beginsWith must be a string or binary',
      ],
      [
        'an empty sort key',
        byTime,
        { sortKey: { eq: '' } },
        InvalidSortKeyConditionError,
        'sortKey.eq must be a non-empty string',
      ],
      [
        'a sort key that is no number',
        byTime,
        { sortKey: { gte: { N: 'ten' } } },
        InvalidSortKeyConditionError,
        'sortKey.gte must be a non-empty string, a finite number, binary, or an attribute value of type S, N or B',
      ],
      [
        'a sort-key condition for an index without a sort key',
        { ...byTime, sortKeyAttributes: [] },
        { sortKey: { eq: 'a' } },
        InvalidSortKeyConditionError,
        'index byTime has no sort key',
      ],
      [
        'an empty projection',
        byTime,
        { projection: [] },
        InvalidArgumentError,
        'projection must be a non-empty array of top-level attribute names',
      ],
      [
        'a projection of a nested attribute',
        byTime,
        { projection: ['id', 'address.city'] },
        InvalidArgumentError,
        'top-level attribute names without a dot, "[" or a leading "#"',
      ],
      [
        'a sort key that a JavaScript number cannot hold exactly',
        byTime,
        { sortKey: { between: [{ N: '1' }, 2 ** 53] } },
        InvalidSortKeyConditionError,
        'sortKey.between must be a number below 2^53, or the digits of a larger one as { N: digits }',
      ],
      ['an empty filter', byTime, { filterExpression: ' ' }, InvalidArgumentError, 'filterExpression must be'],
      [
        'placeholders without a filter',
        byTime,
        { expressionAttributeNames: { '#a': 'a' } },
        InvalidArgumentError,
        'expressionAttributeNames must be absent without a filterExpression',
      ],
      [
        'a placeholder that starts with evenShards',
        byTime,
        { filterExpression: '#a', expressionAttributeNames: { '#evenShards0': 'a' } },
        InvalidArgumentError,
        'got "#evenShards0"',
      ],
      [
        'a placeholder without ":"',
        byTime,
        { filterExpression: ':a', expressionAttributeValues: { a: { S: 'a' } } },
        InvalidArgumentError,
        'start with ":"',
      ],
      [
        'a value that is no attribute value',
        byTime,
        { filterExpression: ':a', expressionAttributeValues: { ':a': 'text' } },
        InvalidArgumentError,
        'expressionAttributeValues[:a] must be an attribute value of one type, such as {"S":"text"}, nested at most 32 levels deep, got "text"',
      ],
      [
        'null as expressionAttributeValues',
        byTime,
        { filterExpression: ':a', expressionAttributeValues: null },
        InvalidArgumentError,
        'expressionAttributeValues must be an object',
      ],
      [
        'an attribute name that is no string',
        byTime,
        { filterExpression: '#a', expressionAttributeNames: { '#a': 7 } },
        InvalidArgumentError,
        'expressionAttributeNames[#a] must be an attribute name, got 7',
      ],
      ['an unknown field', byTime, { limits: 5 }, InvalidArgumentError, 'got "limits"'],
      ['null as a request', byTime, null, InvalidArgumentError, 'request must be an object'],
    ])('rejects %s before it reads', async (_, config, request, error, message) => {
      const index = new FakeIndex(config);
      const query = fanOutQuery(index, config, request as FanOutRequest);
      await expect(query).rejects.toThrow(error);
      await expect(query).rejects.toThrow(message);
      expect(index.requests).toHaveLength(0);
    });
  });
});

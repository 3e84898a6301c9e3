import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  type DynamoDbItem,
  type FanOutItemsRequest,
  type FanOutRequest,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  type IndexQueryInput,
  type IndexQueryOutput,
  InvalidArgumentError,
  InvalidCursorError,
  plainItem,
  type QueryClient,
  type ShardedIndexConfig,
  ShardsUnavailableError,
} from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { allPages } from '../../../../support/all-pages';
import { FakeIndex, type FakeIndexOptions } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

function configOf(open: number, done: number): ShardedIndexConfig {
  return indexConfig({
    sortKeyAttributes: ['priority', 'createdAt'],
    shards: {
      default: { write: 1, read: 1 },
      byValue: { open: { write: open, read: open }, done: { write: done, read: done } },
    },
    strategy: 'random',
  });
}

const VALUES = ['open', 'done'];

function jobs(config: ShardedIndexConfig, count: number, options?: FakeIndexOptions): FakeIndex {
  const index = new FakeIndex(config, options);
  for (let number = 0; number < count; number++) {
    const status = VALUES[number % 2]!;
    const shards = config.shards.byValue![status]!.read;
    index.put({
      jobId: { S: String(number) },
      status: { S: status },
      shard: { N: String(Math.floor(number / 2) % shards) },
      priority: { N: String(number % 3) },
      createdAt: { N: String(number) },
    });
  }
  return index;
}

const numberOf = ({ jobId }: DynamoDbItem): number => Number((jobId as { S: string }).S);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
const sorted = (numbers: number[]): number[] => [...numbers].sort((a, b) => a - b);

/** The index on a virtual clock. `ms` returns the response time in milliseconds. */
function slow(index: FakeIndex, ms: (input: IndexQueryInput) => number): QueryClient & { clock: VirtualClock } {
  const clock = new VirtualClock();
  return {
    clock,
    async query(input): Promise<IndexQueryOutput> {
      await clock.sleep(ms(input));
      return index.query(input);
    },
  };
}

describe('fanOutItems', () => {
  test('has a resume point whose length depends on the number of parallel requests, not on the number of shards', async () => {
    const config = configOf(500, 1);
    const index = jobs(config, 4_000, { pageItems: 1 });
    const stream = fanOutItems(index, config, { value: 'open' }, { concurrency: 5 });
    for (let taken = 0; taken < 900; taken++) await stream.next();
    expect(stream.resumePoint!.length).toBeLessThan(5 * 60 + 100);
    await stream.return();
  });

  test('continues after the last item that it returned before the limit, although the response of the shard had more items', async () => {
    const config = configOf(1, 1);
    const index = jobs(config, 400);
    for (const item of index.all()) index.put({ ...item, late: { N: numberOf(item) >= 100 ? '1' : '0' } });
    const request: FanOutItemsRequest = {
      value: 'open',
      sortKey: { priority: { eq: 0 } },
      limit: 20,
      filterExpression: '#late = :yes',
      expressionAttributeNames: { '#late': 'late' },
      expressionAttributeValues: { ':yes': { N: '1' } },
    };
    const taken: number[] = [];
    let resumeAt: string | undefined;
    do {
      const stream = fanOutItems(index, config, { ...request, resumeAt });
      for await (const item of stream) taken.push(numberOf(item));
      expect(stream.stats.waves).toBe(1);
      resumeAt = stream.resumePoint;
    } while (resumeAt !== undefined);
    expect(sorted(taken)).toEqual(upTo(400).filter((number) => number >= 100 && number % 6 === 0));
  });

  test('continues only in the shards that failed', async () => {
    const config = configOf(3, 1);
    const index = jobs(config, 60);
    const client: QueryClient = {
      query: async (input) => {
        const isDown = Object.values(input.ExpressionAttributeValues).some(({ N }) => N === '1');
        if (isDown) throw Object.assign(new Error('down'), { name: 'InternalServerError' });
        return index.query(input);
      },
    };
    const [taken, rest]: number[][] = [[], []];
    const stream = fanOutItems(client, config, { value: 'open' }, { onShardFailure: 'partial', attempts: 1 });
    const reading = (async () => {
      for await (const item of stream) taken!.push(numberOf(item));
    })();
    await expect(reading).rejects.toThrow(ShardsUnavailableError);
    expect(taken).toHaveLength(20);
    for await (const item of fanOutItems(index, config, { value: 'open', resumeAt: stream.resumePoint! })) {
      rest!.push(numberOf(item));
    }
    expect(sorted([...taken!, ...rest!])).toEqual(upTo(60).filter((number) => number % 2 === 0));
  });

  test('rejects the resume point of another segment, and invalid segments', async () => {
    const config = configOf(4, 1);
    const index = jobs(config, 20);
    const stream = fanOutItems(index, config, { value: 'open', segment: 0, totalSegments: 2 });
    await stream.next();
    const resumeAt = stream.resumePoint!;
    expect(() => fanOutItems(index, config, { value: 'open', segment: 1, totalSegments: 2, resumeAt })).toThrow(
      InvalidCursorError,
    );
    for (const segment of [2, -1, 0.5]) {
      expect(() => fanOutItems(index, config, { value: 'open', segment, totalSegments: 2 })).toThrow(
        `segment must be a whole number from 0 to 1, got ${segment}`,
      );
    }
    expect(() => fanOutItems(index, config, { value: 'open', totalSegments: 0 })).toThrow('totalSegments must be');
  });
});

describe('fanOutCount', () => {
  test('counts the matching items, and the responses do not contain the items', async () => {
    const config = configOf(5, 3);
    const index = jobs(config, 300, { pageItems: 7 });
    const request = { values: VALUES, sortKey: { priority: { eq: 1 }, createdAt: { gte: 100 } } };
    const { count, cursor, stats, ...others } = await fanOutCount(index, config, request);
    expect(others).toEqual({});
    expect(count).toBe(upTo(300).filter((number) => number % 3 === 1 && number >= 100).length);
    expect(cursor).toBeUndefined();
    expect(stats).toMatchObject({ shards: 8, waves: 1, itemsRead: count, itemsHidden: 0 });
    expect(index.requests.every(({ Select }) => Select === 'COUNT')).toBe(true);
  });

  test('throws if the deadline passes before the first response', async () => {
    const config = configOf(2, 1);
    const client = slow(jobs(config, 10), () => 100);
    const counting = fanOutCount(client, config, { value: 'open' }, { clock: client.clock, deadlineMs: 25 });
    await expect(client.clock.runUntil(counting)).rejects.toThrow(ShardsUnavailableError);
  });

  test('names the shards whose items it did not count, with onShardFailure "partial"', async () => {
    const config = configOf(4, 1);
    const index = jobs(config, 80);
    const client: QueryClient = {
      query: async (input) => {
        const shard = Object.values(input.ExpressionAttributeValues).find((value) => value.N !== undefined)!.N;
        if (shard === '2') throw Object.assign(new Error('down'), { name: 'InternalServerError' });
        return index.query(input);
      },
    };
    const options = { attempts: 1, onShardFailure: 'partial' } as const;
    await expect(fanOutCount(client, config, { values: ['done', 'open'] }, options)).resolves.toMatchObject({
      count: 70,
      missingShards: [10_002],
    });
    await expect(fanOutCount(client, config, { value: 'open' }, { attempts: 1 })).rejects.toThrow('down');
  });

  test('counts the remaining items of a failed shard when it continues from its cursor', async () => {
    const config = configOf(2, 1);
    const index = jobs(config, 80, { pageItems: 5 });
    const client = slow(index, ({ ExclusiveStartKey, ExpressionAttributeValues: values }) => {
      if (ExclusiveStartKey === undefined) return 1;
      if (Object.values(values).some(({ N }) => N === '1')) return 1_000;
      throw Object.assign(new Error('down'), { name: 'InternalServerError' });
    });
    const options = { clock: client.clock, deadlineMs: 25, attempts: 1, onShardFailure: 'partial' } as const;
    const first = await client.clock.runUntil(fanOutCount(client, config, { value: 'open' }, options));
    expect(first).toMatchObject({ count: 10, missingShards: [0] });
    const rest = await fanOutCount(index, config, { value: 'open', cursor: first.cursor });
    expect(rest.count).toBe(15);
  });
});

describe('fanOutQuery with several values', () => {
  test('returns the items of all values in one order', async () => {
    const config = configOf(5, 2);
    const index = jobs(config, 40);
    const sortKey = { priority: { eq: 0 } };
    const pages = await allPages((cursor) => fanOutQuery(index, config, { values: VALUES, sortKey, limit: 3, cursor }));
    expect(pages.map(({ stats }) => stats.shards)).toEqual(pages.map(() => 7));
    expect(pages.flatMap(({ items }) => items.map(numberOf))).toEqual(upTo(40).filter((number) => number % 3 === 0));
  });

  test.each<[string, FanOutRequest, number]>([
    ['one value', { values: ['open'] }, 2],
    ['100 values', { values: ['open', ...upTo(99)] }, 2],
    ['a value of 2,048 bytes', { value: 'x'.repeat(2_048) }, 0],
    ['a sort key of 1,024 bytes', { value: 'open', sortKey: { priority: { eq: 'x'.repeat(1_024) } } }, 0],
    ['a binary prefix', { value: 'open', sortKey: { priority: { beginsWith: Uint8Array.of(1) } } }, 0],
    ['a filter of 4,096 bytes', { value: 'open', filterExpression: 'a'.repeat(4_096) }, 0],
    [
      'filter values of 2 MiB',
      { value: 'open', filterExpression: ':a', expressionAttributeValues: { ':a': { S: 'x'.repeat(2 ** 21 - 2) } } },
      0,
    ],
  ])('accepts a request with %s', async (_, request, found) => {
    const config = configOf(2, 1);
    const index = found === 0 ? { query: async () => ({ Items: [], ScannedCount: 0 }) } : jobs(config, 4);
    expect((await fanOutQuery(index, config, request)).items).toHaveLength(found);
  });
});

describe('fanOutQuery – invalid responses', () => {
  test('retries if the client throws a TypeError while it parses a response', async () => {
    const config = configOf(2, 1);
    const index = jobs(config, 20);
    let requests = 0;
    const client: QueryClient = {
      query: async (input) => (requests++ === 0 ? Promise.reject(new TypeError('unexpected')) : index.query(input)),
    };
    const { items } = await fanOutQuery(client, config, { value: 'open' }, { backoffBaseMs: 0 });
    expect(items).toHaveLength(10);
  });

  test('rejects a document client before it sends a request', async () => {
    const config = configOf(2, 1);
    const document = DynamoDBDocument.from(new DynamoDB({ region: 'eu-west-3' }));
    const query = fanOutQuery(document as unknown as QueryClient, config, { value: 'open' });
    await expect(query).rejects.toThrow(InvalidArgumentError);
    await expect(query).rejects.toThrow(
      'client must be a client with query that returns attribute values, such as new DynamoDB({}), got "a DynamoDBDocument',
    );
    await expect(fanOutCount(new DynamoDB({ region: 'eu-west-3' }), config, { value: '' })).rejects.toThrow(
      'value must be',
    );
    await expect(fanOutCount({} as never, config, { value: 'open' })).rejects.toThrow('client must be');
  });
});

test('plainItem converts every attribute type without loss', () => {
  interface Order {
    orderId: string;
    total: number;
  }
  const item: DynamoDbItem = {
    orderId: { S: 'o-1' },
    total: { N: '12.5' },
    exact: { N: '12345678901234567890' },
    bytes: { B: new Uint8Array([1]) },
    tags: { SS: ['a', 'b'] },
    sizes: { NS: ['1', '2'] },
    digests: { BS: [new Uint8Array([2])] },
    nested: { M: { list: { L: [{ BOOL: true }, { NULL: true }] } } },
  };
  const [order] = [item].map(plainItem<Order>);
  expect(order!.total).toBe(12.5);
  expect(order).toEqual({
    orderId: 'o-1',
    total: 12.5,
    exact: '12345678901234567890',
    bytes: new Uint8Array([1]),
    tags: new Set(['a', 'b']),
    sizes: new Set([1, 2]),
    digests: new Set([new Uint8Array([2])]),
    nested: { list: [true, null] },
  });
});

import {
  type DynamoDbItem,
  type FanOutItemsRequest,
  type FanOutReadOptions,
  fanOutItems,
  type IndexQueryInput,
  type IndexQueryOutput,
  InvalidArgumentError,
  InvalidSortKeyConditionError,
  type QueryClient,
  type ShardedIndexConfig,
  ShardsUnavailableError,
} from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { FakeIndex, type FakeIndexOptions } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

const configOf = (shards: number): ShardedIndexConfig =>
  indexConfig({
    indexName: 'byTime',
    shards: { default: { write: shards, read: shards } },
    strategy: 'random',
    valueAttribute: undefined,
  });

const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
const numberOf = ({ jobId }: DynamoDbItem): number => Number((jobId as { S: string }).S);
const inOrder = (numbers: number[]): number[] => [...numbers].sort((a, b) => a - b);
const shardOf = ({ ExpressionAttributeValues: values }: IndexQueryInput): number =>
  Number(values[Object.keys(values).find((placeholder) => placeholder.startsWith(':evenShards'))!].N);
const named = (name: string): Error => Object.assign(new Error(name), { name });
const throttle = (): Error => named('ProvisionedThroughputExceededException');

/** Jobs 0, 1, 2 and so on. Job n is in shard n modulo the number of shards. Responses take virtual time. */
class Jobs implements QueryClient {
  readonly clock = new VirtualClock();
  readonly sent: { shard: number; limit?: number; signal?: AbortSignal }[] = [];
  readonly index: FakeIndex;
  readonly config: ShardedIndexConfig;
  inFlight = 0;
  most = 0;

  constructor(
    readonly shards: number,
    readonly count: number,
    options: FakeIndexOptions = {},
    /** The response time in milliseconds, or the error instead of a response. */
    private readonly behave: (shard: number, nth: number) => number | Error = () => 1,
  ) {
    this.config = configOf(shards);
    this.index = new FakeIndex(this.config, options);
    for (const number of upTo(count)) this.index.put(this.job(number));
  }

  job(number: number): DynamoDbItem {
    return {
      jobId: { S: String(number) },
      createdAt: { N: String(number) },
      number: { N: String(number) },
      shard: { N: String(number % this.shards) },
    };
  }

  async query(input: IndexQueryInput, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<IndexQueryOutput> {
    const shard = shardOf(input);
    const nth = this.sent.filter((other) => other.shard === shard).length;
    this.sent.push({ shard, limit: input.Limit, signal: abortSignal });
    this.most = Math.max(this.most, ++this.inFlight);
    const behaviour = this.behave(shard, nth);
    await this.clock.sleep(typeof behaviour === 'number' ? behaviour : 1);
    this.inFlight -= 1;
    if (typeof behaviour !== 'number') throw behaviour;
    return this.index.query(input);
  }

  items(request: FanOutItemsRequest = {}, options: FanOutReadOptions = {}): AsyncGenerator<DynamoDbItem> {
    return fanOutItems(this, this.config, request, { clock: this.clock, random: () => 0.5, ...options });
  }

  /** The numbers of the items, and the error that ended the loop. */
  async read(request: FanOutItemsRequest = {}, options: FanOutReadOptions = {}) {
    const numbers: number[] = [];
    const reading = (async () => {
      for await (const item of this.items(request, options)) numbers.push(numberOf(item));
    })();
    const error = await this.clock.runUntil(reading.catch((thrown: unknown) => thrown));
    return { numbers, error };
  }

  next(stream: AsyncGenerator<DynamoDbItem>): Promise<IteratorResult<DynamoDbItem>> {
    return this.clock.runUntil(stream.next());
  }
}

describe('fanOutItems', () => {
  test('returns every matching item exactly once, in 100 random cases', async () => {
    for (const seed of upTo(100)) await checkRandomCase(seed);
  });

  async function checkRandomCase(seed: number): Promise<void> {
    const random = seededRandom(seed);
    const below = (count: number): number => Math.floor(random() * count);
    const jobs = new Jobs(
      1 + below(30),
      below(300),
      { pageItems: 1 + below(20), falseLastKeys: random() < 0.5 },
      () => 1 + below(50),
    );
    const from = below(200);
    const hidden = below(300);
    const limit = random() < 0.5 ? 1 + below(300) : undefined;
    const concurrency = 1 + below(12);
    const { numbers, error } = await jobs.read(
      {
        limit,
        sortKey: { gte: from },
        projection: ['jobId'],
        filterExpression: '#number <= :number',
        expressionAttributeNames: { '#number': 'number' },
        expressionAttributeValues: { ':number': { N: String(hidden) } },
      },
      { concurrency },
    );
    const due = upTo(jobs.count).filter((number) => number >= from && number <= hidden);
    expect(error).toBeUndefined();
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(due).toEqual(expect.arrayContaining(numbers));
    expect(numbers).toHaveLength(Math.min(due.length, limit ?? due.length));
    expect(jobs.most).toBeLessThanOrEqual(concurrency);
  }

  test('returns items in the order of arrival, so that a slow shard does not delay the others', async () => {
    const jobs = new Jobs(4, 100, { pageItems: 5 }, (shard) => (shard === 2 ? 1_000 : 1));
    const { numbers } = await jobs.read();
    expect(numbers.slice(0, 75).some((number) => number % 4 === 2)).toBe(false);
    expect(inOrder(numbers)).toEqual(upTo(100));
  });

  test('returns only the attributes of the projection', async () => {
    const jobs = new Jobs(2, 2);
    const { value } = await jobs.next(jobs.items({ projection: ['createdAt'] }));
    expect(value).toEqual({ createdAt: { N: '0' } });
  });

  test('returns an item once, even if two shards contain the item', async () => {
    const jobs = new Jobs(4, 100, { pageItems: 5 });
    for (const number of [10, 50, 90]) jobs.index.putStray({ ...jobs.job(number), shard: { N: '3' } });
    expect(inOrder((await jobs.read()).numbers)).toEqual(upTo(100));
  });
});

describe('fanOutItems – the consumer', () => {
  test('sends no request before the consumer requests an item', async () => {
    const jobs = new Jobs(4, 100);
    const stream = jobs.items();
    await stream.return(undefined);
    expect(jobs.sent).toEqual([]);
  });

  test('pauses while the consumer takes no items, and buffers one page for each parallel request', async () => {
    const jobs = new Jobs(10, 1_000, { pageItems: 5 });
    const stream = jobs.items({}, { concurrency: 3 });
    await jobs.next(stream);
    await jobs.clock.runOut();
    expect(jobs.sent).toHaveLength(4);
    for (let taken = 1; taken <= 5; taken++) await jobs.next(stream);
    await jobs.clock.runOut();
    expect(jobs.sent).toHaveLength(5);
  });

  test('aborts the requests in flight when the consumer leaves the loop', async () => {
    const jobs = new Jobs(4, 100, { pageItems: 5 }, (shard) => (shard === 0 ? 1 : 1_000));
    const stream = jobs.items();
    await jobs.next(stream);
    await stream.return(undefined);
    expect(jobs.sent.map(({ shard, signal }) => [shard, signal?.aborted])).toEqual([
      [0, false],
      [1, true],
      [2, true],
      [3, true],
      [0, true],
    ]);
    await jobs.clock.runOut();
    expect(jobs.sent).toHaveLength(5);
  });

  test('reads no more items than the limit', async () => {
    const jobs = new Jobs(10, 1_000);
    const { numbers } = await jobs.read({ limit: 200 });
    expect(numbers).toHaveLength(200);
    expect(jobs.sent.map(({ limit }) => limit)).toEqual(Array(10).fill(20));
  });

  test('reads more items from the other shards if one shard has fewer items than its part of the limit', async () => {
    const jobs = new Jobs(2, 10);
    for (const number of upTo(100)) jobs.index.put({ ...jobs.job(1_000 + number), shard: { N: '0' } });
    const { numbers } = await jobs.read({ limit: 50 });
    expect(numbers).toHaveLength(50);
  });
});

describe('fanOutItems – a shard fails', () => {
  test('throws the error of the shard after the last attempt has failed', async () => {
    const jobs = new Jobs(4, 100, {}, (shard) => (shard === 2 ? throttle() : 1));
    const { error } = await jobs.read({}, { attempts: 3 });
    expect(error).toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    expect(jobs.sent.filter(({ shard }) => shard === 2)).toHaveLength(3);
    expect(jobs.inFlight).toBe(0);
  });

  test('reads all items of the other shards before it throws, with onShardFailure "partial"', async () => {
    const jobs = new Jobs(4, 100, { pageItems: 5 }, (shard, nth) => (shard === 2 && nth > 0 ? throttle() : 1));
    const { numbers, error } = await jobs.read({}, { onShardFailure: 'partial', attempts: 2 });
    const due = upTo(100).filter((number) => number % 4 !== 2 || number < 20);
    expect(inOrder(numbers)).toEqual(due);
    expect(error).toBeInstanceOf(ShardsUnavailableError);
    expect(error).toMatchObject({ shards: [2] });
  });

  test.each(['fail', 'partial'] as const)(
    'throws an error that names all shards if it cannot read any shard, with onShardFailure %s',
    async (onShardFailure) => {
      const jobs = new Jobs(3, 100, {}, () => 1_000);
      const { numbers, error } = await jobs.read({}, { onShardFailure, deadlineMs: 100 });
      expect(numbers).toEqual([]);
      expect(error).toMatchObject({ name: 'ShardsUnavailableError', shards: [0, 1, 2] });
      expect(jobs.clock.now()).toBe(100);
      expect(jobs.sent.every(({ signal }) => signal?.aborted)).toBe(true);
    },
  );
});

describe('fanOutItems with a deadline', () => {
  test('throws an error that names the shards with unread items', async () => {
    const jobs = new Jobs(4, 100, { pageItems: 13 }, (shard, nth) => (shard === 1 && nth > 0 ? 1_000 : 1));
    const { numbers, error } = await jobs.read({}, { deadlineMs: 50 });
    expect(inOrder(numbers)).toEqual(upTo(100).filter((number) => number % 4 !== 1 || number < 52));
    expect(error).toMatchObject({ name: 'ShardsUnavailableError', shards: [1] });
  });
});

describe('fanOutItems – invalid input', () => {
  test.each<[object, string]>([
    [{ order: 'ascending' }, 'order must be absent because a stream is unordered, got "ascending"'],
    [{ cursor: 'abc' }, 'cursor must be absent because a stream has no pages, got "abc"'],
    [{ limit: 0 }, 'limit must be a whole number of at least 1, got 0'],
  ])('rejects %j before it reads', (request, message) => {
    const jobs = new Jobs(2, 2);
    expect(() => jobs.items(request)).toThrow(InvalidArgumentError);
    expect(() => jobs.items(request)).toThrow(message);
  });

  test('rejects an invalid condition and an invalid concurrency', () => {
    const jobs = new Jobs(2, 2);
    expect(() => jobs.items({ sortKey: { eq: '' } })).toThrow(InvalidSortKeyConditionError);
    expect(() => jobs.items({}, { concurrency: 0 })).toThrow('concurrency must be a whole number of at least 1');
  });
});

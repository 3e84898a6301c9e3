import {
  type DynamoDbItem,
  type FanOutItemsRequest,
  type FanOutReadOptions,
  fanOutItems,
  InvalidArgumentError,
  InvalidSortKeyConditionError,
  ShardsUnavailableError,
} from '../../../../../lib/core';
import { JobsIndex, numbersOf, throttle, upTo } from '../../../../support/fakes/jobs-index';

const inOrder = (numbers: number[]): number[] => [...numbers].sort((a, b) => a - b);

class Jobs extends JobsIndex {
  items(request: FanOutItemsRequest = {}, options: FanOutReadOptions = {}): AsyncGenerator<DynamoDbItem> {
    return fanOutItems(this, this.config, request, { clock: this.clock, random: () => 0.5, ...options });
  }

  /** The numbers of the items, and the error that ended the loop. */
  async read(request: FanOutItemsRequest = {}, options: FanOutReadOptions = {}) {
    const numbers: number[] = [];
    const reading = (async () => {
      for await (const item of this.items(request, options)) numbers.push(...numbersOf([item]));
    })();
    const error = await this.clock.runUntil(reading.catch((thrown: unknown) => thrown));
    return { numbers, error };
  }

  next(stream: AsyncGenerator<DynamoDbItem>): Promise<IteratorResult<DynamoDbItem>> {
    return this.clock.runUntil(stream.next());
  }
}

describe('fanOutItems', () => {
  test('returns items in the order of arrival, so that a slow shard does not delay the others', async () => {
    const jobs = new Jobs((shard) => (shard === 2 ? 1_000 : 1), { pageItems: 5 });
    const { numbers } = await jobs.read();
    expect(numbers.slice(0, 75).some((number) => number % 4 === 2)).toBe(false);
    expect(inOrder(numbers)).toEqual(upTo(100));
  });

  test('returns only the attributes of the projection', async () => {
    const jobs = new Jobs(undefined, { shards: 2, count: 2 });
    const { value } = await jobs.next(jobs.items({ projection: ['createdAt'] }));
    expect(value).toEqual({ createdAt: { N: '0' } });
  });

  test('returns an item once, even if two shards contain the item', async () => {
    const jobs = new Jobs(undefined, { pageItems: 5 });
    for (const number of [10, 50, 90]) jobs.index.putStray(jobs.job(number, 3));
    expect(inOrder((await jobs.read()).numbers)).toEqual(upTo(100));
  });
});

describe('fanOutItems – the consumer', () => {
  test('sends no request before the consumer requests an item', async () => {
    const jobs = new Jobs();
    const stream = jobs.items();
    await stream.return(undefined);
    expect(jobs.sent).toEqual([]);
  });

  test('pauses while the consumer takes no items, and buffers one page for each parallel request', async () => {
    const jobs = new Jobs(undefined, { shards: 10, count: 1_000, pageItems: 5 });
    const stream = jobs.items({}, { concurrency: 3 });
    await jobs.next(stream);
    await jobs.clock.runOut();
    expect(jobs.sent).toHaveLength(4);
    for (let taken = 1; taken <= 5; taken++) await jobs.next(stream);
    await jobs.clock.runOut();
    expect(jobs.sent).toHaveLength(5);
  });

  test('aborts the requests in flight when the consumer leaves the loop', async () => {
    const jobs = new Jobs((shard) => (shard === 0 ? 1 : 1_000), { pageItems: 5 });
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
    const jobs = new Jobs(undefined, { shards: 10, count: 1_000 });
    const { numbers } = await jobs.read({ limit: 200 });
    expect(numbers).toHaveLength(200);
    expect(jobs.sent.map(({ limit }) => limit)).toEqual(Array(10).fill(20));
  });

  test('reads more items from the other shards if one shard has fewer items than its part of the limit', async () => {
    const jobs = new Jobs(undefined, { shards: 2, count: 10 });
    for (const number of upTo(100)) jobs.index.put(jobs.job(1_000 + number, 0));
    const { numbers } = await jobs.read({ limit: 50 });
    expect(numbers).toHaveLength(50);
  });
});

describe('fanOutItems – a shard fails', () => {
  test('throws the error of the shard after the last attempt has failed', async () => {
    const jobs = new Jobs((shard) => (shard === 2 ? throttle() : 1));
    const { error } = await jobs.read({}, { attempts: 3 });
    expect(error).toMatchObject({ name: 'ProvisionedThroughputExceededException' });
    expect(jobs.sent.filter(({ shard }) => shard === 2)).toHaveLength(3);
    expect(jobs.inFlight).toBe(0);
  });

  test('reads all items of the other shards before it throws, with onShardFailure "partial"', async () => {
    const jobs = new Jobs((shard, nth) => (shard === 2 && nth > 0 ? throttle() : 1), { pageItems: 5 });
    const { numbers, error } = await jobs.read({}, { onShardFailure: 'partial', attempts: 2 });
    const due = upTo(100).filter((number) => number % 4 !== 2 || number < 20);
    expect(inOrder(numbers)).toEqual(due);
    expect(error).toBeInstanceOf(ShardsUnavailableError);
    expect(error).toMatchObject({ shards: [2] });
  });

  test.each(['fail', 'partial'] as const)(
    'throws an error that names all shards if it cannot read any shard, with onShardFailure %s',
    async (onShardFailure) => {
      const jobs = new Jobs(() => 1_000, { shards: 3 });
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
    const jobs = new Jobs((shard, nth) => (shard === 1 && nth > 0 ? 1_000 : 1), { pageItems: 13 });
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
    const jobs = new Jobs(undefined, { shards: 2, count: 2 });
    expect(() => jobs.items(request)).toThrow(InvalidArgumentError);
    expect(() => jobs.items(request)).toThrow(message);
  });

  test('rejects an invalid condition and an invalid concurrency', () => {
    const jobs = new Jobs(undefined, { shards: 2, count: 2 });
    expect(() => jobs.items({ sortKey: { eq: '' } })).toThrow(InvalidSortKeyConditionError);
    expect(() => jobs.items({}, { concurrency: 0 })).toThrow('concurrency must be a whole number of at least 1');
  });
});

import {
  FanOutHistory,
  type FanOutOptions,
  type FanOutPage,
  type FanOutRequest,
  fanOutQuery,
  InvalidArgumentError,
  ShardsUnavailableError,
} from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { allPages } from '../../../../support/all-pages';
import { JobsIndex, numbersOf, throttle, upTo } from '../../../../support/fakes/jobs-index';

const SHARDS = 4;
const numbers = ({ items }: FanOutPage): number[] => numbersOf(items);
const named = (name: string): Error => Object.assign(new Error(name), { name });

class Unreliable extends JobsIndex {
  page(options: FanOutOptions = {}, request: FanOutRequest = {}): Promise<FanOutPage> {
    const all = { clock: this.clock, random: () => 0.5, ...options };
    return this.clock.runUntil(fanOutQuery(this, this.config, { limit: 10, ...request }, all));
  }
}

describe('fanOutQuery – a shard fails', () => {
  test('sends the request to a throttled shard again, with doubling delays', async () => {
    const client = new Unreliable((shard, nth) => (shard === 2 && nth < 3 ? throttle() : 1));
    const page = await client.page();
    expect(numbers(page)).toEqual(upTo(10));
    expect(page.stats).toMatchObject({ requests: 7, throttled: 3, waves: 1 });
    expect(client.sent.filter(({ shard }) => shard === 2).map(({ atMs }) => atMs)).toEqual([0, 26, 77, 178]);
  });

  test.each([
    named('InternalServerError'),
    named('TimeoutError'),
    Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }),
    Object.assign(new Error('bad gateway'), { $metadata: { httpStatusCode: 502 } }),
  ])('retries the shard after %p', async (error) => {
    const client = new Unreliable((shard, nth) => (shard === 2 && nth === 0 ? error : 1));
    const page = await client.page();
    expect(numbers(page)).toEqual(upTo(10));
    expect(page.stats).toMatchObject({ requests: 5, throttled: 0 });
  });

  test.each([
    [3, { attempts: 3 }],
    [5, {}],
  ])('throws the error of the shard after %d attempts with the options %j', async (attempts, options) => {
    const client = new Unreliable((shard) => (shard === 2 ? throttle() : 1));
    await expect(client.page(options)).rejects.toThrow('slow down');
    expect(client.sent.filter(({ shard }) => shard === 2)).toHaveLength(attempts);
  });

  test.each(['fail', 'partial'] as const)(
    'after the first attempt, throws an error that a retry cannot fix, with onShardFailure %s',
    async (policy) => {
      const client = new Unreliable((shard) => (shard === 2 ? named('ValidationException') : 5));
      await expect(client.page({ onShardFailure: policy })).rejects.toThrow('ValidationException');
      expect(client.sent).toHaveLength(SHARDS);
      expect(client.sent.filter(({ signal }) => !signal?.aborted)).toHaveLength(1);
    },
  );

  test('names the failed shard on a partial page, and writes a cursor after the items of the page', async () => {
    const client = new Unreliable((shard) => (shard === 2 ? throttle() : 1));
    const partial = await client.page({ onShardFailure: 'partial', attempts: 2 });
    expect(numbers(partial)).toEqual([0, 1, 3, 4, 5, 7, 8, 9, 11, 12]);
    expect(partial.missingShards).toEqual([2]);

    const recovered = await new Unreliable().page({ onShardFailure: 'partial' }, { cursor: partial.cursor });
    expect(numbers(recovered)).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21, 22]);
    expect(recovered).not.toHaveProperty('missingShards');
  });

  test('throws if all shards fail, even with onShardFailure "partial"', async () => {
    const client = new Unreliable(throttle);
    const query = client.page({ onShardFailure: 'partial', attempts: 2 });
    await expect(query).rejects.toThrow(ShardsUnavailableError);
  });
});

describe('fanOutQuery with a deadline', () => {
  test('returns the items whose order is certain at the deadline, with a cursor after these items', async () => {
    // Shard 1 responds only to its first read, with two jobs. The order of later jobs is therefore not certain.
    const client = new Unreliable((shard, nth) => (shard === 1 && nth > 0 ? 1_000 : 1), { pageItems: 2 });
    const page = await client.page({ deadlineMs: 100 });
    expect(numbers(page)).toEqual(upTo(6));
    expect(page).not.toHaveProperty('missingShards');
    expect(client.clock.now()).toBe(100);

    const next = await new Unreliable().page({}, { cursor: page.cursor });
    expect(numbers(next)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
  });

  test.each(['ascending', 'descending', 'unordered'] as const)(
    'ends an %s page whose filter removes all items, with a cursor after the items that it has read',
    async (order) => {
      const filtered = {
        order,
        filterExpression: '#number = :number',
        expressionAttributeNames: { '#number': 'number' },
        expressionAttributeValues: { ':number': { N: '50' } },
      };
      const pages = await allPages(async (cursor) => {
        const client = new Unreliable(() => 30, { pageItems: 2 });
        const page = await client.page({ deadlineMs: 100 }, { ...filtered, cursor });
        expect(client.clock.now()).toBeLessThanOrEqual(100);
        return page;
      });
      expect(pages.flatMap(numbers)).toEqual([50]);
      expect(pages.filter(({ items }) => items.length === 0).length).toBeGreaterThan(1);
      const read = pages.reduce((sum, { stats }) => sum + stats.itemsRead, 0);
      expect(read).toBeLessThan(200);
    },
  );

  test('returns a partial page of the shards that responded, with onShardFailure "partial"', async () => {
    const client = new Unreliable((shard) => (shard === 1 ? 1_000 : 1));
    const page = await client.page({ deadlineMs: 100, onShardFailure: 'partial' });
    expect(numbers(page)).toEqual([0, 2, 3, 4, 6, 7, 8, 10, 11, 12]);
    expect(page.missingShards).toEqual([1]);
    expect(client.sent).toHaveLength(SHARDS);
  });
});

test('fanOutQuery – a page ends before its deadline – leaves no timer, which would keep the process running', async () => {
  const client = new Unreliable();
  await client.page({ deadlineMs: 60_000 });
  await client.clock.runOut();
  expect(client.clock.now()).toBe(1);
});

describe('fanOutQuery with hedgeBudget', () => {
  /** A history of 200 responses that took 1 to 10 ms. The hedge budget allows two hedges. */
  function history(): FanOutHistory {
    const seen = new FanOutHistory();
    for (let number = 0; number < 200; number++) seen.observeLatency(1 + (number % 10), 0.01);
    return seen;
  }

  test('sends a late request again and aborts the slower of the two requests', async () => {
    const client = new Unreliable((shard, nth) => (shard === 3 && nth === 0 ? 500 : 2));
    const page = await client.page({ history: history(), hedgeBudget: 0.01 });
    expect(numbers(page)).toEqual(upTo(10));
    expect(page.stats).toMatchObject({ requests: 5, hedged: 1 });
    expect(client.clock.now()).toBe(17);
    expect(client.sent[3]!.signal?.aborted).toBe(true);
    expect(client.sent[4]).toMatchObject({ shard: 3, atMs: 15 });
  });

  test('waits before it hedges a request until the share of slower earlier requests is within the hedge budget', async () => {
    const seen = new FanOutHistory();
    for (let number = 0; number < 200; number++) seen.observeLatency(number % 20 === 0 ? 40 : 2, 0.01);
    const client = new Unreliable((shard, nth) => (shard === 3 && nth === 0 ? 500 : 2));
    await client.page({ history: seen, hedgeBudget: 0.01 });
    expect(client.sent[4]).toMatchObject({ shard: 3, atMs: 40 });
  });

  test('uses the late response if the hedge request fails', async () => {
    const client = new Unreliable((shard, nth) => (shard !== 3 ? 2 : nth === 0 ? 50 : named('InternalServerError')));
    const page = await client.page({ history: history(), hedgeBudget: 0.01 });
    expect(numbers(page)).toEqual(upTo(10));
    expect(client.clock.now()).toBe(50);
  });

  test('waits for a late response if the hedge budget is used up', async () => {
    const client = new Unreliable((_, nth) => (nth === 0 ? 100 : 2));
    const page = await client.page({ history: history(), hedgeBudget: 0.01 });
    expect(page.stats).toMatchObject({ requests: 6, hedged: 2 });
    expect(client.clock.now()).toBe(100);
  });

  test('does not hedge a late request to a throttled shard', async () => {
    const client = new Unreliable((shard, nth) => (shard !== 3 ? 2 : nth === 0 ? throttle() : 100));
    const page = await client.page({ history: history(), hedgeBudget: 0.01 });
    expect(page.stats).toMatchObject({ requests: 5, throttled: 1, hedged: 0 });
  });

  test('does not hedge a late request until it has measured 100 latencies', async () => {
    const seen = new FanOutHistory();
    for (let number = 0; number < 50; number++) seen.observeLatency(1, 0.1);
    const client = new Unreliable((shard) => (shard === 3 ? 500 : 2));
    const page = await client.page({ history: seen, hedgeBudget: 0.1 });
    expect(page.stats.hedged).toBe(0);
  });

  test('hedges at most the budgeted share of requests, even if many responses are late', async () => {
    const random = seededRandom(7);
    const client = new Unreliable(() => (random() < 0.3 ? 50 + 100 * random() : 2));
    const shared = new FanOutHistory();
    const total = { requests: 0, hedged: 0 };
    for (let round = 0; round < 200; round++) {
      const { stats } = await client.page({ history: shared, hedgeBudget: 0.02 });
      total.requests += stats.requests;
      total.hedged += stats.hedged;
    }
    expect(total.hedged).toBeGreaterThan(0);
    expect(total.hedged).toBeLessThanOrEqual(0.02 * total.requests);
  });
});

describe('fanOutQuery with concurrency', () => {
  test('sends at most 50 requests in parallel by default', async () => {
    const client = new Unreliable(undefined, { shards: 60 });
    await client.page({}, { limit: undefined });
    expect(client.most).toBe(50);
  });

  test.each([1, 3, 4, 50])('sends at most %d requests in parallel', async (concurrency) => {
    const client = new Unreliable();
    expect(numbers(await client.page({ concurrency }))).toEqual(upTo(10));
    expect(client.most).toBe(Math.min(concurrency, SHARDS));
  });
});

describe('fanOutQuery – invalid options', () => {
  test.each<[FanOutOptions, string]>([
    [null as never, 'options must be an object, got'],
    [{ maxPageBytes: 0 }, 'maxPageBytes must be'],
    [{ concurrency: 0 }, 'concurrency must be a whole number of at least 1, got 0'],
    [{ attempts: 1.5 }, 'attempts must be a whole number of at least 1, got 1.5'],
    [{ deadlineMs: -1 }, 'deadlineMs must be a number of milliseconds of at least 0, got -1'],
    [{ backoffBaseMs: Number.NaN }, 'backoffBaseMs must be a number of milliseconds of at least 0, got NaN'],
    [{ onShardFailure: 'ignore' as never }, 'onShardFailure must be fail or partial, got "ignore"'],
    [{ backoffCapMs: -1 }, 'backoffCapMs must be a number of milliseconds of at least 0, got -1'],
    [{ hedgeBudget: 0.11 }, 'hedgeBudget must be a share of the requests, from 0 to 0.1, got 0.11'],
    [{ history: {} as never }, 'history must be a FanOutHistory with sizesOf, got {}'],
    [{ random: 0.5 as never }, 'random must be a function, got 0.5'],
    [{ clock: { now: () => 0 } as never }, 'clock must be a clock with now, schedule, sleep, got '],
    [{ hedgeBudget: 0.01 }, 'history must be a FanOutHistory if hedgeBudget is greater than 0, got undefined'],
  ])('rejects %j before it reads', async (options, message) => {
    const client = new Unreliable();
    const query = fanOutQuery(client, client.config, {}, options);
    await expect(query).rejects.toThrow(InvalidArgumentError);
    await expect(query).rejects.toThrow(message);
    expect(client.sent).toHaveLength(0);
  });
});

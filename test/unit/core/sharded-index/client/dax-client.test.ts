import {
  cachedQueryClient,
  fanOutQuery,
  findStrays,
  type IndexQueryInput,
  type IndexQueryOutput,
  type QueryClient,
} from '../../../../../lib/core';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

/** Simulated clients that have the methods of the DAX clients. `npm run conformance dax` tests the real clients. */

const config = indexConfig({
  indexName: 'byTime',
  keyLayout: 'single-attribute',
  shards: { default: { write: 2, read: 2 } },
  strategy: 'random',
  valueAttribute: undefined,
});

class Dax implements QueryClient {
  readonly failures: object[] = [];

  constructor(protected readonly index: FakeIndex) {}

  /** Accepts one argument, because the DAX client ignores other arguments. */
  async query(input: IndexQueryInput): Promise<IndexQueryOutput> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw Object.assign(new Error('failed'), failure);
    return this.index.query(input);
  }

  batchGetItem(): void {}
}

class DaxDocument extends Dax {
  override async query(): Promise<IndexQueryOutput> {
    throw new Error('query must not return plain objects');
  }

  batchGet(): void {}

  scan(): void {}
}

function jobs(): FakeIndex {
  const index = new FakeIndex(config);
  for (let number = 0; number < 10; number++) {
    index.put({
      jobId: { S: `job-${number}` },
      createdAt: { N: String(number) },
      shard: { N: String(number % 2) },
    });
  }
  return index;
}

describe('fan-out queries with a DAX client', () => {
  test.each([
    ['the low-level client', Dax],
    ['the document client, with the query method of the low-level client', DaxDocument],
  ])('fanOutQuery returns the items of the index: %s', async (_, Client) => {
    const { items } = await fanOutQuery(new Client(jobs()), config, { limit: 4 });
    expect(items.map(({ jobId }) => jobId)).toEqual([0, 1, 2, 3].map((number) => ({ S: `job-${number}` })));
  });

  test('cachedQueryClient accepts a DAX client', async () => {
    const kept = new Map<string, string>();
    const { items } = await fanOutQuery(cachedQueryClient(new DaxDocument(jobs()), kept as never), config, {
      limit: 4,
    });
    expect(items).toHaveLength(4);
    expect(kept.size).toBe(2);
  });

  test.each([
    ['a throttled request', { code: 'ProvisionedThroughputExceededException', statusCode: 400 }],
    ['a throttled account', { code: 'RequestLimitExceeded' }],
    ['a service error', { code: 'InternalServerErrorException' }],
    ['an error with an unknown code', { code: undefined, statusCode: 503 }],
    ['a lost connection', { code: 'ConnectionException' }],
    ['an unreachable node', { code: 'NoRouteException' }],
  ])('fanOutQuery retries after %s, which DAX reports by an error code', async (_, failure) => {
    const dax = new Dax(jobs());
    dax.failures.push(failure, failure);
    const page = await fanOutQuery(dax, config, { limit: 4 }, { backoffBaseMs: 0 });
    expect(page.items).toHaveLength(4);
    expect(page.stats.requests).toBeGreaterThan(3);
  });

  test('findStrays rejects the DAX document client, because its scan returns plain objects', async () => {
    await expect(findStrays(new DaxDocument(jobs()) as never, config)).rejects.toThrow(
      'client must be a client with scan',
    );
  });
});

import {
  cachedQueryClient,
  fanOutQuery,
  findStrays,
  type IndexQueryInput,
  type IndexQueryOutput,
  type QueryClient,
} from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

/** Clients with the shape of those of DAX. `npm run conformance dax` asks the real ones. */

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

  /** DAX ignores whatever stands behind the input. */
  async query(input: IndexQueryInput): Promise<IndexQueryOutput> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw Object.assign(new Error('failed'), failure);
    return this.index.query(input);
  }

  batchGetItem(): void {}
}

class DaxDocument extends Dax {
  override async query(): Promise<IndexQueryOutput> {
    throw new Error('asked for plain objects');
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

describe('a client of DAX', () => {
  test.each([
    ['the plain one', Dax],
    ['the document client, whose query of attribute values is that of the plain one', DaxDocument],
  ])('answers a fan-out query: %s', async (_, Client) => {
    const { items } = await fanOutQuery(new Client(jobs()), config, { limit: 4 });
    expect(items.map(({ jobId }) => jobId)).toEqual([0, 1, 2, 3].map((number) => ({ S: `job-${number}` })));
  });

  test('can have a cache in front', async () => {
    const kept = new Map<string, string>();
    const { items } = await fanOutQuery(cachedQueryClient(new DaxDocument(jobs()), kept as never), config, {
      limit: 4,
    });
    expect(items).toHaveLength(4);
    expect(kept.size).toBe(2);
  });

  test.each([
    ['a throttle', { code: 'ProvisionedThroughputExceededException', statusCode: 400 }],
    ['a throttle of the account', { code: 'RequestLimitExceeded' }],
    ['a failure of the service', { code: 'InternalServerErrorException' }],
    ['a failure without a known code', { code: undefined, statusCode: 503 }],
    ['a lost connection', { code: 'ConnectionException' }],
    ['a node that is gone', { code: 'NoRouteException' }],
  ])('is asked again after %s, which it tells by a code', async (_, failure) => {
    const dax = new Dax(jobs());
    dax.failures.push(failure, failure);
    const page = await fanOutQuery(dax, config, { limit: 4 }, { backoffBaseMs: 0 });
    expect(page.items).toHaveLength(4);
    expect(page.stats.requests).toBeGreaterThan(3);
  });

  test('is not asked again after what no attempt overcomes', async () => {
    const dax = new Dax(jobs());
    dax.failures.push({ code: 'ValidationException', statusCode: 400 });
    await expect(fanOutQuery(dax, config, { limit: 4 })).rejects.toMatchObject({ code: 'ValidationException' });
  });

  test('does not hold up a page beyond its deadline, though it aborts no request', async () => {
    const clock = new VirtualClock();
    const silent = new (class extends Dax {
      override query(input: IndexQueryInput): Promise<IndexQueryOutput> {
        return JSON.stringify(input.ExpressionAttributeValues).includes('"1"')
          ? new Promise(() => {})
          : super.query(input);
      }
    })(jobs());
    const page = fanOutQuery(silent, config, {}, { clock, deadlineMs: 500, onShardFailure: 'partial' });
    await clock.runUntil(page);
    expect(await page).toMatchObject({ missingShards: [1] });
  });

  test('finds no strays: its document client scans into plain objects', async () => {
    await expect(findStrays(new DaxDocument(jobs()) as never, config)).rejects.toThrow(
      'client must be a client with scan',
    );
  });
});

import {
  type DynamoDbItem,
  type FanOutRequest,
  fanOutQuery,
  InvalidArgumentError,
  type QueryClient,
} from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

const KILOBYTE = 1_000;

function filled(shards: number, count: number, bytes: number): FakeIndex {
  const index = new FakeIndex(timeIndex(shards));
  const random = seededRandom(7);
  const pad = 'x'.repeat(bytes);
  for (let number = 0; number < count; number++) {
    index.put({
      id: { S: `item-${String(number).padStart(6, '0')}` },
      at: { N: String(number) },
      shard: { N: String(Math.floor(random() * shards)) },
      pad: { S: pad },
      rare: { S: number % 1_000 === 500 ? 'yes' : 'no' },
    });
  }
  return index;
}

/** Collects garbage, and counts which of the items that a client has answered are still held. */
class HeldItems implements QueryClient {
  most = 0;
  private items: WeakRef<DynamoDbItem>[] = [];
  private answers = 0;

  constructor(private readonly index: FakeIndex) {}

  async query(input: Parameters<QueryClient['query']>[0]) {
    const answer = await this.index.query(input);
    // Items of the index's own live as long as it does; a copy of them lives as long as somebody holds it.
    const copies = answer.Items!.map((item) => ({ ...item }));
    this.items.push(...copies.map((copy) => new WeakRef(copy)));
    this.answers += 1;
    if (this.answers % 100 === 0) await this.count();
    return { ...answer, Items: copies };
  }

  private async count(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    (globalThis as { gc?: () => void }).gc?.();
    this.items = this.items.filter((item) => item.deref() !== undefined);
    this.most = Math.max(this.most, this.items.length);
  }
}

describe('the memory of a page', () => {
  test('is that of the page and of the answers in flight, at 1,000 shards of items of 400 kB', async () => {
    require('node:v8').setFlagsFromString('--expose-gc');
    (globalThis as { gc?: unknown }).gc ??= require('node:vm').runInNewContext('gc');
    const client = new HeldItems(filled(1_000, 3_000, 400 * KILOBYTE));
    const { items, stats } = await fanOutQuery(client, timeIndex(1_000), { limit: 12 });
    expect(items.map(({ at }) => at)).toEqual(Array.from({ length: 12 }, (_, at) => ({ N: String(at) })));
    // 12 of the page, half as many until the end is looked for again, and two for each of 50 requests in flight.
    expect(client.most).toBeLessThanOrEqual(12 + 6 + 2 * 50);
    expect(stats.itemsRead).toBeLessThan(300);
  });
});

describe('maxReadUnits', () => {
  const pagesOf = async (index: FakeIndex, shards: number, request: FanOutRequest) => {
    const pages: Awaited<ReturnType<typeof fanOutQuery>>[] = [];
    let cursor: string | undefined;
    do {
      pages.push(await fanOutQuery(index, timeIndex(shards), { ...request, cursor }));
      cursor = pages.at(-1)!.cursor;
    } while (cursor !== undefined);
    return pages;
  };
  const rare: FanOutRequest = {
    filterExpression: '#rare = :yes',
    expressionAttributeNames: { '#rare': 'rare' },
    expressionAttributeValues: { ':yes': { S: 'yes' } },
  };

  test.each(['ascending', 'descending', 'unordered'] as const)(
    'ends an %s page whose filter hides nearly all, and the next pages find the rest',
    async (order) => {
      const pages = await pagesOf(filled(5, 10_000, 200), 5, { ...rare, order, limit: 10, maxReadUnits: 20 });
      for (const { stats } of pages) expect(stats.consumedReadUnits).toBeLessThanOrEqual(20);
      const found = pages.flatMap(({ items }) => items.map(({ id }) => (id as { S: string }).S));
      expect(found.toSorted()).toEqual(
        Array.from({ length: 10 }, (_, n) => `item-${String(n * 1_000 + 500).padStart(6, '0')}`),
      );
      expect(pages.length).toBeGreaterThan(5);
      const hidden = pages.reduce((sum, { stats }) => sum + stats.itemsHidden, 0);
      expect(hidden).toBeGreaterThanOrEqual(9_990);
    },
  );

  test('always lets a page go on, however few the units are', async () => {
    const pages = await pagesOf(filled(5, 300, 2_000), 5, { limit: 100, maxReadUnits: 0.1 });
    expect(pages.flatMap(({ items }) => items)).toHaveLength(300);
    expect(Math.max(...pages.map(({ stats }) => stats.consumedReadUnits))).toBeLessThanOrEqual(2.5);
  });

  test.each([0, -1, Number.NaN, '5', null])('must be a number greater than 0: %p', async (maxReadUnits) => {
    const page = fanOutQuery(filled(5, 1, 1), timeIndex(5), { maxReadUnits } as never);
    await expect(page).rejects.toThrow(InvalidArgumentError);
    await expect(page).rejects.toThrow('maxReadUnits must be a number of read units greater than 0');
  });
});

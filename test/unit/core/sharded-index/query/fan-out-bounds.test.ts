import { type FanOutRequest, fanOutQuery, InvalidArgumentError } from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { HeldItems } from '../../../../support/fakes/held-items';
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

describe('the memory of a page', () => {
  test('is that of the page and of the answers in flight, at 1,000 shards of items of 400 kB', async () => {
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

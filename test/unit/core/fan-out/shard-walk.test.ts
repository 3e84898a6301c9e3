import { ShardsUnavailableError } from '../../../../lib/core/fan-out/fan-out-errors';
import { noCost } from '../../../../lib/core/fan-out/fan-out-stats';
import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { type PageBounds, PageInProgress } from '../../../../lib/core/fan-out/page-in-progress';
import { ReadBudget } from '../../../../lib/core/fan-out/read-budget';
import { readPolicy } from '../../../../lib/core/fan-out/read-policy';
import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';
import { ShardRequests } from '../../../../lib/core/fan-out/shard-requests';
import { shardWalk } from '../../../../lib/core/fan-out/shard-walk';

/** The shards that each wave of a page asks, and whether items may follow the page. Each shard has so many items, and an answer has at most `most` of them. */
async function walk(
  shards: number[],
  bounds: PageBounds<number>,
  { most = 1_000, maxReadUnits = undefined as number | undefined, isOver = false } = {},
) {
  const stats = noCost(shards.length);
  const sizes = new ItemSizes();
  const waves: number[][] = [];
  const buffers = shards.map((count, shard) => {
    const read = async ({ from = 0, limit: wanted = count }: { from?: unknown; limit?: number }) => {
      waves[stats.waves - 1] = [...(waves[stats.waves - 1] ?? []), shard];
      const end = Math.min(count, (from as number) + Math.min(wanted, most));
      const items = Array.from({ length: end - (from as number) }, (_, item) => item);
      const next = end < count ? end : undefined;
      return { items, next, itemsRead: items.length, consumedReadUnits: 0.5, itemSizes: [] };
    };
    return new ShardBuffer<number>({ shard, exhausted: false, read }, shards.length);
  });
  const requests = new ShardRequests(buffers, readPolicy({}), { stats, sizes, failureOf: () => 'final' });
  const budget = new ReadBudget(maxReadUnits, 0.5, stats, sizes, false);
  if (isOver) requests.close();
  const more = await shardWalk(buffers, new PageInProgress<number>(bounds), sizes, requests, budget);
  requests.close();
  return { waves, more };
}

describe('a page that goes from shard to shard', () => {
  test.each([
    ['one that has all', [9, 9, 9, 9], 9, [[0]]],
    [
      'twice as many with each wave while they are empty',
      Array<number>(9).fill(0),
      1,
      [[0], [1, 2], [3, 4, 5, 6], [7, 8]],
    ],
    ['as many as it most likely needs', [1, 1, 1, 1], 2, [[0], [1]]],
    ['one more where that is not enough', [1, 1, 1, 1], 3, [[0], [1, 2]]],
    ['twice as many while they have little', Array<number>(7).fill(1), 7, [[0], [1, 2], [3, 4, 5, 6]]],
    ['all at once without a bound', [1, 1, 0, 1], undefined, [[0, 1, 2, 3]]],
  ])('asks %s', async (_, shards, limit, waves) => {
    expect((await walk(shards, { limit })).waves).toEqual(waves);
  });

  test('asks the next one, too, where an answer does not hold all that was wanted', async () => {
    expect((await walk([9, 9, 9], { limit: 10 }, { most: 2 })).waves.slice(0, 2)).toEqual([[0], [0, 1]]);
  });

  test.each([
    ['goes on where it is full', { limit: 3 }, true],
    ['goes on where an item has no room', { maxBytes: 3, bytesOf: () => 2 }, true],
    ['ends with the last item of the last shard', { limit: 7 }, false],
  ])('%s', async (_, bounds, more) => {
    expect((await walk([3, 3], bounds)).more).toBe(more);
  });

  test('reads a block though it may not cost as much, for it has to begin', async () => {
    expect(await walk([3, 3], { limit: 3 }, { maxReadUnits: 0.1 })).toEqual({ waves: [[0]], more: true });
  });

  test('fails if its time is over before it begins', async () => {
    await expect(walk([3, 3], { limit: 3 }, { isOver: true })).rejects.toThrow(ShardsUnavailableError);
  });
});

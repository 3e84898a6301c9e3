import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { PageInProgress } from '../../../../lib/core/fan-out/page-in-progress';
import { isInRuns, runReads } from '../../../../lib/core/fan-out/run-reads';
import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';

/** A page of at most `limit` items that begins with so many items of one shard, and then with these of others. */
function pageOf(limit: number, first: number, others: number[] = []): PageInProgress<number> {
  const page = new PageInProgress<number>({ limit });
  [...Array<number>(first).fill(0), ...others].forEach((shard, item) => {
    page.take({ item, shard });
  });
  return page;
}

describe('the shards of a page hold runs', () => {
  test.each([
    ['as long as chance allows of ten shards', pageOf(30, 3), 10, false],
    ['longer than chance allows of ten shards', pageOf(30, 5), 10, true],
    ['as long as chance allows of a hundred shards', pageOf(30, 2), 100, false],
    ['longer than chance allows of a hundred shards', pageOf(30, 3), 100, true],
    ['longer than chance allows, and ended', pageOf(30, 5, [1]), 10, true],
    ['as long as chance allows, and ended', pageOf(30, 3, [1]), 10, false],
    ['shorter than what a large page has of each shard', pageOf(100, 8, [1]), 10, false],
    ['longer than what a large page has of each shard', pageOf(100, 11, [1]), 10, true],
  ])('if their stretch is %s', (_, page, shards, isRun) => {
    expect(isInRuns(page, shards)).toBe(isRun);
  });
});

describe('where shards hold runs, and a block holds four items,', () => {
  const sizes = new ItemSizes(1_000);

  /** A shard that may have so many of the places of a page, and so many items that were read and not yet taken. */
  function shardWith(places: number, read?: number) {
    const reader = { shard: 0, exhausted: false, read: () => Promise.reject(new Error('nothing is read here')) };
    const buffer = new ShardBuffer<number>(reader, 9);
    const answer = { itemsRead: read ?? 0, consumedReadUnits: 0.5, itemSizes: [], next: 'next', readTo: 0 };
    if (read !== undefined) buffer.absorb({ ...answer, items: Array<number>(read).fill(0) }, undefined);
    return { buffer, places };
  }

  const worst = { item: 9, shard: 9 };

  test.each([
    ['a block of each shard that was not read', [shardWith(30), shardWith(2), shardWith(30, 1)], 10, undefined, [4, 2]],
    ['a block of the only shard that was not read', [shardWith(30, 1), shardWith(30)], 10, undefined, [4]],
    ['the first shard alone, if no run is known', [shardWith(30, 0), shardWith(30, 0)], undefined, undefined, [30]],
    [
      'a run of as many shards as have places',
      [30, 30, 30, 30].map((p) => shardWith(p, 0)),
      12,
      undefined,
      [12, 12, 12],
    ],
    ['what is left of a run', [shardWith(30, 1), shardWith(30, 3), shardWith(30, 10)], 12, undefined, [12, 9, 4]],
    ['a block at least', [shardWith(30, 0), shardWith(2, 0)], 2.5, undefined, [4, 2]],
    ['all of the first shard up to the worst item', [shardWith(30, 0), shardWith(20, 0)], 15, worst, [30, 15]],
    ['nothing where nothing is open', [], 12, worst, []],
  ])('a wave reads %s', (_, open, stretch, until, limits) => {
    const reads = runReads(open, stretch, until, sizes);
    expect(reads.map(({ limit }) => limit)).toEqual(limits);
    for (const read of reads) expect(read.until).toBe(until);
  });
});

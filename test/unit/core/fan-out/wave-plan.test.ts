import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { PageInProgress } from '../../../../lib/core/fan-out/page-in-progress';
import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';
import type { Position } from '../../../../lib/core/fan-out/total-order';
import { planWave } from '../../../../lib/core/fan-out/wave-plan';

const compare = (a: Position<number>, b: Position<number>): number => a.item - b.item || a.shard - b.shard;

/** A shard of which these items were read, and which has further ones unless it has ended. */
function shardWith(shard: number, items: number[], hasEnded = false): ShardBuffer<number> {
  const reader = { shard, exhausted: false, read: () => Promise.reject(new Error('nothing is read here')) };
  const buffer = new ShardBuffer<number>(reader, 9);
  const answer = { items, itemsRead: items.length, consumedReadUnits: 0.5, itemSizes: [] };
  buffer.absorb(hasEnded ? answer : { ...answer, next: 'next', readTo: items.at(-1) ?? 0 }, undefined);
  return buffer;
}

/** The shards that the next wave of a page reads, and how many items it asks each for. */
function readsOf(buffers: ShardBuffer<number>[], limit?: number, itemBytes?: number) {
  const reads = planWave(buffers, compare, new PageInProgress({ limit }), new ItemSizes(itemBytes));
  return reads.map(({ buffer, limit: most }) => [buffer.shard, most]);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, item) => item);

describe('the next wave of a page', () => {
  test('without a bound reads what is empty, and what has less than half as much as the fullest shard', () => {
    const buffers = [10, 5, 4, 0].map((count, shard) => shardWith(shard, upTo(count)));
    expect(readsOf(buffers)).toEqual([
      [2, undefined],
      [3, undefined],
    ]);
  });

  test('asks for no more than what shards that have ended leave to the others', () => {
    expect(readsOf([shardWith(0, upTo(6), true), shardWith(1, []), shardWith(2, [])], 7)).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test('asks for nothing of a shard that has its share already', () => {
    const buffers = [4, 3, 0, 0, 0].map((count, shard) => shardWith(shard, upTo(count)));
    expect(readsOf(buffers, 10, 2_000)).toEqual([
      [1, 1],
      [2, 4],
      [3, 4],
      [4, 4],
    ]);
  });

  test('asks for nothing behind the worst item that the page can have', () => {
    expect(readsOf([shardWith(0, [1, 2], true), shardWith(1, [5])], 2)).toEqual([]);
  });

  test('asks the shards before the worst item that the page can have for what they may have up to it', () => {
    const buffers = [shardWith(0, [1]), shardWith(1, [2]), shardWith(2, [3, 4, 5, 6, 7, 8])];
    expect(readsOf(buffers, 8, 1_000)).toEqual([
      [0, 7],
      [1, 6],
    ]);
  });
});

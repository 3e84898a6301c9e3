import { type FanOutStats, noCost } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import { orderedMerge } from './ordered-merge';
import type { PageContext } from './page-context';
import { type PageBounds, PageInProgress } from './page-in-progress';
import { ReadBudget } from './read-budget';
import type { ReadPolicy } from './read-policy';
import { ShardBuffer } from './shard-buffer';
import type { ReadFailure, ShardReader } from './shard-reader';
import { ShardRequests } from './shard-requests';
import { shardWalk } from './shard-walk';
import type { Position, TotalOrder } from './total-order';

/** What the engine must know about the items and errors of a store. */
interface Gathering<T> {
  /** The order of the items over all shards. */
  order: TotalOrder<T>;
  /** Whether shards follow one another in the order. Then a page needs only as many shards as fill it. */
  shardByShard: boolean;
  /**
   * Readers of items that all come before those of the other readers, and that follow one another in the order. A page
   * that they fill asks no other reader.
   */
  leading?: readonly ShardReader<T>[];
  sizes: ItemSizes;
  /** The most read units of the page. Absent: no bound. */
  maxReadUnits?: number;
  /** What a block of the store costs, in read units. @default half a unit, as an eventually consistent read of DynamoDB */
  unitsOfBlock?: number;
  /** Whether a filter can hide items that were read. @default false */
  hides?: boolean;
  failureOf(error: unknown): ReadFailure;
}

/** One page of the items of all shards. */
export interface GatheredPage<T> {
  positions: Position<T>[];
  /** Where the next page goes on. Undefined if nothing can follow. */
  end: Position<T> | undefined;
  /** Shards that the query could not read, or could read only in part. */
  missingShards: number[];
  /** How many consecutive items came from one shard on average. */
  stretch: number;
  stats: FanOutStats;
}

/** Gathers one page from the shards of any store. */
export async function gatherPage<T>(
  readers: readonly ShardReader<T>[],
  {
    order,
    shardByShard,
    leading = [],
    sizes,
    maxReadUnits,
    unitsOfBlock = 0.5,
    hides = false,
    failureOf,
  }: Gathering<T>,
  bounds: PageBounds<T>,
  policy: ReadPolicy,
): Promise<GatheredPage<T>> {
  const bufferOf = (reader: ShardReader<T>): ShardBuffer<T> => new ShardBuffer(reader, order.behindAllShards);
  const [first, buffers] = [leading.map(bufferOf), readers.map(bufferOf)];
  const all = [...first, ...buffers];
  const stats = noCost(readers.length);
  const page = new PageInProgress(bounds);
  const requests = new ShardRequests(all, policy, { stats, sizes, failureOf });
  const budget = new ReadBudget(maxReadUnits, unitsOfBlock, stats, sizes, hides);
  const context: PageContext<T> = { buffers, compare: order.compare, page, sizes, requests, budget };
  try {
    const more =
      (await shardWalk({ ...context, buffers: first }, Number.POSITIVE_INFINITY)) ||
      (await (shardByShard ? shardWalk(context) : orderedMerge(context)));
    const missingShards = [...new Set(all.filter(({ missing }) => missing).map(({ shard }) => shard))];
    return {
      positions: page.positions,
      end: more ? page.end : undefined,
      missingShards,
      stretch: page.stretch ?? page.positions.length,
      stats,
    };
  } finally {
    requests.close();
  }
}

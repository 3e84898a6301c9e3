import { type FanOutStats, noCost } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import { orderedMerge } from './ordered-merge';
import { type PageBounds, PageInProgress } from './page-in-progress';
import type { ReadFailure } from './read-failure';
import type { ReadPolicy } from './read-policy';
import { ShardBuffer } from './shard-buffer';
import type { ShardReader } from './shard-reader';
import { ShardRequests } from './shard-requests';
import { shardWalk } from './shard-walk';
import type { Position, TotalOrder } from './total-order';

/** What the engine must know of a store's items and errors. */
export interface Gathering<T> {
  /** How items compare over all shards. */
  order: TotalOrder<T>;
  /** Whether the order is that of the shards alone, so that a page needs only as many shards as fill it. */
  shardByShard: boolean;
  sizes: ItemSizes;
  failureOf(error: unknown): ReadFailure;
}

/** One page of what all shards hold together. */
export interface GatheredPage<T> {
  positions: Position<T>[];
  /** Where the next page goes on; absent if nothing can follow. */
  end: Position<T> | undefined;
  /** Shards that could not be read, in part or at all. */
  missingShards: number[];
  stats: FanOutStats;
}

/** Gathers one page from shards of any store. */
export async function gatherPage<T>(
  readers: readonly ShardReader<T>[],
  { order, shardByShard, sizes, failureOf }: Gathering<T>,
  bounds: PageBounds<T>,
  policy: ReadPolicy,
): Promise<GatheredPage<T>> {
  const streams = readers.map((reader) => new ShardBuffer(reader, order.behindAllShards));
  const stats = noCost(readers.length);
  const requests = new ShardRequests(streams, policy, { stats, sizes, failureOf });
  const page = new PageInProgress(bounds);
  try {
    const more = shardByShard
      ? await shardWalk(streams, page, requests)
      : await orderedMerge(streams, order.compare, page, sizes, requests);
    const missingShards = streams.filter(({ missing }) => missing).map(({ shard }) => shard);
    return { positions: page.positions, end: more ? page.end : undefined, missingShards, stats };
  } finally {
    requests.close();
  }
}

import { type FanOutStats, noCost } from './fan-out-stats';
import type { ItemSizes } from './item-sizes';
import { orderedMerge } from './ordered-merge';
import type { PageContext } from './page-context';
import { type PageBounds, PageInProgress } from './page-in-progress';
import { ReadBudget } from './read-budget';
import type { ReadPolicy } from './read-policy';
import { ShardBuffer } from './shard-buffer';
import { fillShardByShard } from './shard-by-shard';
import type { ReadFailure, ShardReader } from './shard-reader';
import { ShardRequests } from './shard-requests';
import type { Position, TotalOrder } from './total-order';

interface Gathering<T> {
  order: TotalOrder<T>;
  /**
   * Whether the items of a shard are consecutive in the order of the query. A page then reads only as many shards as it needs.
   */
  shardByShard: boolean;
  /**
   * The readers whose items come before all items of the other readers. The items of each leading reader are consecutive in the
   * order of the query. If the leading readers fill the page, the query does not use the other readers.
   */
  leading?: readonly ShardReader<T>[];
  sizes: ItemSizes;
  /**
   * The maximum number of read units that the page may consume.
   * @default no bound
   */
  maxReadUnits?: number;
  /**
   * The read units of a block.
   * @default 0.5, as for an eventually consistent read of DynamoDB
   */
  unitsOfBlock?: number;
  /** Whether a filter can hide items that were read. @default false */
  hides?: boolean;
  failureOf(error: unknown): ReadFailure;
}

export interface GatheredPage<T> {
  positions: Position<T>[];
  /** The next page begins after this position. Undefined for the last page. */
  end: Position<T> | undefined;
  /** The shards that the query could not read, or could read only in part. */
  missingShards: number[];
  /** The average number of consecutive items from one shard. */
  stretch: number;
  stats: FanOutStats;
}

/** Reads one page from all shards of a store. */
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
  const bufferOf = (reader: ShardReader<T>): ShardBuffer<T> => new ShardBuffer(reader, order.afterAllShards);
  const [first, buffers] = [leading.map(bufferOf), readers.map(bufferOf)];
  const all = [...first, ...buffers];
  const stats = noCost(readers.length);
  const page = new PageInProgress(bounds);
  const requests = new ShardRequests(all, policy, { stats, sizes, failureOf });
  const budget = new ReadBudget(maxReadUnits, unitsOfBlock, stats, sizes, hides);
  const context: PageContext<T> = { buffers, compare: order.compare, page, sizes, requests, budget };
  try {
    const more =
      (await fillShardByShard({ ...context, buffers: first }, Number.POSITIVE_INFINITY)) ||
      (await (shardByShard ? fillShardByShard(context) : orderedMerge(context)));
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

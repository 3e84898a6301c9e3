import type { Position } from './total-order';

export interface ShardRead<T> {
  /** The `next` of the previous page. Absent for the first page. */
  from?: unknown;
  /** The maximum number of items that the store evaluates. Absent: only the store's own limit applies. */
  limit?: number;
  /** The query needs no items after the sort key of this position. */
  until?: Position<T>;
  /** The query aborts this signal when it no longer needs the response. */
  signal?: AbortSignal;
}

/** The result of one read of one shard. */
export interface ShardPage<T> {
  /** The next items of the shard, in the order of the query. The list can be empty although more items follow. */
  items: T[];
  /** The position of the next page: pass it as `from` to read that page. Absent at the end of the shard, or after `until`. */
  next?: unknown;
  /**
   * The position up to which the shard was read. This position can be after the last item of `items`, because a filter can hide
   * items. Absent while the read has found only items before the beginning of the page, because a page must not end before its
   * beginning.
   */
  readTo?: T;
  /** The number of items that the store evaluated before it applied the filter. */
  itemsRead: number;
  /**
   * The number of evaluated items that a filter has hidden.
   * @default 0
   */
  itemsHidden?: number;
  consumedReadUnits: number;
  /** The sizes of some of the items, in bytes. These are the sizes for which the store charges. */
  itemSizes: number[];
}

/**
 * Reads one shard of a query page by page. Each store implements this interface. A reader has no state, so the query
 * can repeat a read, or send it twice in parallel.
 */
export interface ShardReader<T> {
  readonly shard: number;
  /** Whether the reader knows before its first read that the query needs no items of this shard. */
  readonly exhausted: boolean;
  read(read: ShardRead<T>): Promise<ShardPage<T>>;
}

/**
 * The class of a failure. `throttled`: the shard is over a limit. `transient`: another attempt can succeed. `final`:
 * every further attempt will fail, too.
 */
export type ReadFailure = 'throttled' | 'transient' | 'final';

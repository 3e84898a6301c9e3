import type { Position } from './total-order';

/** One read of one shard. */
export interface ShardRead<T> {
  /** The `next` of the page before. Absent for the first page. */
  from?: unknown;
  /** The most items that the store evaluates. If absent, the store decides. */
  limit?: number;
  /** The query needs nothing behind the sort key of this position. */
  until?: Position<T>;
  /** The engine aborts this signal when it no longer needs the answer. */
  signal?: AbortSignal;
}

/** The answer of a store to one read of one shard. */
export interface ShardPage<T> {
  /** The next items of the shard, in the order of the query. The list may be empty although more items follow. */
  items: T[];
  /** Where the next page goes on. Absent at the end of the shard, or of the part that the read asked for. */
  next?: unknown;
  /**
   * How far the shard was read. A filter can hide the items before this one. Absent as long as the read has found only
   * what stands before the begin of the query: a page may end here, and must not end before it begins.
   */
  readTo?: T;
  /** How many items the store evaluated before it applied the filter. */
  itemsRead: number;
  /** How many of them a filter has hidden. @default 0 */
  itemsHidden?: number;
  consumedReadUnits: number;
  /** The sizes of some of the items, in bytes as the store charges for them. */
  itemSizes: number[];
}

/**
 * Reads one shard of a query page by page. It is the port between the engine and a store. A reader keeps no state
 * between reads, so the engine may repeat a read, or have it in flight twice.
 */
export interface ShardReader<T> {
  readonly shard: number;
  /** Whether the query needs nothing of this shard. It is known before the first read. */
  readonly exhausted: boolean;
  read(read: ShardRead<T>): Promise<ShardPage<T>>;
}

/**
 * What a failed read means. `throttled`: the shard has too much to do. `transient`: another attempt can overcome the
 * failure. `final`: every further attempt will fail too.
 */
export type ReadFailure = 'throttled' | 'transient' | 'final';

import type { Position } from './total-order';

/** What is asked of one shard. */
export interface ShardRead<T> {
  /** Where the page before ended, as the reader said; absent for the first page. */
  from?: unknown;
  /** The most items the store evaluates. Without it the store decides. */
  limit?: number;
  /** Nothing behind the sort key of this position is wanted. */
  until?: Position<T>;
  /** Aborted when the answer is of no use any more. */
  signal?: AbortSignal;
}

/** One answer of a store about one shard. */
export interface ShardPage<T> {
  /** The next items of the shard, in the order of the query. May be empty although more follow. */
  items: T[];
  /** Where the next page goes on. Absent at the end of what was asked for. */
  next?: unknown;
  /** How far the shard has been read, as far as the store says; filters can hide the items before it. */
  readTo?: T;
  /** How many items the store evaluated, before filters. */
  itemsRead: number;
  consumedReadUnits: number;
  /** The sizes of some of the items, in bytes as the store charges for them. */
  itemSizes: number[];
}

/**
 * Reads one shard of what a query covers, page by page: the port between the engine and a store. A reader keeps no state
 * between reads, so the same read may be repeated, or under way twice.
 */
export interface ShardReader<T> {
  readonly shard: number;
  /** Whether nothing is left to read, before any read. */
  readonly exhausted: boolean;
  read(read: ShardRead<T>): Promise<ShardPage<T>>;
}

/**
 * The position of an item in the items of all shards. Items are ordered by their sort key, then by their shard, then as
 * their shard stores them. Only the store knows that last order: a query cannot compare by it, but only go on after an
 * item.
 */
export interface Position<T> {
  item: T;
  shard: number;
}

export type ComparePositions<T> = (a: Position<T>, b: Position<T>) => number;

/** The order of a query over all shards. */
export interface TotalOrder<T> {
  /** Returns 0 if two items have the same shard and the same sort key, and only then. */
  compare: ComparePositions<T>;
  /** A shard number behind all others. A position with this number is behind every item with the same sort key. */
  behindAllShards: number;
}

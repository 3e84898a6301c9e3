/**
 * The position of an item among the items of all shards. Items are ordered by their sort key, then by their shard, then by the
 * store's order within the shard. A query does not know the store's order, so it cannot compare two items by that order. The
 * query can only continue a read after an item.
 */
export interface Position<T> {
  item: T;
  shard: number;
}

export type ComparePositions<T> = (a: Position<T>, b: Position<T>) => number;

/** The order of a query over all shards. */
export interface TotalOrder<T> {
  /** Returns 0 only if two items have the same shard and the same sort key. */
  compare: ComparePositions<T>;
  /**
   * A shard number that comes after the numbers of all shards. A position with this number is after every item with the same
   * sort key.
   */
  afterAllShards: number;
}

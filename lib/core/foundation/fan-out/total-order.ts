/**
 * Where an item stands in the answer over all shards: by its sort key, then by its shard, then as its shard has it.
 * The last of these is the store's own and cannot be compared, only continued.
 */
export interface Position<T> {
  item: T;
  shard: number;
}

export type ComparePositions<T> = (a: Position<T>, b: Position<T>) => number;

/** The order of a query over all shards. */
export interface TotalOrder<T> {
  /** 0 for two items of one shard with one sort key, and only for them. */
  compare: ComparePositions<T>;
  /** A shard number behind all others: with it, a position stands behind every item of its sort key. */
  behindAllShards: number;
}

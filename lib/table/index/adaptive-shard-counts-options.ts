/** Options of `ShardCounts.adaptive`. */
export interface AdaptiveShardCountsOptions {
  /**
   * How many shards a value has before it grows: a whole number from 1 to 10,000.
   *
   * @default 1
   */
  readonly initial?: number;

  /**
   * The counts of values that have more shards from the beginning, or that had fixed counts before: whole numbers from 1 to
   * 10,000, by value.
   *
   * @default - every value has the initial count
   */
  readonly initialByValue?: { [value: string]: number };

  /**
   * The most shards that a value may grow to: a whole number from 1 to 10,000. A page asks every shard of its value, so
   * this bounds what a page costs. A deployment can raise and lower it at any time; a value that has more shards keeps them.
   *
   * @default 64
   */
  readonly maximum?: number;
}

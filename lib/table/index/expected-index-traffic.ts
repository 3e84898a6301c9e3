import type { Size } from 'aws-cdk-lib';

/** What a sharded index, or a table that is sharded by its own key, is expected to carry, in its busiest second. */
export interface ExpectedIndexTraffic {
  /**
   * Writes to the index or the table a second, at least 0. An item that is inserted or deleted counts once. In an index, an
   * update that changes the value or the shard counts twice: the old entry goes, the new one comes.
   */
  readonly writesPerSecond: number;

  /**
   * The size of an item of the table, or of an index entry: its keys and what it projects. Above 0.
   *
   * @default - 1 KiB
   */
  readonly itemSize?: Size;

  /**
   * How many partitions there are: its warm write units over 1,000.
   *
   * @default - as many as keep them half busy, and at least 4, as a new on-demand index or table has
   */
  readonly partitions?: number;

  /**
   * Each value's share of the writes, in any unit.
   *
   * @default - the index covers the whole table, or one value has all writes
   */
  readonly shares?: { readonly [value: string]: number };

  /**
   * Pages that are queried a second, of the same value if there are several.
   *
   * @default 0
   */
  readonly pagesPerSecond?: number;
}

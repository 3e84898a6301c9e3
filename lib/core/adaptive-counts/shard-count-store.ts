import type { ShardedIndexConfig } from '../sharded-index';
import type { GrownCount } from './grown-count';

/** Options of a read of counts. */
export interface CountReadOptions {
  /** Aborted when no caller waits for the response any longer. */
  abortSignal?: AbortSignal;
}

/** A page of counts. */
export interface CountPage {
  /** The counts of the next values, from a strongly consistent read. */
  counts: GrownCount[];
  /** The position of the next page: pass it as `from` to read that page. Absent if there are no more counts. */
  next?: unknown;
}

/** Reads the counts of an adaptive index. Implement this interface to read counts from another database than DynamoDB. */
export interface ShardCountReader {
  /**
   * The index whose counts this reader reads. A function that gets a configuration and a reader compares their indexes, and
   * rejects a reader of another index.
   * @default the index is not compared
   */
  readonly countsOf?: Pick<ShardedIndexConfig, 'tableName' | 'indexName'>;
  /** Reads the counts of all values whose counts have grown, with strongly consistent reads. */
  readCounts(options?: CountReadOptions): Promise<GrownCount[]>;
  /**
   * Reads a page of at most `limit` counts. `from` is the `next` of the previous page. With this method, each page has a
   * time-out of one second. Without this method, one second is the time-out for all counts together.
   * @default `readCounts` reads all counts
   */
  readCountPage?(options: CountReadOptions & { from?: unknown; limit: number }): Promise<CountPage>;
  /**
   * Reads the counts of one value, with a strongly consistent read. Undefined if the count has not grown. If the counts of many
   * values have grown, an `AdaptiveIndex` uses this method to read only the counts of the values that the process uses.
   * @default the counts of all values are read
   */
  readCount?(value: string | undefined, options?: CountReadOptions): Promise<GrownCount | undefined>;
}

/**
 * Reads and writes the counts of an adaptive index. Implement this interface to store counts in another database than DynamoDB.
 * The database needs strongly consistent reads and conditional writes of single items.
 */
export interface ShardCountStore extends ShardCountReader {
  /** Reads the counts of one value, with a strongly consistent read. Undefined if the count has not grown. */
  readCount(value: string | undefined, options?: CountReadOptions): Promise<GrownCount | undefined>;
  /**
   * Writes the counts of one value, on the condition that the stored version is `expected`. An `expected` of 0 requires
   * that the value has no stored counts. Returns false if the condition fails.
   */
  writeCount(count: GrownCount, expected: number): Promise<boolean>;
}

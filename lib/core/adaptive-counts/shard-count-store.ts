import type { ShardedIndexConfig } from '../sharded-index';
import type { GrownCount } from './grown-count';

/** Options of a read of counts. */
export interface CountReadOptions {
  /** Aborted when nobody waits for the answer any more. */
  abortSignal?: AbortSignal;
}

/** A page of counts. */
export interface CountPage {
  /** The counts of the next values, each as it is at some moment of the call: strongly consistent. */
  counts: GrownCount[];
  /** Where the next page goes on. Absent behind the last count. */
  next?: unknown;
}

/** What readers and writers of an adaptive index need from the database that holds its counts. */
export interface ShardCountReader {
  /**
   * The index whose counts it reads. A function that also gets a configuration refuses the configuration of another index.
   * @default not compared
   */
  readonly countsOf?: Pick<ShardedIndexConfig, 'tableName' | 'indexName'>;
  /** Reads the counts of all values that have grown, each as it is at some moment of the call: strongly consistent. */
  readCounts(options?: CountReadOptions): Promise<GrownCount[]>;
  /**
   * Reads the next counts, at most `limit` of them, after the `next` of the page before. With it, each page has a second of
   * its own for its answer. Without it, all counts together have one.
   * @default `readCounts` reads all of them at once
   */
  readCountPage?(options: CountReadOptions & { from?: unknown; limit: number }): Promise<CountPage>;
  /**
   * Reads the counts of one value, strongly consistent. Undefined if the value has not grown. If many values of an index
   * have grown, their counts are read by this method, value by value.
   * @default the counts of all values are read, however many they are
   */
  readCount?(value: string | undefined, options?: CountReadOptions): Promise<GrownCount | undefined>;
}

/**
 * What it takes to change counts: strongly consistent reads, and conditional writes of single items. Implement it to keep
 * counts in another database than DynamoDB.
 */
export interface ShardCountStore extends ShardCountReader {
  /** Reads the counts of one value, strongly consistent. Undefined if the value has not grown. */
  readCount(value: string | undefined, options?: CountReadOptions): Promise<GrownCount | undefined>;
  /**
   * Writes the counts of one value if the stored version is `expected`, or if none is stored and `expected` is 0. False
   * otherwise.
   */
  writeCount(count: GrownCount, expected: number): Promise<boolean>;
}

import type { ShardedIndexConfig } from '../sharded-index';
import type { GrownCount } from './grown-count';

/** What readers and writers of an adaptive index need from the database that holds its counts. */
export interface ShardCountReader {
  /**
   * The index whose counts it reads. What takes a configuration besides refuses that of another index.
   * @default not compared
   */
  readonly countsOf?: Pick<ShardedIndexConfig, 'tableName' | 'indexName'>;
  /**
   * Reads the counts of all values that have grown, each as it is at some moment of the call: strongly consistent.
   *
   * @param options.abortSignal aborted when nobody waits for the answer any more
   */
  readCounts(options?: { abortSignal?: AbortSignal }): Promise<GrownCount[]>;
}

/**
 * What it takes to change counts: strongly consistent reads, and conditional writes of single items. Implement it to keep
 * counts in another database than DynamoDB.
 */
export interface ShardCountStore extends ShardCountReader {
  /** Reads the counts of one value, strongly consistent. Undefined if the value has not grown. */
  readCount(value: string | undefined): Promise<GrownCount | undefined>;
  /**
   * Writes the counts of one value if the stored version is `expected`, or if none is stored and `expected` is 0. False
   * otherwise.
   */
  writeCount(count: GrownCount, expected: number): Promise<boolean>;
}

import { shardIndexOf, uniformRanges } from '../core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../core/stream-format/hash-key-space';
import { throttled } from './dynamodb-throttling';
import { TokenBucket } from './token-bucket';

/** Source: the DynamoDB developer guide: a partition takes 1,000 write units and gives 3,000 read units a second. */
const WRITE_UNITS_PER_SECOND = 1_000;
const READ_UNITS_PER_SECOND = 3_000;

/** The partitions of a table and of its index, and the clock that their limits follow. */
export interface HotPartitionTableOptions {
  /** The time in milliseconds; it never goes back. */
  now(): number;
  tablePartitions: number;
  indexPartitions: number;
  /** Sets the placement of keys: another salt is another roll of the dice. */
  salt?: string;
}

/**
 * A table with one index, in process and deterministic, that throttles as DynamoDB does and no emulator: by partition,
 * wherever the hash puts a key. Each partition has a bucket of a second's units that fills steadily. It does not split
 * hot partitions, and lends no unused throughput of earlier seconds, as DynamoDB may but does not promise.
 *
 * A write must reach the index too. When the index's partition has no units left, the write to the table is throttled,
 * with the index named as the reason: what AWS calls back-pressure.
 */
export class HotPartitionTable {
  readonly tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Orders';
  readonly indexArn = `${this.tableArn}/index/byStatus`;
  private readonly table: Partitions;
  private readonly index: Partitions;

  constructor({ now, tablePartitions, indexPartitions, salt = '' }: HotPartitionTableOptions) {
    this.table = new Partitions(tablePartitions, now, salt);
    this.index = new Partitions(indexPartitions, now, salt);
  }

  /** @throws the exception of the SDK, with its reasons, unless both table and index take the write */
  putItem(tableKey: string, indexKey: string, units = 1): void {
    const [table, index] = [this.table.writesOf(tableKey), this.index.writesOf(indexKey)];
    if (!table.has(units)) throw throttled({ reason: 'TableWriteKeyRangeThroughputExceeded', resource: this.tableArn });
    if (!index.has(units)) throw throttled({ reason: 'IndexWriteKeyRangeThroughputExceeded', resource: this.indexArn });
    table.take(units);
    index.take(units);
  }

  /** @throws in the same way unless the index's partition has the units */
  queryIndex(indexKey: string, units = 0.5): void {
    const index = this.index.readsOf(indexKey);
    if (!index.has(units)) throw throttled({ reason: 'IndexReadKeyRangeThroughputExceeded', resource: this.indexArn });
    index.take(units);
  }
}

class Partitions {
  private readonly writes: TokenBucket[];
  private readonly reads: TokenBucket[];
  private readonly ranges;
  private readonly placed = new Map<string, number>();

  constructor(
    count: number,
    now: () => number,
    private readonly salt: string,
  ) {
    this.ranges = uniformRanges(count);
    this.writes = this.ranges.map(() => new TokenBucket(WRITE_UNITS_PER_SECOND, now));
    this.reads = this.ranges.map(() => new TokenBucket(READ_UNITS_PER_SECOND, now));
  }

  writesOf(key: string): TokenBucket {
    return this.writes[this.partitionOf(key)]!;
  }

  readsOf(key: string): TokenBucket {
    return this.reads[this.partitionOf(key)]!;
  }

  private partitionOf(key: string): number {
    let partition = this.placed.get(key);
    if (partition === undefined) {
      partition = shardIndexOf(hashPartitionKey(this.salt + key), this.ranges);
      this.placed.set(key, partition);
    }
    return partition;
  }
}

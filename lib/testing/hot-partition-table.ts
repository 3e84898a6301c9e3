import { shardIndexOf, uniformRanges } from '../core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../core/stream-format/hash-key-space';
import { throttled } from './dynamodb-throttling';
import { TokenBucket } from './token-bucket';

/** The limits of a partition: 1,000 write units and 3,000 read units a second. Source: the DynamoDB developer guide. */
const WRITE_UNITS_PER_SECOND = 1_000;
const READ_UNITS_PER_SECOND = 3_000;

/** The partitions of a table and of its index, and the clock for their limits. */
export interface HotPartitionTableOptions {
  /** The time in milliseconds, which never decreases. */
  now(): number;
  tablePartitions: number;
  indexPartitions: number;
  /** Changes the placement of keys: another salt places the keys on other partitions. */
  salt?: string;
}

/**
 * A deterministic table with one index in memory. Unlike the emulators, it throttles by partition, as DynamoDB does.
 * The hash of a key determines its partition.
 *
 * Each partition has a token bucket that holds the units of one second and refills steadily. DynamoDB may also split hot partitions and lend
 * unused units, but does not promise this, so the table does neither.
 *
 * Each write also needs units of the index. If the partition of the index has no units left, the write to the table is throttled, and
 * the reason names the index. AWS calls this back-pressure.
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

  /** @throws the exception of the SDK, with its reasons, if the partition of the table or of the index has too few units */
  putItem(tableKey: string, indexKey: string, units = 1): void {
    const [table, index] = [this.table.writesOf(tableKey), this.index.writesOf(indexKey)];
    if (!table.has(units)) throw throttled({ reason: 'TableWriteKeyRangeThroughputExceeded', resource: this.tableArn });
    if (!index.has(units)) throw throttled({ reason: 'IndexWriteKeyRangeThroughputExceeded', resource: this.indexArn });
    table.take(units);
    index.take(units);
  }

  /** @throws the exception of the SDK, with its reasons, if the partition of the index has too few units */
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

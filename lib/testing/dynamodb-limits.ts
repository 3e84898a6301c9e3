import type { ThrottlingReason } from './dynamodb-throttling';
import { checkScale, type ServiceLimitsOptions } from './limit-scale';
import { TokenBuckets } from './token-bucket';

/** The limits of one partition, and so of one partition key. Source: the DynamoDB developer guide. */
const WRITE_UNITS_PER_SECOND = 1_000;
const READ_UNITS_PER_SECOND = 3_000;

/** The units that one request consumes for one partition key of a table or an index. */
export interface KeyLoad {
  /** The ARN of the table. */
  tableArn: string;
  /** The name of the index. Absent if the load is on the table itself. */
  indexName?: string;
  /** A text that identifies the value of the partition key. */
  key: string;
  units: number;
}

/**
 * The limits of DynamoDB for each partition key of each table and index: 1,000 write units and 3,000 read units a second. The class only
 * counts, and stores no items.
 *
 * Each limit is a token bucket that holds the units of one second and refills steadily. DynamoDB may also lend more units, but does not
 * promise them, so this class does not lend them. The class is deterministic for a given clock.
 *
 * A write consumes units of its table and of every index that it changes. If the table or one index has too few units, DynamoDB throttles the
 * whole write. So a hot index throttles its table.
 */
export class DynamoDbLimits {
  private readonly buckets: TokenBuckets;
  private readonly scale: number;

  /** @throws InvalidArgumentError if the scale is not above 0 */
  constructor({ now, scale = 1 }: ServiceLimitsOptions) {
    this.scale = checkScale(scale);
    this.buckets = new TokenBuckets(now);
  }

  /** The write and read units of a partition key in a second. */
  get keyLimits(): { writeUnitsPerSecond: number; readUnitsPerSecond: number } {
    return {
      writeUnitsPerSecond: this.scale * WRITE_UNITS_PER_SECOND,
      readUnitsPerSecond: this.scale * READ_UNITS_PER_SECOND,
    };
  }

  /**
   * Takes the units of all loads. If a partition key has too few units left, takes no units and returns the reason that
   * DynamoDB gives.
   */
  takeWrite(loads: readonly KeyLoad[]): ThrottlingReason | undefined {
    const throttled = loads.find((load) => !this.writes(load).has(load.units));
    if (throttled !== undefined) return reasonOf(throttled, 'Write');
    for (const load of loads) this.writes(load).take(load.units);
    return undefined;
  }

  /**
   * Returns the reason if a key cannot be read now. The units of a read are known only after the read, so pass these
   * units to `noteRead` then.
   */
  refuseRead(load: Omit<KeyLoad, 'units'>): ThrottlingReason | undefined {
    return this.reads(load).level > 0 ? undefined : reasonOf(load, 'Read');
  }

  noteRead(load: KeyLoad): void {
    this.reads(load).take(load.units);
  }

  private writes(load: Omit<KeyLoad, 'units'>) {
    return this.buckets.of(`write ${nameOf(load)}`, this.keyLimits.writeUnitsPerSecond);
  }

  private reads(load: Omit<KeyLoad, 'units'>) {
    return this.buckets.of(`read ${nameOf(load)}`, this.keyLimits.readUnitsPerSecond);
  }
}

function nameOf({ tableArn, indexName = '', key }: Omit<KeyLoad, 'units'>): string {
  return `${tableArn} ${indexName} ${key}`;
}

function reasonOf({ tableArn, indexName }: Omit<KeyLoad, 'units'>, operation: 'Read' | 'Write'): ThrottlingReason {
  return indexName === undefined
    ? { reason: `Table${operation}KeyRangeThroughputExceeded`, resource: tableArn }
    : { reason: `Index${operation}KeyRangeThroughputExceeded`, resource: `${tableArn}/index/${indexName}` };
}

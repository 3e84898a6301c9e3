import type { ThrottlingReason } from './dynamodb-throttling';
import { checkScale, type ServiceLimitsOptions } from './limit-scale';
import { TokenBuckets } from './token-bucket';

/** Source: the DynamoDB developer guide: what one partition, and so one partition key, takes and gives a second. */
const WRITE_UNITS_PER_SECOND = 1_000;
const READ_UNITS_PER_SECOND = 3_000;

/** What one request takes of one partition key of a table or index. */
export interface KeyLoad {
  /** The ARN of the table. */
  tableArn: string;
  /** Absent for the table itself. */
  indexName?: string;
  /** The partition key's value, in any text that tells it from others. */
  key: string;
  units: number;
}

/**
 * What DynamoDB lets through for each partition key of each table and index, without any table: 1,000 write units and 3,000
 * read units a second. Each is a bucket that holds what a second brings and fills steadily; more that the service may lend
 * it does not promise. Deterministic, given its clock.
 *
 * A write loads its table and every index that it changes. If one of them cannot take it, the whole write is refused: so a
 * hot index throttles its table.
 */
export class DynamoDbLimits {
  private readonly buckets: TokenBuckets;
  private readonly scale: number;

  /** @throws InvalidArgumentError if the scale is not above 0 */
  constructor({ now, scale = 1 }: ServiceLimitsOptions) {
    this.scale = checkScale(scale);
    this.buckets = new TokenBuckets(now);
  }

  /** What a partition key takes and gives a second. */
  get keyLimits(): { writeUnitsPerSecond: number; readUnitsPerSecond: number } {
    return {
      writeUnitsPerSecond: this.scale * WRITE_UNITS_PER_SECOND,
      readUnitsPerSecond: this.scale * READ_UNITS_PER_SECOND,
    };
  }

  /** Takes all of the loads or, if one cannot be taken, none: then says why, in the words of the service. */
  takeWrite(loads: readonly KeyLoad[]): ThrottlingReason | undefined {
    const refused = loads.find((load) => !this.writes(load).has(load.units));
    if (refused !== undefined) return reasonOf(refused, 'Write');
    for (const load of loads) this.writes(load).take(load.units);
    return undefined;
  }

  /** Whether a key can be read: what a read takes is known afterwards, and told to `noteRead`. */
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

import { checkNotNegative, checkPositive } from '../kernel/checks';
import { ceilOf } from './rounding';
import { SERVICE_LIMITS } from './service-limits';

/**
 * The write units a second that DynamoDB allows one partition, and so one partition key value: unless it has split the items of the
 * value by their sort keys, which it does for busy values after a while, and not where sort keys only grow.
 */
export const PARTITION_WRITE_UNITS = SERVICE_LIMITS.partitionWrites.value;

/** The read units a second that DynamoDB allows one partition, and so one partition key value. */
export const PARTITION_READ_UNITS = SERVICE_LIMITS.partitionReads.value;

/** The gigabytes that one partition of DynamoDB holds. */
export const PARTITION_GB = SERVICE_LIMITS.partitionBytes.value;

/** The write units of one write of an item: one for each started kilobyte. */
export function writeUnits(itemKb: number): number {
  return Math.max(1, ceilOf(itemKb));
}

/**
 * How many suffixes the writes of one hot partition key need, by the formula of AWS: the writes a second, times the
 * item size in whole kilobytes, divided by the 1,000 write units a second of one partition key value.
 *
 * This is the least that can work. Every suffix then writes at its limit, and the formula ignores that suffixes can
 * share a partition. For a plan with head-room that also counts shared partitions, use `planIndex`.
 *
 * Source: "Choosing the right DynamoDB partition key", AWS Database Blog; its invoice example, 5,000 writes a second of
 * 1 KB, gives 5.
 *
 * @param writes how many writes there are a second at the peak, at least 0, and the size of an item in kilobytes, above
 *   0
 * @returns a whole number of at least 1
 * @throws InvalidArgumentError if a number is outside its bounds
 */
export function suffixRange({ writesPerSecond, itemKb }: { writesPerSecond: number; itemKb: number }): number {
  checkNotNegative('writesPerSecond', writesPerSecond);
  checkPositive('itemKb', itemKb);
  return Math.max(1, ceilOf((writesPerSecond * writeUnits(itemKb)) / PARTITION_WRITE_UNITS));
}

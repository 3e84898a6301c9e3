import { checkNotNegative, checkPositive } from '../kernel/checks';
import { ceilOf } from './rounding';
import { SERVICE_LIMITS } from './service-limits';

/**
 * The maximum number of write units per second that one partition of DynamoDB accepts. One partition key value has the same
 * limit. After some time, DynamoDB splits the items of a busy value by sort key, unless every new item has a higher sort key than
 * the items before.
 */
export const PARTITION_WRITE_UNITS = SERVICE_LIMITS.partitionWrites.value;

/**
 * The maximum number of read units per second that one partition of DynamoDB accepts. One partition key value has the same limit.
 */
export const PARTITION_READ_UNITS = SERVICE_LIMITS.partitionReads.value;

export const PARTITION_GB = SERVICE_LIMITS.partitionBytes.value;

/** The write units of one write: one unit for each started kilobyte of the item. */
export function writeUnits(itemKb: number): number {
  return Math.max(1, ceilOf(itemKb));
}

/**
 * Computes how many suffixes one hot partition key needs. The formula of AWS multiplies the writes per second by the item size in
 * whole kilobytes. It divides the product by 1,000, the write units per second of one partition key value.
 *
 * The result is a lower bound. With this number, every suffix is at its limit, and the formula ignores that suffixes can share a
 * partition. For a plan with head-room and shared partitions, use `planIndex`.
 *
 * Source: "Choosing the right DynamoDB partition key", AWS Database Blog; its invoice example with 5,000 writes per
 * second of 1 KB gives 5.
 *
 * @param writes the writes per second at the peak, at least 0, and the size of an item in kilobytes, greater than 0
 * @returns an integer of at least 1
 * @throws InvalidArgumentError if a number is outside its bounds
 */
export function suffixRange({ writesPerSecond, itemKb }: { writesPerSecond: number; itemKb: number }): number {
  checkNotNegative('writesPerSecond', writesPerSecond);
  checkPositive('itemKb', itemKb);
  return Math.max(1, ceilOf((writesPerSecond * writeUnits(itemKb)) / PARTITION_WRITE_UNITS));
}

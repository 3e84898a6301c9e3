import { checkNotNegative, checkPositive } from './number-checks';
import { ceilOf } from './rounding';

/** Write units a second that DynamoDB allows one partition, and so one partition key value. */
export const PARTITION_WRITE_UNITS = 1_000;

/** Read units a second that DynamoDB allows one partition, and so one partition key value. */
export const PARTITION_READ_UNITS = 3_000;

/** Write units that one write of an item takes: one for each started kilobyte. */
export function writeUnits(itemKb: number): number {
  return Math.max(1, ceilOf(itemKb));
}

/**
 * How many suffixes the writes of one hot partition key need, by the formula that AWS gives: writes a second times the
 * item size in whole kilobytes, over the 1,000 write units a second that one partition key value takes.
 *
 * It is the least that can work: every suffix then writes at its limit, and nothing is said of suffixes that share a
 * partition. `planIndex` adds both.
 *
 * Source: "Choosing the right DynamoDB partition key", AWS Database Blog; its invoice example, 5,000 writes a second of
 * 1 KB, gives 5.
 *
 * @param writes how many writes there are a second at the peak, at least 0, and the size of an item in kilobytes, above 0
 * @returns a whole number of at least 1
 * @throws InvalidArgumentError for a number outside its bounds
 */
export function suffixRange({ writesPerSecond, itemKb }: { writesPerSecond: number; itemKb: number }): number {
  checkNotNegative('writesPerSecond', writesPerSecond);
  checkPositive('itemKb', itemKb);
  return Math.max(1, ceilOf((writesPerSecond * writeUnits(itemKb)) / PARTITION_WRITE_UNITS));
}

import { checkFields, checkPositive, checkWhole } from '../kernel/checks';
import { READ_UNIT_KB } from './read-units-per-page';
import { ceilOf, isAbove } from './rounding';
import { PARTITION_READ_UNITS } from './suffix-range';

/** The reads of one item in its busiest second. */
export interface ItemTraffic {
  /** How often the item is read a second, above 0. */
  readsPerSecond: number;
  /**
   * The size of what a read reads, in KB of 1,024 bytes, above 0: the item, or the page it comes with.
   * @default 1
   */
  itemKb?: number;
  /**
   * Whether the reads are consistent. A consistent read costs twice as much, and no cache can answer it.
   * @default false
   */
  consistentRead?: boolean;
  /**
   * For how many seconds a cache may answer, above 0.
   * @default 1
   */
  cacheSeconds?: number;
  /**
   * How many caches there are, 1 to 100,000: each execution environment of a function, or each process, has its own.
   * @default 1
   */
  caches?: number;
}

/** What the reads of one item cost, and what to do about them. */
export interface HotItemPlan {
  /** Read units a second without a cache. */
  readUnitsPerSecond: number;
  /** The share of its partition that the item takes: above 1, the item is throttled, and no number of shards helps. */
  partitionUse: number;
  /** Read units a second at most if caches answer. As `readUnitsPerSecond` for consistent reads. */
  cachedReadUnitsPerSecond: number;
  /** What to do, in one sentence. */
  advice: string;
}

/**
 * Whether one item is read too often, and what a cache changes. An item is in one partition, which takes 3,000 read units a
 * second, so more shards do not help it.
 *
 * A cache that answers for a second asks at most once a second, however many reads it answers, and never more often than it
 * is read.
 *
 * @throws InvalidArgumentError if a number is outside its bounds
 */
export function planHotItem(item: ItemTraffic): HotItemPlan {
  checkFields('item', item);
  const { readsPerSecond, itemKb = 1, consistentRead = false, cacheSeconds = 1, caches = 1 } = item;
  checkPositive('readsPerSecond', readsPerSecond);
  checkPositive('itemKb', itemKb);
  checkPositive('cacheSeconds', cacheSeconds);
  checkWhole('caches', caches, 1, 100_000);
  const unitsOfRead = Math.max(1, ceilOf(itemKb / READ_UNIT_KB)) * (consistentRead ? 1 : 0.5);
  const readUnitsPerSecond = readsPerSecond * unitsOfRead;
  const readsOfCaches = consistentRead ? readsPerSecond : Math.min(readsPerSecond, caches / cacheSeconds);
  const cachedReadUnitsPerSecond = readsOfCaches * unitsOfRead;
  const [without, cached] = [readUnitsPerSecond, cachedReadUnitsPerSecond];
  return {
    readUnitsPerSecond,
    partitionUse: readUnitsPerSecond / PARTITION_READ_UNITS,
    cachedReadUnitsPerSecond,
    advice: adviceOn(isAbove(without, PARTITION_READ_UNITS), isAbove(cached, PARTITION_READ_UNITS), consistentRead),
  };
}

function adviceOn(tooHot: boolean, tooHotCached: boolean, consistentRead: boolean): string {
  if (!tooHot) return 'the item stays within the 3,000 read units a second of its partition';
  if (consistentRead)
    return 'read the item eventually consistently, then a cache can answer; shards do not help one item';
  return tooHotCached
    ? 'share the caches, or let them answer for longer: even so many caches ask more than the 3,000 read units of a partition'
    : 'put a cache before the item: shards do not help one item, which is above the 3,000 read units of its partition';
}

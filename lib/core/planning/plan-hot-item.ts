import { checkFields, checkPositive, checkWhole } from '../kernel/checks';
import { READ_UNIT_KB } from './read-units-per-page';
import { ceilOf, isAbove } from './rounding';
import { SERVICE_LIMITS } from './service-limits';
import { PARTITION_READ_UNITS } from './suffix-range';

/** The traffic of one item in its busiest second. */
export interface ItemTraffic {
  /** The reads per second, greater than 0. */
  readsPerSecond: number;
  /**
   * The size of a read in KB of 1,024 bytes, greater than 0: the size of the item, or of the page that contains the
   * item. A page has at most 1,024 KB.
   * @default 1
   */
  itemKb?: number;
  /**
   * Whether the reads are strongly consistent. A consistent read costs twice as much, and cannot use a cache.
   * @default false
   */
  consistentRead?: boolean;
  /**
   * The time-to-live of the cache, in seconds, greater than 0.
   * @default 1
   */
  cacheSeconds?: number;
  /**
   * The number of caches, from 1 to 100,000. Each execution environment of a function, or each process, has its own
   * cache.
   * @default 1
   */
  caches?: number;
}

/** The cost of the reads of one item, and advice. */
export interface HotItemPlan {
  /** Read units per second without a cache. */
  readUnitsPerSecond: number;
  /**
   * The used part of the read limit of the item's partition. Above 1, the item is throttled, and more shards do not
   * help.
   */
  partitionUse: number;
  /** The maximum of the read units per second with caches. Equal to `readUnitsPerSecond` for consistent reads. */
  cachedReadUnitsPerSecond: number;
  /** Advice in one sentence. */
  advice: string;
}

/**
 * Computes whether one item is read too often, and how much a cache helps. All reads of an item go to one partition, which has
 * 3,000 read units per second. So more shards do not help.
 *
 * A cache with a time-to-live of one second reads the item at most once per second.
 *
 * @throws InvalidArgumentError if a number is outside its bounds
 */
export function planHotItem(item: ItemTraffic): HotItemPlan {
  checkFields('item', item);
  const { readsPerSecond, itemKb = 1, consistentRead = false, cacheSeconds = 1, caches = 1 } = item;
  checkPositive('readsPerSecond', readsPerSecond);
  checkPositive('itemKb', itemKb, SERVICE_LIMITS.pageKilobytes.value);
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
  if (!tooHot) return 'the item needs at most the 3,000 read units a second of its partition';
  if (consistentRead) return 'use eventually consistent reads and a cache: more shards do not help one item';
  return tooHotCached
    ? 'use fewer caches or a longer time-to-live: these caches need more than the 3,000 read units a second of a partition'
    : 'use a cache: the item needs more than the 3,000 read units a second of its partition, and more shards do not help one item';
}

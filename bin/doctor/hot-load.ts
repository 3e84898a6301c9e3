import { PARTITION_WRITE_UNITS } from '../../lib/core/planning/suffix-range';
import type { IndexKeyAttribute } from '../../lib/core/sharded-index/config/index-rejections';
import type { ReportedKey } from './contributor-insights';
import type { Throughput, UnshardedKey } from './observations';
import { isMissing } from './observations';
import { sampledValues } from './table-sample';

/** A value of a partition key attribute, and its part of the load. */
export interface BusyKey {
  readonly value: string;
  readonly share: number;
}

/** The kind of load that throttles a partition, as far as it is measured. */
export type HotLoad =
  | { readonly kind: 'hotKey'; readonly keys: readonly BusyKey[] }
  | { readonly kind: 'hotItem' | 'manyKeys' | 'sharded' | 'unknown' };

/** A key whose demand is at least this part of the limit of a partition is hot. */
const HOT_PART = 0.75;

/** A key with this part of all throttles is hot, whatever the demand is. */
const DOMINANT = 0.5;

/** An item with this part of the writes of its partition key has nearly all of them. */
const ONE_ITEM = 0.9;

/** The most keys of a sample in a plan. A report of Contributor Insights has the same number. */
const MAX_KEYS = 25;

/** Decides which kind of load throttles a partition of a table or an index without shards. */
export function hotLoadOf({ key, indexName, report, sample, throughput }: UnshardedKey, demand: number): HotLoad {
  if (looksSharded(key, indexName)) return { kind: 'sharded' };
  const isHot = (share: number) => share * demand >= HOT_PART * PARTITION_WRITE_UNITS;
  if (report !== undefined && !isMissing(report)) {
    const keys = report.counted === 'accesses' ? withThrottles(report.partitionKeys, throughput) : report.partitionKeys;
    const busiest = keys.reduce((most, each) => (each.share > most.share ? each : most));
    const isBusy = isHot(busiest.share) || (report.counted === 'throttles' && busiest.share >= DOMINANT);
    if (!isBusy) return { kind: 'manyKeys' };
    // One item is in one place, so shards cannot divide its writes. Entries of an index are separate items.
    const hasSortKey = key.some(({ role }) => role === 'sort');
    const isOneItem = !hasSortKey || (report.items[0]?.share ?? 0) >= busiest.share * ONE_ITEM;
    if (indexName === undefined && isOneItem) return { kind: 'hotItem' };
    return { kind: 'hotKey', keys: keys.map(({ key: [value = ''], share }) => ({ value, share })) };
  }
  const [partition, ...others] = key.filter(({ role }) => role === 'partition');
  if (sample === undefined || partition === undefined || others.length > 0) {
    return { kind: 'unknown' };
  }
  // A sample shows stored items. A table key with many items, or an index value with many items, is probably busy.
  const values = sampledValues(sample, partition.name);
  return values.length > 0 && isHot(values[0]!.share)
    ? { kind: 'hotKey', keys: values.slice(0, MAX_KEYS) }
    : { kind: 'unknown' };
}

/**
 * Whether an index looks like a sharded index. Its partition key is a value and a shard number, or one attribute with the default
 * name of a shard attribute.
 */
function looksSharded(key: readonly IndexKeyAttribute[], indexName: string | undefined): boolean {
  const [first, second] = key.filter(({ role }) => role === 'partition');
  return indexName !== undefined && (second?.type === 'N' || first?.name === `${indexName}Shard`);
}

/**
 * The shares of the keys of the demand. Contributor Insights do not count the writes that an index throttles, so these writes
 * are added to the keys that are near the limit of a partition. Several keys in one partition share them.
 */
function withThrottles(keys: readonly ReportedKey[], { writes }: Throughput): ReportedKey[] {
  const { peakUnits = 0, peakThrottled = 0 } = writes;
  const accepted = keys.map(({ share }) => share * peakUnits);
  const isFull = (units: number) => units >= HOT_PART * PARTITION_WRITE_UNITS;
  const full = accepted.filter(isFull).reduce((sum, units) => sum + units, 0);
  if (full === 0) return [...keys];
  const demand = peakUnits + peakThrottled;
  return keys.map((each, n) => {
    const units = accepted[n]!;
    return { ...each, share: (units + (isFull(units) ? (peakThrottled * units) / full : 0)) / demand };
  });
}

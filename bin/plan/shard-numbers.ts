import { moreThan } from '../../lib/core/planning/largest-load';
import type { IndexPlan, IndexTraffic } from '../../lib/core/planning/plan-index';
import { readUnitsPerPage } from '../../lib/core/planning/read-units-per-page';
import { floorOf } from '../../lib/core/planning/rounding';
import { PARTITION_WRITE_UNITS, suffixRange, writeUnits } from '../../lib/core/planning/suffix-range';
import { counted, roughPercent } from '../plain-text';

/** How many shards the formula of AWS needs, with the risk and the cost of this number. */
export interface FormulaNumber {
  readonly shards: number;
  /** The part of its limit that the busiest shard uses. */
  readonly used: number;
  /** The probability that a partition is overloaded, if the shards are on as many partitions as in the plan. */
  readonly overloadProbability: number;
  readonly readUnitsPerPage: number;
}

/**
 * The number of shards of the formula of AWS for the traffic of a plan. With shares, each value has its own number. The
 * probability then assumes that all busy shards are as busy as the busiest shard.
 */
export function formulaNumber(traffic: IndexTraffic, { partitions }: Pick<IndexPlan, 'partitions'>): FormulaNumber {
  const { writesPerSecond, itemKb = 1, pageItems = 25, shares = { all: 1 } } = traffic;
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  let [shards, most, used] = [0, 1, 0];
  for (const share of Object.values(shares)) {
    const ofValue = (writesPerSecond * share) / total;
    const count = suffixRange({ writesPerSecond: ofValue, itemKb });
    shards += count;
    most = Math.max(most, count);
    used = Math.max(used, (ofValue * writeUnits(itemKb)) / PARTITION_WRITE_UNITS / count);
  }
  const busyShards = Math.round((writesPerSecond * writeUnits(itemKb)) / PARTITION_WRITE_UNITS / used);
  return {
    shards,
    used,
    overloadProbability: moreThan(floorOf(1 / used), busyShards, partitions),
    readUnitsPerPage: readUnitsPerPage({ shards: most, items: pageItems, itemKb }),
  };
}

/** Lines with the number of the formula of AWS, its risk and its cost. */
export function formulaLines(
  { shards, used, overloadProbability, readUnitsPerPage: readUnits }: FormulaNumber,
  { partitions }: Pick<IndexPlan, 'partitions'>,
): string[] {
  return [
    `the formula of AWS: ${counted(shards, 'shard')}; a page takes ${readUnits} read units`,
    `  risk: the busiest shard uses ${roughPercent(used)} of its limit, and one of ${partitions} partitions is overloaded with a ` +
      `probability of ${roughPercent(overloadProbability)}`,
  ];
}

/** Lines with the number of shards of a plan, its risk and its cost. */
export function planLines({ shards, partitions, page, overloadProbability }: IndexPlan): string[] {
  return [
    `this plan: ${counted(shards, 'shard')}; a page takes ${page.readUnits} read units, and ${page.readUnitsUnsharded} without shards`,
    `  risk: one of ${partitions} partitions is overloaded with a probability of ${roughPercent(overloadProbability)}`,
  ];
}

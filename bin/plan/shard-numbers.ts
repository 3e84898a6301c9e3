import { moreThan } from '../../lib/core/planning/largest-load';
import type { IndexPlan, IndexTraffic } from '../../lib/core/planning/plan-index';
import { readUnitsPerPage } from '../../lib/core/planning/read-units-per-page';
import { PARTITION_WRITE_UNITS, suffixRange } from '../../lib/core/planning/suffix-range';
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
 * The number of shards of the formula of AWS for the traffic of a plan. With shares, each value has its own number.
 *
 * @param shares the share of each value of the writes
 */
export function formulaNumber(
  { writesPerSecond, itemKb = 1, pageItems = 25 }: IndexTraffic,
  { partitions }: IndexPlan,
  shares: Readonly<Record<string, number>> = { '': 1 },
): FormulaNumber {
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const values = Object.values(shares).map((share) => {
    const ofValue = (writesPerSecond * share) / total;
    const shards = suffixRange({ writesPerSecond: ofValue, itemKb });
    return { shards, used: (ofValue * Math.max(1, Math.ceil(itemKb))) / PARTITION_WRITE_UNITS / shards };
  });
  const shards = values.reduce((sum, value) => sum + value.shards, 0);
  const used = Math.max(...values.map((value) => value.used));
  const most = Math.max(...values.map((value) => value.shards));
  return {
    shards,
    used,
    overloadProbability: used === 0 ? 0 : moreThan(Math.floor(1 / used + 1e-9), shards, partitions),
    readUnitsPerPage: readUnitsPerPage({ shards: most, items: pageItems, itemKb }),
  };
}

/** Lines with the number of AWS's formula and its risk, and then with the number of the plan and its cost. */
export function numberLines(
  traffic: IndexTraffic,
  plan: IndexPlan,
  shares?: Readonly<Record<string, number>>,
): string[] {
  const formula = formulaNumber(traffic, plan, shares);
  const { partitions, page, overloadProbability } = plan;
  return [
    `the formula of AWS: ${counted(formula.shards, 'shard')}; a page takes ${formula.readUnitsPerPage} read units`,
    `  risk: the busiest shard uses ${roughPercent(formula.used)} of its limit, and with a probability of ` +
      `${roughPercent(formula.overloadProbability)} one of ${partitions} partitions is overloaded`,
    `this plan: ${counted(plan.shards, 'shard')}, which lower this probability to ${roughPercent(overloadProbability)}`,
    `  cost: a page takes ${page.readUnits} read units, and ${page.readUnitsUnsharded} without shards`,
  ];
}

import { checkBetween, checkFields, checkNotNegative, checkPositive, checkWhole } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { MAX_INDEX_SHARDS } from '../sharding/shard-count';
import { ALLOWED_SHARD_FORMAT, wrongPartOf } from '../sharding/shard-format';
import { likelyMost, moreThan } from './largest-load';
import { type ListPrices, pricesWith, SECONDS_PER_MONTH } from './list-prices';
import { MAX_PLANNED_PARTITIONS } from './overload-probability';
import { bindingRule, byUse, type LimitUse, type PlanRule } from './plan';
import { readUnitsPerPage } from './read-units-per-page';
import { ceilOf, floorOf, isAbove } from './rounding';
import { type ExceededServiceLimit, exceededLimits } from './service-limits';
import { mostShardsForOverload, shardsForOverload, surelyNeedsMoreThan } from './shards-for-overload';
import { PARTITION_GB, PARTITION_READ_UNITS, PARTITION_WRITE_UNITS, writeUnits } from './suffix-range';
import { weightedShards } from './weighted-shards';

/**
 * The assumed number of partitions of a new on-demand index. A new index accepts 4,000 write units per second, and a partition
 * accepts 1,000 write units per second. AWS does not document the number of partitions. Source: the DynamoDB developer guide,
 * "On-demand capacity mode", initial throughput.
 */
const NEW_INDEX_PARTITIONS = 4;

/** The maximum size of a row of Amazon Keyspaces in kilobytes. */
const MAX_ROW_KB = 1_024;

/** The traffic of an index. All rates are for the busiest second. */
export interface IndexTraffic {
  /**
   * The writes to the index per second, greater than 0. An insert or a delete of an item is one write. An update that changes
   * the index's value or shard is two writes, because DynamoDB deletes the old entry and inserts a new entry.
   */
  writesPerSecond: number;
  /**
   * The size of an index entry (its keys and its projected attributes) in kilobytes, greater than 0 and at most 1,024. An item of
   * DynamoDB has at most 400 KB, and a row of Amazon Keyspaces at most 1,024 KB.
   *
   * @default 1
   */
  itemKb?: number;
  /**
   * The highest allowed average utilization of the partitions, and the highest allowed utilization of each shard, from 0.05 to
   * 0.95. With 1, the plan uses the formula of AWS, which ignores that two shards can be in one partition.
   *
   * @default 0.5
   */
  utilization?: number;
  /**
   * The number of partitions of the index: its warm write units divided by 1,000.
   *
   * @default the smallest number of partitions with which the average utilization is at most `utilization`; at least 4, as in a
   *   new on-demand index
   */
  partitions?: number;
  /**
   * The highest allowed probability that any partition gets more than its 1,000 write units per second.
   *
   * @default 0.05
   */
  probability?: number;
  /**
   * Each value's share of the writes, in any unit. Set it for an index in which each value has its own shard count.
   *
   * @default the index covers the whole table, or one value has all writes
   */
  shares?: Readonly<Record<string, number>>;
  /**
   * The pages that are queried per second. With several values, the pages per second of one value.
   *
   * @default 0
   */
  pagesPerSecond?: number;
  /**
   * The number of items on a page, from 1 to 10,000.
   *
   * @default 25
   */
  pageItems?: number;
  /**
   * The maximum size of the index or the table in gigabytes of 10^9 bytes, greater than 0. The plan divides the bytes among the
   * values in proportion to the writes.
   *
   * @default the plan ignores the stored bytes
   */
  storedGb?: number;
  /**
   * Whether this is a table with a local secondary index. In such a table, DynamoDB rejects writes to a partition key with more
   * than 10 GB. In any other table, DynamoDB splits the items of a partition key over several partitions if the items are busy or
   * have more than 10 GB.
   *
   * @default false
   */
  hasLocalSecondaryIndex?: boolean;
  /**
   * The number of the first shard, an integer of at least 0, if the existing shards already have numbers. This option changes
   * only `shardNumbers`.
   *
   * @default 0
   */
  firstShard?: number;
  /**
   * The mean traffic of a month divided by the peak traffic, greater than 0 and at most 1. Only the cost depends on this option.
   *
   * @default 1
   */
  averageOfPeak?: number;
  /**
   * Your own prices, in US dollars. For each price that you do not set, the plan uses the list price.
   *
   * @default `LIST_PRICES`
   */
  prices?: Partial<ListPrices>;
}

/** The rules that determine the number of shards of an index. */
export type IndexRule = 'writes to a shard' | 'shards that share a partition' | 'bytes of a shard';

/** The limits that the traffic of an index can reach. */
export type IndexLimit =
  | 'writes to a shard'
  /** The utilization in the median placement of shards on partitions. */
  | 'writes to the busiest partition, typically'
  /** The utilization that a placement exceeds only with `probability`. */
  | 'writes to the busiest partition, at worst'
  | 'writes to all partitions'
  | 'reads of a shard'
  /** Only for a table with a local secondary index, where DynamoDB rejects writes above this limit. */
  | 'bytes of a shard';

/** The plan of an index: its number of shards, and the reasons. */
export interface IndexPlan {
  /**
   * The number of shards of the whole index. With `byValue`, it is the sum of the shard counts of all values. Rounding up can make
   * this sum larger than the number that the rules require.
   */
  shards: number;
  /** The number of shards of each value, if the traffic has `shares`. Use it for `ShardCounts.byValue`. */
  byValue?: Record<string, number>;
  /**
   * The numbers of the first and the last shard that a query reads. With `byValue`, the numbers for the value with the
   * most shards.
   */
  shardNumbers: { first: number; last: number };
  /** The rule that requires the most shards. */
  boundBy: IndexRule;
  rules: PlanRule<IndexRule>[];
  /** The number of partitions. If the traffic does not set this number, the plan assumes it. */
  partitions: number;
  /** The probability that any partition is overloaded, if the index has the planned number of shards. */
  overloadProbability: number;
  /** The utilization of each limit. The first element is the limit that growing traffic reaches first. */
  limits: LimitUse<IndexLimit>[];
  /**
   * The cost of one page, with and without shards. With several values, the cost for the value with the most shards.
   */
  page: { shards: number; readUnits: number; readUnitsUnsharded: number };
  /**
   * The stored bytes, if the traffic has `storedGb`: the gigabytes in the fullest shard, and the smallest number of partitions
   * that can hold all bytes.
   */
  stored?: { gbOfShard: number; partitions: number };
  /** The problems that more shards do not solve, each with a solution. */
  notFixed: string[];
  /** The limits of AWS that the plan exceeds, and how to increase them. */
  exceeded: ExceededServiceLimit[];
  /** The cost of a month in US dollars, and the source of the prices. */
  monthlyCost: { writes: number; pages: number; total: number; prices: string };
}

/**
 * Plans a sharded index. The plan has the number of shards, the rule that requires them, and the utilization of each limit. The
 * plan shows the benefit and the cost of shards: head-room for writes, and read units for every page.
 *
 * A partition is overloaded above 1,000 write units per second. So with w write units per second on N partitions, a partition is
 * overloaded above 1000 N / w times its fair share. If the traffic does not set N, the plan assumes N. A smaller N can need more
 * shards. The plan computes the number of shards for N partitions and for each smaller number of partitions, and uses the largest
 * result. So more traffic never needs fewer shards.
 *
 * @throws InvalidArgumentError if a number is outside its bounds, or if the traffic needs more than 10,000 shards
 */
export function planIndex(traffic: IndexTraffic): IndexPlan {
  checkFields('traffic', traffic);
  const index = checkedTraffic(traffic);
  const { unitsPerSecond, partitions, utilization, probability, shares, pagesPerSecond, pageItems, itemKb } = index;
  const { storedGb, hasLocalSecondaryIndex = false, firstShard = 0 } = traffic;
  const average = unitsPerSecond / partitions / PARTITION_WRITE_UNITS;
  // If partitions are full on average, any uneven placement overloads a partition. The formula of AWS ignores this.
  const isByFormula = utilization === FULL && (traffic.partitions === undefined || isFull(average));
  const rules = rulesOf(traffic, index, average, isByFormula);
  const { shards: needed, rule: boundBy } = bindingRule(rules);
  if (needed > MAX_INDEX_SHARDS) throw tooManyShards(traffic, boundBy);

  const byValue = shares && weightedShards({ shards: needed, shares });
  const counts = byValue === undefined ? [needed] : Object.values(byValue);
  const largestCount = counts.reduce((most, count) => Math.max(most, count));
  const readUnits = readUnitsPerPage({ shards: largestCount, items: pageItems, itemKb });
  // Uses the number of shards before rounding: rounding up only adds shards, so each shard becomes less busy.
  const ofShard = unitsPerSecond / needed / PARTITION_WRITE_UNITS;
  const ofBusiest = busiestOfCounts(byValue, shares, needed);
  const gbOfShard = storedGb === undefined ? undefined : (storedGb / needed) * ofBusiest;
  const busiestPartition = (chance: number): number => likelyMost(needed, partitions, chance) * ofShard;
  return {
    shards: counts.reduce((sum, count) => sum + count, 0),
    ...(byValue && { byValue }),
    shardNumbers: { first: firstShard, last: firstShard + largestCount - 1 },
    boundBy,
    rules,
    partitions,
    overloadProbability: moreThan(floorOf(1 / ofShard), needed, partitions),
    limits: byUse<IndexLimit>([
      { limit: 'writes to a shard', used: ofShard * ofBusiest },
      { limit: 'writes to the busiest partition, typically', used: busiestPartition(Math.max(0.5, probability)) },
      { limit: 'writes to the busiest partition, at worst', used: busiestPartition(probability) },
      { limit: 'writes to all partitions', used: average },
      { limit: 'reads of a shard', used: (pagesPerSecond * readUnits) / largestCount / PARTITION_READ_UNITS },
      ...(gbOfShard !== undefined && hasLocalSecondaryIndex
        ? [{ limit: 'bytes of a shard' as const, used: gbOfShard / PARTITION_GB }]
        : []),
    ]),
    page: {
      shards: largestCount,
      readUnits,
      readUnitsUnsharded: readUnitsPerPage({ shards: 1, items: pageItems, itemKb }),
    },
    ...(gbOfShard !== undefined && {
      stored: { gbOfShard, partitions: Math.max(1, ceilOf(storedGb! / PARTITION_GB)) },
    }),
    notFixed: [...(isByFormula ? [FORMULA] : []), ...notFixed(index, average, readUnits / largestCount)],
    exceeded: exceededLimits({ tableWrites: unitsPerSecond, tableReads: pagesPerSecond * readUnits }),
    monthlyCost: monthlyCost(index, readUnits),
  };
}

/** The number of shards that each rule requires. */
function rulesOf(
  traffic: IndexTraffic,
  { unitsPerSecond, partitions, utilization, probability }: ReturnType<typeof checkedTraffic>,
  average: number,
  isByFormula: boolean,
): PlanRule<IndexRule>[] {
  const { storedGb, hasLocalSecondaryIndex = false } = traffic;
  const atLeastOne = (shards: number) => Math.max(1, ceilOf(shards));
  const rules: PlanRule<IndexRule>[] = [
    { rule: 'writes to a shard', shards: atLeastOne(unitsPerSecond / (PARTITION_WRITE_UNITS * utilization)) },
  ];
  if (!isByFormula) {
    const rule = 'shards that share a partition';
    // If the partitions are too busy on average, no number of shards is enough. The plan then has as many shards as for the
    // traffic that the partitions can serve.
    const busy = Math.min(average, utilization);
    // Fails early: the computation of the exact number takes seconds, and that number would exceed the maximum.
    if (surelyNeedsMoreThan(MAX_INDEX_SHARDS, { partitions, probability, utilization: busy })) {
      throw tooManyShards(traffic, rule);
    }
    const onThese = shardsForOverload({ partitions, probability, utilization: busy });
    // A plan for less traffic assumes fewer partitions, and can need more shards. Uses the largest number of shards, so that more
    // traffic never gets fewer shards.
    const fewer = { fewest: NEW_INDEX_PARTITIONS, partitions: partitions - 1, probability, utilization };
    const isAssumed = traffic.partitions === undefined;
    rules.push({ rule, shards: isAssumed ? mostShardsForOverload(fewer, onThese) : onThese });
  }
  if (storedGb !== undefined && hasLocalSecondaryIndex) {
    rules.push({ rule: 'bytes of a shard', shards: atLeastOne(storedGb / (PARTITION_GB * utilization)) });
  }
  return rules;
}

function tooManyShards({ writesPerSecond, storedGb }: IndexTraffic, rule: IndexRule): InvalidArgumentError {
  const allowed = `traffic for at most ${MAX_INDEX_SHARDS} shards (the rule "${rule}" needs more, and a query reads every shard for each page)`;
  return rule === 'bytes of a shard'
    ? new InvalidArgumentError('storedGb', storedGb, allowed.replace('traffic', 'the gigabytes'))
    : new InvalidArgumentError('writesPerSecond', writesPerSecond, allowed);
}

/** The utilization that selects the formula of AWS. With full partitions, no number of shards prevents overload. */
const FULL = 1;
const FORMULA =
  'the formula of AWS assumes one partition per shard, but several shards can share a partition: plan with a lower utilization';

function isFull(average: number): boolean {
  return !isAbove(FULL, average);
}

function checkUtilization(utilization: number): void {
  if (utilization >= 0.05 && utilization <= 0.95) return;
  throw new InvalidArgumentError('utilization', utilization, 'a number from 0.05 to 0.95, or 1 for the formula of AWS');
}

/**
 * The load of the busiest shard, divided by the mean load of `needed` shards. If the index has no values, all shards have equal
 * loads, and the result is 1.
 */
function busiestOfCounts(
  byValue: Readonly<Record<string, number>> | undefined,
  shares: Readonly<Record<string, number>> = {},
  needed: number,
): number {
  if (byValue === undefined) return 1;
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  return Object.entries(byValue).reduce(
    (most, [value, count]) => Math.max(most, (shares[value]! / total / count) * needed),
    0,
  );
}

function checkedTraffic(traffic: IndexTraffic) {
  const { writesPerSecond, shares, prices } = traffic;
  if (wrongPartOf({ firstShard: traffic.firstShard }) !== undefined) {
    throw new InvalidArgumentError('firstShard', traffic.firstShard, ALLOWED_SHARD_FORMAT.firstShard);
  }
  const { itemKb = 1, utilization = 0.5, probability = 0.05 } = traffic;
  const { pagesPerSecond = 0, pageItems = 25, averageOfPeak = 1 } = traffic;
  checkPositive('writesPerSecond', writesPerSecond);
  if (shares !== undefined) checkFields('shares', shares);
  checkPositive('itemKb', itemKb, MAX_ROW_KB);
  if (utilization !== FULL) checkUtilization(utilization);
  checkBetween('probability', probability, 1e-9, 0.999);
  if (traffic.storedGb !== undefined) checkPositive('storedGb', traffic.storedGb);
  checkNotNegative('pagesPerSecond', pagesPerSecond);
  checkWhole('pageItems', pageItems, 1, 10_000);
  checkPositive('averageOfPeak', averageOfPeak, 1);
  const unitsPerSecond = writesPerSecond * writeUnits(itemKb);
  const assumed = Math.max(NEW_INDEX_PARTITIONS, ceilOf(unitsPerSecond / PARTITION_WRITE_UNITS / utilization));
  // The rule needs as many shards, and the user has given no number of partitions.
  if (traffic.partitions === undefined && assumed > MAX_INDEX_SHARDS) throw tooManyShards(traffic, 'writes to a shard');
  const { partitions = assumed } = traffic;
  checkWhole('partitions', partitions, 1, MAX_PLANNED_PARTITIONS);
  return {
    unitsPerSecond,
    itemKb,
    utilization,
    partitions,
    probability,
    shares,
    pagesPerSecond,
    pageItems,
    averageOfPeak,
    prices: pricesWith(prices),
  };
}

type CheckedTraffic = ReturnType<typeof checkedTraffic>;

function notFixed(index: CheckedTraffic, average: number, readUnitsOfShard: number): string[] {
  const { unitsPerSecond, partitions, utilization, pagesPerSecond } = index;
  const sentences: string[] = [];
  if (isAbove(average, utilization)) {
    const needed = ceilOf(unitsPerSecond / utilization);
    sentences.push(
      `${partitions} partitions are ${percent(average)} busy on average with any number of shards: ` +
        `set a warm throughput of ${needed} write units a second`,
    );
  }
  if (pagesPerSecond * readUnitsOfShard > PARTITION_READ_UNITS) {
    sentences.push(
      `${pagesPerSecond} pages a second need more than the ${PARTITION_READ_UNITS} read units a second of each shard: ` +
        'cache the pages, or project fewer attributes',
    );
  }
  return sentences;
}

function percent(part: number): string {
  return `${Math.round(part * 100)}%`;
}

function monthlyCost(index: CheckedTraffic, readUnits: number): IndexPlan['monthlyCost'] {
  const { unitsPerSecond, pagesPerSecond, averageOfPeak, prices } = index;
  const seconds = SECONDS_PER_MONTH * averageOfPeak;
  const writes = ((unitsPerSecond * seconds) / 1e6) * prices.millionWriteUnits;
  const pages = ((pagesPerSecond * readUnits * seconds) / 1e6) * prices.millionReadUnits;
  return { writes, pages, total: writes + pages, prices: prices.asOf };
}

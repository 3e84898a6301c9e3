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
 * The partitions of a new on-demand index, which accepts 4,000 write units a second from the start.
 * Source: the DynamoDB developer guide, "On-demand capacity mode", initial throughput. That this takes four partitions is an
 * assumption: a partition takes 1,000 units, and AWS does not document how many there are.
 */
const NEW_INDEX_PARTITIONS = 4;

/** The traffic that an index must carry. Rates are those of the busiest second. */
export interface IndexTraffic {
  /**
   * The writes to the index a second, above 0. An insert or a delete of an item is one write. An update that changes
   * the index's value or shard is two writes, because DynamoDB deletes the old entry and inserts a new one.
   */
  writesPerSecond: number;
  /**
   * The size of an index entry in kilobytes, above 0: its keys and its projected attributes.
   *
   * @default 1
   */
  itemKb?: number;
  /**
   * How busy the partitions may be on average, and each shard at most, from 0.05 to 0.95; or 1, which gives the count of the
   * formula of AWS: it leaves no room for two shards on one partition, which chance brings about.
   *
   * @default 0.5
   */
  utilization?: number;
  /**
   * How many partitions the index has: its warm write units divided by 1,000.
   *
   * @default as many as keep within `utilization`, and at least 4, which a new on-demand index has
   */
  partitions?: number;
  /**
   * The highest allowed probability that some partition gets more than its 1,000 write units a second.
   *
   * @default 0.05
   */
  probability?: number;
  /**
   * Each value's share of the writes, in any unit. Give it for an index by value.
   *
   * @default the index covers the whole table, or one value has all writes
   */
  shares?: Readonly<Record<string, number>>;
  /**
   * The pages that are queried a second. If there are several values, they are pages of one value.
   *
   * @default 0
   */
  pagesPerSecond?: number;
  /**
   * The items on a page, from 1 to 10,000.
   *
   * @default 25
   */
  pageItems?: number;
  /**
   * The gigabytes (of a billion bytes) that the index or the table holds at most, above 0. They are divided among the values as the
   * writes are.
   *
   * @default the bytes are left out of the plan
   */
  storedGb?: number;
  /**
   * Whether it is a table with a local secondary index. DynamoDB divides the items of one partition key among several partitions,
   * when they are busy or have more than 10 GB, unless there is such an index: then it refuses writes beyond 10 GB.
   *
   * @default false
   */
  hasLocalSecondaryIndex?: boolean;
  /**
   * The number of the first shard, a whole number of at least 0, where shards have numbers already. It changes no count, only
   * `shardNumbers`.
   *
   * @default 0
   */
  firstShard?: number;
  /**
   * The mean of a month's traffic as a part of the peak, above 0 and at most 1. Only the cost depends on it.
   *
   * @default 1
   */
  averageOfPeak?: number;
  /**
   * Your own prices, in US dollars. A price that you leave out is the list price.
   *
   * @default `LIST_PRICES`
   */
  prices?: Partial<ListPrices>;
}

/** The rules that decide how many shards an index needs. */
export type IndexRule = 'writes to a shard' | 'shards that share a partition' | 'bytes of a shard';

/** The limits that the traffic of an index can reach. */
export type IndexLimit =
  | 'writes to a shard'
  /** In half of all placements of the shards on partitions, it is no more. */
  | 'writes to the busiest partition, typically'
  /** In all placements but those of `probability`, it is no more. */
  | 'writes to the busiest partition, at worst'
  | 'writes to all partitions'
  | 'reads of a shard'
  /** Only where DynamoDB refuses what is more. */
  | 'bytes of a shard';

/** The plan of an index: how many shards it needs, and why. */
export interface IndexPlan {
  /**
   * The number of shards of the whole index. With `byValue` it is their sum, which rounding up makes larger than what the rules
   * ask for.
   */
  shards: number;
  /** The number of shards of each value, if the traffic has `shares`. Use it for `ShardCounts.byValue`. */
  byValue?: Record<string, number>;
  /** The number of the first and of the last shard: of all, or with `byValue` of the value that has the most. A query asks all of them. */
  shardNumbers: { first: number; last: number };
  /** The rule that asks for the most shards. */
  boundBy: IndexRule;
  rules: PlanRule<IndexRule>[];
  /**
   * The number of partitions that the plan assumes: those of the traffic, of a new index, or those that writes need.
   */
  partitions: number;
  /** The probability that some partition is overloaded with the planned number of shards. */
  overloadProbability: number;
  /** How much of each limit the traffic uses. The limit that breaks first comes first. */
  limits: LimitUse<IndexLimit>[];
  /** What one page costs readers, with and without shards. If there are several values: of the one with most shards. */
  page: { shards: number; readUnits: number; readUnitsUnsharded: number };
  /** What it stores, if the traffic says so: the gigabytes of the fullest shard, and the partitions that hold all bytes, at least. */
  stored?: { gbOfShard: number; partitions: number };
  /** The problems that no number of shards fixes. Each sentence says what does fix it. */
  notFixed: string[];
  /** The limits of AWS that the plan exceeds, and what increases them. */
  exceeded: ExceededServiceLimit[];
  /** The cost of a month in US dollars, and the prices it is computed with. */
  monthlyCost: { writes: number; pages: number; total: number; prices: string };
}

/**
 * Plans a sharded index: how many shards it needs, which rule asks for them, and which limit breaks first when traffic
 * grows. It shows both what shards give and what they cost: head-room for writes, and read units for every page.
 *
 * A partition is overloaded above its 1,000 write units a second. So with w write units a second on N partitions, it is
 * overloaded above 1000 N / w times its fair share. If N is assumed, the plan also carries the most writes that are planned on any smaller
 * number of partitions, which may need more shards: more traffic never needs fewer.
 *
 * @throws InvalidArgumentError if a number is outside its bounds, or if the traffic needs more than 10,000 shards
 */
export function planIndex(traffic: IndexTraffic): IndexPlan {
  checkFields('traffic', traffic);
  const index = checkedTraffic(traffic);
  const { unitsPerSecond, partitions, utilization, probability, shares, pagesPerSecond, pageItems, itemKb } = index;
  const { storedGb, hasLocalSecondaryIndex = false, firstShard = 0 } = traffic;
  const average = unitsPerSecond / partitions / PARTITION_WRITE_UNITS;
  // Partitions that are full on average have no room for chance, which is what the formula of AWS leaves out.
  const isByFormula = utilization === FULL && (traffic.partitions === undefined || isFull(average));
  const rules = rulesOf(traffic, index, average, isByFormula);
  const { shards: needed, rule: boundBy } = bindingRule(rules);
  if (needed > MAX_INDEX_SHARDS) throw tooManyShards(traffic, boundBy);

  const byValue = shares && weightedShards({ shards: needed, shares });
  const counts = byValue === undefined ? [needed] : Object.values(byValue);
  const asked = counts.reduce((most, count) => Math.max(most, count));
  const readUnits = readUnitsPerPage({ shards: asked, items: pageItems, itemKb });
  // Rounding up only adds shards, each of which is less busy than one of these.
  const ofShard = unitsPerSecond / needed / PARTITION_WRITE_UNITS;
  const ofBusiest = busiestOfCounts(byValue, shares, needed);
  const gbOfShard = storedGb === undefined ? undefined : (storedGb / needed) * ofBusiest;
  const busiestPartition = (chance: number): number => likelyMost(needed, partitions, chance) * ofShard;
  return {
    shards: counts.reduce((sum, count) => sum + count, 0),
    ...(byValue && { byValue }),
    shardNumbers: { first: firstShard, last: firstShard + asked - 1 },
    boundBy,
    rules,
    partitions,
    overloadProbability: moreThan(floorOf(1 / ofShard), needed, partitions),
    limits: byUse<IndexLimit>([
      { limit: 'writes to a shard', used: ofShard * ofBusiest },
      { limit: 'writes to the busiest partition, typically', used: busiestPartition(Math.max(0.5, probability)) },
      { limit: 'writes to the busiest partition, at worst', used: busiestPartition(probability) },
      { limit: 'writes to all partitions', used: average },
      { limit: 'reads of a shard', used: (pagesPerSecond * readUnits) / asked / PARTITION_READ_UNITS },
      ...(gbOfShard !== undefined && hasLocalSecondaryIndex
        ? [{ limit: 'bytes of a shard' as const, used: gbOfShard / PARTITION_GB }]
        : []),
    ]),
    page: {
      shards: asked,
      readUnits,
      readUnitsUnsharded: readUnitsPerPage({ shards: 1, items: pageItems, itemKb }),
    },
    ...(gbOfShard !== undefined && {
      stored: { gbOfShard, partitions: Math.max(1, ceilOf(storedGb! / PARTITION_GB)) },
    }),
    notFixed: [...(isByFormula ? [FORMULA] : []), ...notFixed(index, average, readUnits / asked)],
    exceeded: exceededLimits({ tableWrites: unitsPerSecond, tableReads: pagesPerSecond * readUnits }),
    monthlyCost: monthlyCost(index, readUnits),
  };
}

/** What each rule asks for. */
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
  if (!isAbove(average, utilization) && !isByFormula) {
    const rule = 'shards that share a partition';
    // The exact number takes seconds, and would be refused.
    if (surelyNeedsMoreThan(MAX_INDEX_SHARDS, { partitions, probability, utilization: average })) {
      throw tooManyShards(traffic, rule);
    }
    const onThese = shardsForOverload({ partitions, probability, utilization: average });
    // Less traffic is planned on fewer partitions, and what it needs there, this traffic needs, too.
    const fewer = { fewest: NEW_INDEX_PARTITIONS, partitions: partitions - 1, probability, utilization };
    const isAssumed = traffic.partitions === undefined;
    rules.push({ rule, shards: isAssumed ? mostShardsForOverload(fewer, onThese) : onThese });
  }
  if (storedGb !== undefined && hasLocalSecondaryIndex) {
    rules.push({ rule: 'bytes of a shard', shards: atLeastOne(storedGb / (PARTITION_GB * utilization)) });
  }
  return rules;
}

function tooManyShards({ writesPerSecond }: IndexTraffic, rule: IndexRule): InvalidArgumentError {
  const allowed = `traffic that at most ${MAX_INDEX_SHARDS} shards can carry, but the rule "${rule}" needs more, and each page of a query asks every shard`;
  return new InvalidArgumentError('writesPerSecond', writesPerSecond, allowed);
}

/** No number of shards is even enough where every partition is full on average. */
const FULL = 1;
const FORMULA =
  'the formula of AWS counts on a partition for each shard, and by chance several share one: plan with a lower utilization';

function isFull(average: number): boolean {
  return !isAbove(FULL, average);
}

function checkUtilization(utilization: number): void {
  if (utilization >= 0.05 && utilization <= 0.95) return;
  throw new InvalidArgumentError('utilization', utilization, 'a number from 0.05 to 0.95, or 1 for the formula of AWS');
}

/** How busy the busiest shard is beside one of as many as are needed, all equally busy: with values, each has shards of its own. */
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
  checkPositive('itemKb', itemKb);
  if (utilization !== FULL) checkUtilization(utilization);
  checkBetween('probability', probability, 1e-9, 0.999);
  if (traffic.storedGb !== undefined) checkPositive('storedGb', traffic.storedGb);
  checkNotNegative('pagesPerSecond', pagesPerSecond);
  checkWhole('pageItems', pageItems, 1, 10_000);
  checkPositive('averageOfPeak', averageOfPeak);
  checkBetween('averageOfPeak', averageOfPeak, 0, 1);
  const unitsPerSecond = writesPerSecond * writeUnits(itemKb);
  const { partitions = Math.max(NEW_INDEX_PARTITIONS, ceilOf(unitsPerSecond / PARTITION_WRITE_UNITS / utilization)) } =
    traffic;
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
        `a warm throughput of ${needed} write units a second has enough partitions`,
    );
  }
  if (pagesPerSecond * readUnitsOfShard > PARTITION_READ_UNITS) {
    sentences.push(
      `${pagesPerSecond} pages a second need more than the ${PARTITION_READ_UNITS} read units a second of each shard: ` +
        'cache the pages, or project less',
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

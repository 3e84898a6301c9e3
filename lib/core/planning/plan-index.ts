import { InvalidArgumentError } from '../foundation/errors';
import { MAX_INDEX_SHARDS } from '../foundation/shard-count';
import { likelyMost, moreThan } from './largest-load';
import { type ListPrices, pricesWith, SECONDS_PER_MONTH } from './list-prices';
import { checkBetween, checkNotNegative, checkPositive, checkWhole } from './number-checks';
import { MAX_PLANNED_PARTITIONS } from './overload-probability';
import { bindingRule, byUse, type LimitUse, type PlanRule } from './plan';
import { readUnitsPerPage } from './read-units-per-page';
import { ceilOf, floorOf, isAbove } from './rounding';
import { shardsForOverload } from './shards-for-overload';
import { PARTITION_READ_UNITS, PARTITION_WRITE_UNITS, writeUnits } from './suffix-range';
import { weightedShards } from './weighted-shards';

/**
 * The partitions of a new on-demand index, which takes 4,000 write units a second from the start.
 * Source: the DynamoDB developer guide, "On-demand capacity mode", initial throughput.
 */
const NEW_INDEX_PARTITIONS = 4;

/** What an index is to carry. Rates are those of the busiest second. */
export interface IndexTraffic {
  /**
   * Writes to the index a second, at least 0. An item that is inserted or deleted counts once, an update that changes the
   * index's value or shard twice: the old entry goes, the new one comes.
   */
  writesPerSecond: number;
  /**
   * The size of an index entry in kilobytes, above 0: its keys and what it projects.
   *
   * @default 1
   */
  itemKb?: number;
  /**
   * How busy partitions may be on average, and a shard at most, from 0.05 to 0.95.
   *
   * @default 0.5
   */
  utilisation?: number;
  /**
   * How many partitions the index has: its warm write units over 1,000.
   *
   * @default - as many as keep within `utilisation`, and at least 4, as a new on-demand index has
   */
  partitions?: number;
  /**
   * The probability that some partition gets more than its 1,000 write units a second, to stay below.
   *
   * @default 0.05
   */
  probability?: number;
  /**
   * Each value's share of the writes, in any unit. Give it for an index by value.
   *
   * @default - the index covers the whole table, or one value has all writes
   */
  shares?: Readonly<Record<string, number>>;
  /**
   * Pages that are queried a second, of the same value if there are several.
   *
   * @default 0
   */
  pagesPerSecond?: number;
  /**
   * Items of a page.
   *
   * @default 25
   */
  pageItems?: number;
  /**
   * The mean of a month's traffic as a part of the peak, above 0 and at most 1. It decides on the cost alone.
   *
   * @default 1
   */
  averageOfPeak?: number;
  /** @default - `LIST_PRICES` */
  prices?: Partial<ListPrices>;
}

export type IndexRule = 'writes to a shard' | 'shards that share a partition';

export type IndexLimit =
  | 'writes to a shard'
  | 'writes to the busiest partition'
  | 'writes to all partitions'
  | 'reads of a shard';

/** How many shards, and why. */
export interface IndexPlan {
  /** Of the whole index, before they are divided among values. */
  shards: number;
  /** By value, if the traffic has shares: for `ShardCounts.byValue`. */
  byValue?: Record<string, number>;
  /** The rule that asks for the most shards. */
  boundBy: IndexRule;
  rules: PlanRule<IndexRule>[];
  /** What was planned for: what a new index has, or what its writes need. */
  partitions: number;
  /** The probability that some partition is overloaded with as many shards as planned. */
  overloadProbability: number;
  /** What breaks first comes first. */
  limits: LimitUse<IndexLimit>[];
  /** The price of the shards on the reading side. Of the value with the most shards, if there are several. */
  page: { shards: number; readUnits: number; readUnitsUnsharded: number };
  /** What no number of shards mends, in words, each with what does. */
  notMended: string[];
  /** US dollars a month, at list prices. */
  monthlyCost: { writes: number; pages: number; total: number; prices: string };
}

/**
 * Plans a sharded index: how many shards it needs, which rule asks for them, what breaks first when traffic grows, and
 * both sides of the price, the head-room that shards give writes and the read units they cost every page.
 *
 * A partition is taken to be overloaded above its 1,000 write units a second, so with w write units a second on N
 * partitions above 1000 N / w times its fair share.
 *
 * @throws InvalidArgumentError for a number outside its bounds, or if more than 10,000 shards were needed
 */
export function planIndex(traffic: IndexTraffic): IndexPlan {
  const index = checkedTraffic(traffic);
  const { unitsPerSecond, partitions, utilisation, probability, shares, pagesPerSecond, pageItems, itemKb } = index;
  const average = unitsPerSecond / partitions / PARTITION_WRITE_UNITS;

  const rules: PlanRule<IndexRule>[] = [
    {
      rule: 'writes to a shard',
      shards: Math.max(1, ceilOf(unitsPerSecond / (PARTITION_WRITE_UNITS * utilisation))),
    },
  ];
  if (average > 0 && !isAbove(average, utilisation)) {
    const shards = shardsForOverload({ partitions, probability, utilisation: average });
    rules.push({ rule: 'shards that share a partition', shards });
  }
  const { shards, rule: boundBy } = bindingRule(rules);
  if (shards > MAX_INDEX_SHARDS) {
    throw new InvalidArgumentError(
      'writesPerSecond',
      traffic.writesPerSecond,
      `traffic for at most ${MAX_INDEX_SHARDS} shards, of which ${boundBy} needs ${shards}`,
    );
  }

  const byValue = shares && weightedShards({ shards, shares });
  const asked = byValue === undefined ? shards : Object.values(byValue).reduce((most, count) => Math.max(most, count));
  const readUnits = readUnitsPerPage({ shards: asked, items: pageItems, itemKb });
  const ofShard = unitsPerSecond / shards / PARTITION_WRITE_UNITS;
  return {
    shards,
    ...(byValue && { byValue }),
    boundBy,
    rules,
    partitions,
    overloadProbability: average > 0 ? moreThan(floorOf(1 / ofShard), shards, partitions) : 0,
    limits: byUse<IndexLimit>([
      { limit: 'writes to a shard', used: ofShard },
      { limit: 'writes to the busiest partition', used: likelyMost(shards, partitions, probability) * ofShard },
      { limit: 'writes to all partitions', used: average },
      { limit: 'reads of a shard', used: (pagesPerSecond * readUnits) / asked / PARTITION_READ_UNITS },
    ]),
    page: {
      shards: asked,
      readUnits,
      readUnitsUnsharded: readUnitsPerPage({ shards: 1, items: pageItems, itemKb }),
    },
    notMended: notMended(index, average, readUnits / asked),
    monthlyCost: monthlyCost(index, readUnits),
  };
}

function checkedTraffic(traffic: IndexTraffic) {
  const { writesPerSecond, shares, prices } = traffic;
  const { itemKb = 1, utilisation = 0.5, probability = 0.05 } = traffic;
  const { pagesPerSecond = 0, pageItems = 25, averageOfPeak = 1 } = traffic;
  checkNotNegative('writesPerSecond', writesPerSecond);
  checkPositive('itemKb', itemKb);
  checkBetween('utilisation', utilisation, 0.05, 0.95);
  checkBetween('probability', probability, 1e-9, 0.999);
  checkNotNegative('pagesPerSecond', pagesPerSecond);
  checkWhole('pageItems', pageItems, 1, 10_000);
  checkPositive('averageOfPeak', averageOfPeak);
  checkBetween('averageOfPeak', averageOfPeak, 0, 1);
  const unitsPerSecond = writesPerSecond * writeUnits(itemKb);
  const { partitions = Math.max(NEW_INDEX_PARTITIONS, ceilOf(unitsPerSecond / PARTITION_WRITE_UNITS / utilisation)) } =
    traffic;
  checkWhole('partitions', partitions, 1, MAX_PLANNED_PARTITIONS);
  return {
    unitsPerSecond,
    itemKb,
    utilisation,
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

function notMended(index: CheckedTraffic, average: number, readUnitsOfShard: number): string[] {
  const { unitsPerSecond, partitions, utilisation, pagesPerSecond } = index;
  const sentences: string[] = [];
  if (isAbove(average, utilisation)) {
    const needed = ceilOf(unitsPerSecond / utilisation);
    sentences.push(
      `${partitions} partitions are ${percent(average)} busy on average, however many shards there are: ` +
        `give the index a warm throughput of ${needed} write units a second`,
    );
  }
  if (pagesPerSecond * readUnitsOfShard > PARTITION_READ_UNITS) {
    sentences.push(
      `${pagesPerSecond} pages a second ask every shard, for more than its ${PARTITION_READ_UNITS} read units a second: ` +
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

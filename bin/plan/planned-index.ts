import { InvalidArgumentError } from '../../lib/core/kernel/errors';
import type { ListPrices } from '../../lib/core/planning/list-prices';
import { type IndexTraffic, planIndex } from '../../lib/core/planning/plan-index';
import { SERVICE_LIMITS } from '../../lib/core/planning/service-limits';
import { ALLOWED_SHARD_FORMAT, type ShardFormat, wrongPartOf } from '../../lib/core/sharding/shard-format';
import { UsageError } from '../flags';
import type { TrafficSample } from '../samples/traffic-sample';
import { BESIDE_VALUE, numbersOf, PLAN_COMMAND, type PlanFlags, sharesOf } from './plan-flags';
import type { PlannedKind, TradeOff } from './plan-report';
import { largestRate } from './sample-placement';
import { formulaNumber } from './shard-numbers';

const MAX_ITEM_KB = SERVICE_LIMITS.itemKilobytes.value;

/** Plans an index or a table for the traffic in the flags, or for a sample. */
export function plannedIndex(
  flags: PlanFlags,
  kind: PlannedKind,
  sample: TrafficSample | undefined,
  prices: Partial<ListPrices> | undefined,
) {
  const number = numbersOf(flags);
  const fromSample = sample && {
    writesPerSecond: number('records-per-second') ?? largestRate(sample, number('head-room')),
    itemKb: Math.min(MAX_ITEM_KB, sample.bytes / sample.records / 1_024),
    shares: Object.fromEntries(sample.keys),
  };
  const traffic = {
    writesPerSecond: number('writes-per-second') ?? fromSample!.writesPerSecond,
    itemKb: number('item-kb') ?? fromSample?.itemKb,
    shares: flags.share ? sharesOf(flags.share) : fromSample?.shares,
    utilization: number('utilization') ?? utilizationOf(number('overload')),
    partitions: number('partitions'),
    probability: number('probability'),
    pagesPerSecond: number('pages-per-second'),
    pageItems: number('page-items'),
    averageOfPeak: number('average-of-peak'),
    storedGb: number('stored-gb'),
    hasLocalSecondaryIndex: flags['local-index'],
    firstShard: number('first-shard'),
    prices,
  };
  if (kind !== 'keyspaces' && traffic.itemKb !== undefined && traffic.itemKb > MAX_ITEM_KB) {
    throw new InvalidArgumentError(
      'itemKb',
      traffic.itemKb,
      `at most ${MAX_ITEM_KB}, the size of the largest item of DynamoDB`,
    );
  }
  const plan = planIndex(traffic);
  const formula = formulaNumber(traffic, plan);
  return {
    traffic: { ...traffic, shares: undefined },
    shardFormat: shardFormatOf(flags, kind, traffic.shares !== undefined),
    plan,
    ...(formula.shards < plan.shards && { formula }),
    tradeOffs: tradeOffs(traffic),
    kind,
  };
}

/** The shard format in the flags. */
function shardFormatOf(flags: PlanFlags, kind: PlannedKind, isByValue: boolean): ShardFormat {
  const number = numbersOf(flags);
  const besideValue = BESIDE_VALUE.find((flag) => flags[flag] !== undefined);
  if (besideValue !== undefined && kind === 'keyspaces') {
    throw new UsageError(
      `--${besideValue} has no effect with --keyspaces, because the shard has a separate column`,
      PLAN_COMMAND,
    );
  }
  if (besideValue !== undefined && kind === 'index' && !isByValue) {
    const problem = `--${besideValue} applies only if the shard and a value share an attribute, and this index has no value: give --share VALUE=N, or table`;
    throw new UsageError(problem, PLAN_COMMAND);
  }
  const shardFormat = {
    firstShard: number('first-shard'),
    separator: flags.separator,
    shardWidth: number('shard-width'),
    shardPlacement: flags['shard-placement'] as ShardFormat['shardPlacement'],
  };
  const wrong = wrongPartOf(shardFormat);
  if (wrong !== undefined) throw new InvalidArgumentError(wrong, shardFormat[wrong], ALLOWED_SHARD_FORMAT[wrong]);
  return shardFormat;
}

function utilizationOf(overload: number | undefined): number | undefined {
  if (overload === undefined) return undefined;
  // These overloads give the utilizations from 0.05 to 0.95, and 1.
  if (overload !== 0 && !(overload >= 0.053 && overload <= 19)) {
    throw new UsageError(
      `--overload must be a number from 0.053 to 19, or 0 for the formula of AWS, got ${overload}`,
      PLAN_COMMAND,
    );
  }
  return 1 / (1 + overload);
}

/** The same traffic on more partitions: the index then needs fewer shards, and pages are cheaper. Leaves out designs that are impossible with any number of shards. */
function tradeOffs(traffic: IndexTraffic): TradeOff[] {
  const options = [0.7, 0.5, 0.35, 0.25].flatMap((utilization) => {
    try {
      const { partitions, shards, page } = planIndex({ ...traffic, utilization, partitions: undefined });
      return [{ utilization, partitions, shards, readUnitsPerPage: page.readUnits }];
    } catch (error) {
      if (error instanceof InvalidArgumentError) return [];
      throw error;
    }
  });
  return options.filter(({ partitions }, index) => partitions !== options[index - 1]?.partitions);
}

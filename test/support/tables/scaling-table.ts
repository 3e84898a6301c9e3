import type { ScalingSituation } from '../../../lib/core/resharding/scaling-policy';
import { fewestShards, mostShards } from '../../../lib/core/resharding/shard-count-steps';
import type { LoadShape } from '../fakes/load-shapes';
import { withNoise } from '../fakes/load-shapes';
import { plainWatch, simulateScaledStream } from '../fakes/scaled-stream';

/** The simulated days. The table in decision 0018 is for one year. */
const DAYS = 365;

export const HEADER = [
  'load',
  'shard-hours',
  'doubling and halving',
  'price of on-demand',
  'throttled time',
  'throttled time if metrics are 3 min late',
  'updates a day: mean, maximum',
];

const MINUTES = DAYS * 1_440;
const TARGET = 0.7;

/** Source: the price list of Kinesis Data Streams, US East (N. Virginia). */
const SHARD_HOUR = 0.015;
const MILLION_PUT_UNITS = 0.014;
const ON_DEMAND_HOUR = 0.04;
const ON_DEMAND_GB = 0.08;
/** A record of 1 KB is one put payload unit, and a shard accepts 1,000 records per second. */
const PUT_UNITS_A_MINUTE_AND_SHARD = 60_000;
const GB_A_MINUTE_AND_SHARD = 0.06;

/** The row of a load in the table. */
export async function scalingRow(shape: LoadShape): Promise<string[]> {
  const noisy = withNoise(shape, MINUTES);
  const demand = Float64Array.from({ length: MINUTES }, (_, minute) => noisy(minute));
  const run = (policy?: (situation: ScalingSituation) => number, lateMinutes = 0) =>
    simulateScaledStream({
      watch: plainWatch(TARGET, MINUTES),
      ...(policy && { policy }),
      demandAt: (minute) => demand[minute]!,
      minutes: MINUTES,
      startShards: Math.ceil(demand[0]! / TARGET),
      lateMinutes: () => lateMinutes,
    });
  const fixed = Math.ceil(shape.peak / TARGET) * MINUTES;
  const total = demand.reduce((sum, each) => sum + each, 0);
  const [scaled, late, doubled] = [await run(), await run(undefined, 3), await run(doublesAndHalves)];
  const putUnits = (total * PUT_UNITS_A_MINUTE_AND_SHARD * MILLION_PUT_UNITS) / 1_000_000;
  const price = (shardMinutes: number) => (shardMinutes / 60) * SHARD_HOUR + putUnits;
  const onDemand = (MINUTES / 60) * ON_DEMAND_HOUR + total * GB_A_MINUTE_AND_SHARD * ON_DEMAND_GB;
  return [
    shape.name,
    percent(scaled.shardMinutes / fixed),
    percent(doubled.shardMinutes / fixed),
    percent(onDemand / price(fixed)),
    percent(scaled.throttledTime, 2),
    percent(late.throttledTime, 2),
    `${(scaled.updates / DAYS).toFixed(1)}, ${scaled.mostUpdatesADay}`,
  ];
}

/** The policy of an earlier version, which doubles and halves the shard count. */
function doublesAndHalves({ load, openShardCount: count, history, now }: ScalingSituation): number {
  const pauseMinutes = (now - (history.at(-1)?.time ?? 0)) / 60_000;
  if (load === 'low') return 10 - history.length > 5 && pauseMinutes >= 60 ? fewestShards(count) : count;
  return load !== 'normal' && history.length < 10 && pauseMinutes >= 10 ? mostShards(count) : count;
}

function percent(part: number, digits = 0): string {
  return `${(100 * part).toFixed(digits)} %`;
}

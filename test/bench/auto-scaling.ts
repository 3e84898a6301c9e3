import { readFileSync, writeFileSync } from 'node:fs';
import type { ScalingSituation } from '../../lib/core/resharding/scaling-policy';
import { fewestShards, mostShards } from '../../lib/core/resharding/shard-count-steps';
import { LOAD_SHAPES, type LoadShape, withNoise } from '../fakes/load-shapes';
import { plainWatch, simulateScaledStream } from '../fakes/scaled-stream';

/**
 * Weeks of loads, minute by minute: what a stream costs that is scaled, against one with a fixed count at the peak, one
 * that doubles and halves with half of the updates kept for growing, and on-demand mode. It writes the table of the guide.
 *
 *   npm run bench auto-scaling [days, 28 by default; the guide is written for 28 only]
 */
const days = Number(process.argv[2] ?? 28);
const minutes = days * 1_440;
const TARGET = 0.7;
const GUIDE = 'docs/guides/resharding.md';
const [BEGIN, END] = ['<!-- begin: npm run bench auto-scaling -->', '<!-- end -->'];

/** Source: the price list of Kinesis Data Streams, US East (N. Virginia). */
const SHARD_HOUR = 0.015;
const MILLION_PUT_UNITS = 0.014;
const ON_DEMAND_HOUR = 0.04;
const ON_DEMAND_GB = 0.08;
/** Records of 1 KB, each a put unit. */
const PUT_UNITS_A_MINUTE_AND_SHARD = 60_000;
const GB_A_MINUTE_AND_SHARD = 0.06;

/** The policy before this one. */
function doublesAndHalves({ load, openShardCount: count, history, now }: ScalingSituation): number {
  const pauseMinutes = (now - (history.at(-1)?.time ?? 0)) / 60_000;
  if (load === 'low') return 10 - history.length > 5 && pauseMinutes >= 60 ? fewestShards(count) : count;
  return load !== 'normal' && history.length < 10 && pauseMinutes >= 10 ? mostShards(count) : count;
}

async function row(shape: LoadShape): Promise<string[]> {
  const noisy = withNoise(shape, minutes);
  const demand = Float64Array.from({ length: minutes }, (_, minute) => noisy(minute));
  const run = (policy?: (situation: ScalingSituation) => number, lateMinutes = 0) =>
    simulateScaledStream({
      watch: plainWatch(TARGET, minutes),
      ...(policy && { policy }),
      demandAt: (minute) => demand[minute]!,
      minutes,
      startShards: Math.ceil(demand[0]! / TARGET),
      lateMinutes: () => lateMinutes,
    });
  const fixed = Math.ceil(shape.peak / TARGET) * minutes;
  const total = demand.reduce((sum, each) => sum + each, 0);
  const [scaled, late, doubled] = [await run(), await run(undefined, 3), await run(doublesAndHalves)];
  const putUnits = (total * PUT_UNITS_A_MINUTE_AND_SHARD * MILLION_PUT_UNITS) / 1_000_000;
  const price = (shardMinutes: number) => (shardMinutes / 60) * SHARD_HOUR + putUnits;
  const onDemand = (minutes / 60) * ON_DEMAND_HOUR + total * GB_A_MINUTE_AND_SHARD * ON_DEMAND_GB;
  return [
    shape.name,
    percent(scaled.shardMinutes / fixed),
    percent(doubled.shardMinutes / fixed),
    percent(onDemand / price(fixed)),
    percent(scaled.throttledTime, 2),
    percent(late.throttledTime, 2),
    `${(scaled.updates / days).toFixed(1)}, ${scaled.mostUpdatesADay}`,
  ];
}

function percent(part: number, digits = 0): string {
  return `${(100 * part).toFixed(digits)} %`;
}

async function main(): Promise<void> {
  const rows: string[][] = [];
  for (const shape of LOAD_SHAPES) rows.push(await row(shape));
  const header = [
    'load',
    'shard-hours',
    'doubling and halving',
    'price of on-demand',
    'throttled time',
    'metrics 3 min late',
    'updates a day, most',
  ];
  const table = [header, ['---', ...Array(6).fill('---:')], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  console.log(table);
  if (days !== 28) return;
  const guide = readFileSync(GUIDE, 'utf8');
  const [before, rest] = guide.split(BEGIN) as [string, string];
  writeFileSync(GUIDE, `${before}${BEGIN}\n\n${table}\n\n${END}${rest.split(END)[1]}`);
}

void main();

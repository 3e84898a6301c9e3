import { chunks } from '../../../lib/core/kernel/chunks';
import type { SimulationReport } from '../simulation-report';
import { line, PLOT_WIDTH, type Plot, rectangle, text } from './plot';

/** A partition or a shard is drawn as overloaded if its load is above this multiple of the fair share. */
const OVERLOAD = 1.5;

const LABELS = 184;
const NUMBERS = 62;
const ROW = 50;
const HEAD = 26;
/** Bars above this multiple of the mean are cut, and show their multiple at the end. */
const TALLEST = 3;
/** The maximum number of bars. With more shards, a bar is the busiest shard of a group. */
const MAX_BARS = 110;

/** Records by shard, with a row of bars for each strategy. */
export function loadRows({ placements, records, shardCounts }: SimulationReport): Plot {
  const [shards] = shardCounts as [number];
  const left = LABELS;
  const width = PLOT_WIDTH - LABELS - NUMBERS;
  const rows = placements.map(({ title, loads, hottest }, row) => {
    const mean = records / loads[0]!.length;
    const base = HEAD + row * ROW + 38;
    const height = (load: number) => (Math.min(load / mean, TALLEST) / TALLEST) * 36;
    const bars = grouped(loads[0]!);
    const step = width / bars.length;
    const gap = step > 6 ? 2 : step > 3 ? 1 : 0;
    return [
      text(0, base - 8, title, hottest[0]! > OVERLOAD ? '' : 'strong'),
      ...bars.map((load, index) =>
        rectangle(
          left + index * step,
          base - height(load),
          Math.max(step - gap, 0.8),
          height(load),
          load > OVERLOAD * mean ? 'hot' : 'even',
          `${title}, shard ${index}: ${load.toLocaleString('en')} records, ${(load / mean).toFixed(2)} times its share`,
        ),
      ),
      line(left, base - height(mean), left + width, base - height(mean), 'mean'),
      line(left, base + 0.5, left + width, base + 0.5, 'axis'),
      text(PLOT_WIDTH, base - 8, `${hottest[0]!.toFixed(2)}×`, `end strong${hottest[0]! > OVERLOAD ? ' hot' : ''}`),
    ].join('');
  });
  return {
    title: `Load of each of ${shards} shards`,
    caption:
      'A bar is a shard, the dashed line its fair share, the number the busiest shard in multiples of it. Red is above ' +
      '1.5 times, where a shard that runs at two thirds of its limit is throttled. Bars end at three times.',
    width: PLOT_WIDTH,
    height: HEAD + placements.length * ROW,
    body: [
      text(0, 12, 'strategy', 'soft small'),
      text(left, 12, 'records by shard', 'soft small'),
      text(PLOT_WIDTH, 12, 'busiest', 'soft small end'),
      ...rows,
    ].join(''),
  };
}

function grouped(loads: readonly number[]): number[] {
  return chunks(loads, Math.ceil(loads.length / MAX_BARS)).map((group) => Math.max(...group));
}

import type { SimulationReport } from '../simulation-report';
import { circle, line, PLOT_WIDTH, type Plot, round, text } from './plot';

const LABELS = 192;
const RIGHT = 22;
const ROW = 45;
const HEAD = 26;
const FOOT = 46;

/** The load of the busiest shard as a multiple of the mean, now and after each doubling. */
export function hottestDots({ placements, shardCounts, busiest }: SimulationReport): Plot {
  const most = Math.max(2, ...placements.flatMap(({ hottest }) => hottest));
  const width = PLOT_WIDTH - LABELS - RIGHT;
  const x = (multiple: number) => LABELS + (Math.log(Math.max(1, multiple)) / Math.log(most)) * width;
  const bottom = HEAD + placements.length * ROW;
  const opacity = (level: number) => round(1 - (0.65 * level) / Math.max(1, shardCounts.length - 1));
  const dot = (at: number, y: number, level: number, hot: boolean, title: string) =>
    circle(at, y, 5.5 - level * 0.6, `class="${hot ? 'hot' : 'even'}" fill-opacity="${opacity(level)}"`, title);

  const ticks = [1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000].filter((tick) => tick <= most);
  const apart = ticks.filter((tick, index) => index === 0 || x(tick) - x(ticks[index - 1]!) > 30);
  const rows = placements.map(({ title, hottest }, row) => {
    const y = HEAD + row * ROW + ROW / 2;
    const steps = hottest.map((multiple, level) => ({ multiple, level })).reverse();
    const [low, high] = [Math.min(...hottest), Math.max(...hottest)];
    return [
      text(0, y + 4, title),
      line(x(low), y, x(high), y, 'axis'),
      ...steps.map(({ multiple, level }) =>
        dot(x(multiple), y, level, multiple > 1.5, `${title}, ${shardCounts[level]} shards: ${multiple.toFixed(2)}×`),
      ),
    ].join('');
  });
  const floor = busiest.share * shardCounts[0]!;
  const legend = shardCounts.map((count, level) => {
    const at = LABELS + level * 108;
    return dot(at + 5, bottom + 38, level, false, '') + text(at + 15, bottom + 42, `${count} shards`, 'soft small');
  });
  return {
    title: 'The busiest shard, now and after each doubling',
    caption:
      'In multiples of the mean; to the left is better. A stream keeps its hash keys when it is resharded, an index is ' +
      'written anew.' +
      (floor > 1
        ? ` The green line is the busiest key alone on ${shardCounts[0]} shards: no placement of whole keys goes below it.`
        : ''),
    width: PLOT_WIDTH,
    height: bottom + FOOT,
    body: [
      ...apart.map(
        (tick) => line(x(tick), HEAD - 8, x(tick), bottom, 'axis') + text(x(tick), 12, `${tick}×`, 'soft small middle'),
      ),
      floor > 1
        ? `<line x1="${round(x(floor))}" y1="${HEAD - 8}" x2="${round(x(floor))}" y2="${bottom}" stroke="var(--calm)" stroke-width="2"/>`
        : '',
      ...rows,
      ...legend,
    ].join(''),
  };
}

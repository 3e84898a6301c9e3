import { overloadProbability } from '../../../lib/core/planning/overload-probability';
import { shardsForOverload } from '../../../lib/core/planning/shards-for-overload';
import { circle, line, PLOT_WIDTH, type Plot, round, text } from './plot';

const PARTITIONS = [
  { partitions: 2, colour: 'even' },
  { partitions: 4, colour: 'calm' },
  { partitions: 10, colour: 'third' },
  { partitions: 20, colour: 'hot' },
];
const FACTOR = 1.5;
const ACCEPTED = 0.05;
const [LEFT, TOP, WIDTH, HEIGHT] = [54, 14, PLOT_WIDTH - 54 - 34, 268];
const BOTTOM = TOP + HEIGHT;
const MAX_SHARDS = 1_000;
const MIN_PROBABILITY = 0.001;

/** The exact probability of an overloaded partition, by the number of shards. The curve looks like the teeth of a saw. */
export function overloadCurves(): Plot {
  return {
    title: 'How many shards an index needs',
    caption:
      'The exact probability that some partition gets more than 1.5 times its share of equal shards. The rings show the ' +
      'rule of thumb, ten shards for each partition. From the dots on, the probability stays below 5\u00a0%. The curves are ' +
      'sawtooth curves, because a partition holds only whole shards.',
    width: PLOT_WIDTH,
    height: BOTTOM + 56,
    body: [...axes(), ...PARTITIONS.map(curve), ...PARTITIONS.map(legend)].join(''),
  };
}

function x(shards: number): number {
  return LEFT + (Math.log(shards) / Math.log(MAX_SHARDS)) * WIDTH;
}

function y(probability: number): number {
  return TOP + (Math.log(Math.max(probability, MIN_PROBABILITY)) / Math.log(MIN_PROBABILITY)) * HEIGHT;
}

function axes(): string[] {
  return [
    ...[1, 0.1, 0.01, 0.001].map(
      (tick) =>
        line(LEFT, y(tick), LEFT + WIDTH, y(tick), 'axis') +
        text(LEFT - 8, y(tick) + 4, `${tick * 100} %`, 'soft small end'),
    ),
    line(LEFT, y(ACCEPTED), LEFT + WIDTH, y(ACCEPTED), 'mean'),
    text(LEFT - 8, y(ACCEPTED) + 4, '5 %', 'small strong end'),
    ...[1, 10, 100, 1_000].map((tick) =>
      text(x(tick), BOTTOM + 18, String(tick), `soft small ${tick === 1_000 ? 'end' : 'middle'}`),
    ),
    text(LEFT + WIDTH / 2, BOTTOM + 18, 'shards', 'soft small middle'),
  ];
}

function curve({ partitions, colour }: (typeof PARTITIONS)[number]): string {
  const points = visible(
    teeth(partitions).map((shards) => ({ shards, p: overloadProbability({ shards, partitions }) })),
  );
  const path = (some: typeof points) =>
    some.map(({ shards, p }, index) => `${index === 0 ? 'M' : 'L'}${round(x(shards))} ${round(y(p))}`).join('');
  const peaks = points.filter(({ p }, index) => p >= (points[index + 1]?.p ?? 1));
  const rule = { shards: 10 * partitions, p: overloadProbability({ shards: 10 * partitions, partitions }) };
  const enough = shardsForOverload({ partitions, probability: ACCEPTED });
  return [
    `<path d="${path(points)}" class="curve" stroke="var(--${colour})" stroke-width="0.8" stroke-opacity="0.6"/>`,
    `<path d="${path(peaks)}" class="curve" stroke="var(--${colour})" stroke-width="2"/>`,
    circle(
      x(rule.shards),
      y(rule.p),
      5,
      `fill="var(--card)" stroke="var(--${colour})" stroke-width="2.5"`,
      `10 shards for each of ${partitions} partitions: ${(rule.p * 100).toFixed(1)} %`,
    ),
    circle(
      x(enough),
      y(ACCEPTED),
      5,
      `fill="var(--${colour})"`,
      `${enough} shards stay below 5 % on ${partitions} partitions`,
    ),
    `<text x="${round(x(enough) + 8)}" y="${round(y(ACCEPTED) - 8)}" class="small strong halo" style="fill:var(--${colour})">${enough}</text>`,
  ].join('');
}

function legend({ partitions, colour }: (typeof PARTITIONS)[number], index: number): string {
  const at = 4 + index * 128;
  return (
    `<line x1="${at}" y1="${BOTTOM + 44}" x2="${at + 16}" y2="${BOTTOM + 44}" stroke="var(--${colour})" stroke-width="3"/>` +
    text(at + 22, BOTTOM + 48, `${partitions} partitions`, 'soft small')
  );
}

/** The points up to the first point below the plot. */
function visible<T extends { p: number }>(points: readonly T[]): T[] {
  const last = points.findLastIndex(({ p }) => p >= MIN_PROBABILITY);
  return points.slice(0, last + 2);
}

/**
 * The numbers of shards at the local minima and maxima of the probability. At a minimum, a partition may hold one more
 * shard than before without an overload. The number of shards just below a minimum is a maximum.
 */
function teeth(partitions: number): number[] {
  const ends: number[] = [];
  for (let most = 1; ; most++) {
    const first = Math.ceil((most * partitions) / FACTOR - 1e-9);
    if (first > MAX_SHARDS) return ends;
    if (first > 1) ends.push(first - 1);
    ends.push(first);
  }
}

import { type AdaptiveIndexOptions, type Signal, simulateAdaptiveIndex } from '../fakes/adaptive-index';
import { pageCost } from './fan-out/page-cost';

export const HEADER = [
  'writes',
  'counts',
  'throttled at first',
  'in minute 10',
  'in minute 20',
  'later',
  'shards',
  'read units of a page',
  'read units for a rare value',
];

/**
 * Each row is the mean of this number of simulated indexes. The seed of each index places the keys on different
 * partitions.
 */
const INDEXES = 10;

/** A page of 25 items of 1 KB. */
const PAGE = { limit: 25, bytes: 1_000 };

/** The name prefix of the values that receive few writes. */
const RARE = 'rare';

interface Writes extends Pick<AdaptiveIndexOptions, 'demand' | 'minutes' | 'partitions'> {
  readonly name: string;
  /** The minute at which the measurement starts. */
  readonly from: number;
  /** The fixed counts to simulate: too low, right and too high. */
  readonly fixed: readonly number[];
  /** The number of simulated indexes, if the simulation is too slow for the default. @default 10 */
  readonly indexes?: number;
}

const DAY = 1_440;
const TOTAL = 10_000;
const drifting = Array.from({ length: 5 }, (_, at): [string, (minute: number) => number] => [
  `value ${at}`,
  (minute) => TOTAL * (0.2 + 0.18 * Math.sin(2 * Math.PI * (minute / DAY + at / 5))),
]);
const rareValues = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`${RARE} ${at}`, () => 0.05]));
const step = (minute: number): number => (minute < 5 ? 200 : 8_000);

/** By default, an index has enough partitions for its peak. */
export const WRITES: readonly Writes[] = [
  {
    name: 'step from 200 to 8,000 writes a second',
    demand: { hot: step },
    minutes: 65,
    partitions: 16,
    from: 5,
    fixed: [1, 10, 100],
  },
  {
    name: 'the same step, each key on its own partition',
    demand: { hot: step },
    minutes: 65,
    partitions: 4_096,
    from: 5,
    fixed: [10],
  },
  {
    name: '5,000 writes a second from the first minute',
    demand: { hot: () => 5_000 },
    minutes: 60,
    partitions: 16,
    from: 0,
    fixed: [1, 7, 100],
  },
  {
    name: 'shares that change during a day',
    demand: Object.fromEntries(drifting),
    minutes: DAY,
    partitions: 32,
    from: 0,
    fixed: [2, 5, 100],
    indexes: 2,
  },
  {
    name: '4,000 writes a second in two minutes of each hour',
    demand: { hot: (minute) => (minute % 60 < 2 ? 4_000 : 200) },
    minutes: DAY,
    partitions: 16,
    from: 0,
    fixed: [1, 5, 100],
    indexes: 2,
  },
  {
    name: 'the step, beside 10,000 values with 180 writes an hour each',
    demand: { hot: step, ...rareValues },
    minutes: 35,
    partitions: 16,
    from: 5,
    fixed: [],
    indexes: 1,
  },
];

type Counts = Exclude<Signal, 'none'> | number;

/** The shard counts with which these writes are simulated. */
export function countsOf({ fixed }: Writes): Counts[] {
  return ['reports', ...fixed];
}

/** Returns the row of the table for these writes and these counts. */
export async function adaptiveRow(writes: Writes, counts: Counts): Promise<string[]> {
  const { name, demand, minutes, partitions, from, indexes = INDEXES } = writes;
  const rules =
    typeof counts === 'number' ? ({ signal: 'none', initial: counts } as const) : { signal: counts, initial: 1 };
  const runs = Array.from({ length: indexes }, (_, seed) =>
    simulateAdaptiveIndex({ demand, minutes, partitions, seed, ...rules }),
  );
  const throttled = (first: number, end?: number): string => {
    const span = runs.flatMap((run) => run.minutes.slice(from + first, end === undefined ? undefined : from + end));
    return percent(sum(span.map((minute) => minute.throttled)) / sum(span.map((minute) => minute.wanted)));
  };
  const asked = runs.map((run) => Object.entries(run.minutes.at(-1)!.asked));
  const most = (isRare: boolean): number[] =>
    asked.map((values) =>
      Math.max(
        rules.initial,
        ...values.filter(([value]) => value.startsWith(RARE) === isRare).map(([, count]) => count),
      ),
    );
  const busiest = most(false);
  return [
    name,
    typeof counts === 'number' ? `fixed, ${counts}` : `adaptive, ${counts}`,
    throttled(0, 10),
    throttled(9, 10),
    throttled(19, 20),
    throttled(20),
    range(busiest),
    (await mean(busiest.map(pageUnits))).toFixed(1),
    (await pageUnits(Math.max(...most(true)))).toFixed(1),
  ];
}

const units = new Map<number, Promise<number>>();

/** Returns the read units of a page of `fanOutQuery`. The index charges read units as DynamoDB does. */
function pageUnits(shards: number): Promise<number> {
  let found = units.get(shards);
  if (found === undefined) {
    found = pageCost('uniform', true, { ...PAGE, shards }).then((cost) => cost.units);
    units.set(shards, found);
  }
  return found;
}

async function mean(numbers: Promise<number>[]): Promise<number> {
  return sum(await Promise.all(numbers)) / numbers.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function range(numbers: readonly number[]): string {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return least === most ? `${least}` : `${least} to ${most}`;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(2)} %`;
}

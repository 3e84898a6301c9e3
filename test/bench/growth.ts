import { setTimeout } from 'node:timers/promises';
import { rounded } from '../support/tables/producer/table';
import { ENGINES, type Engine } from './growth/engines';

/**
 * Prints the processor time and the retained memory for each unit of work, for several parts of the library
 * ("engines"). The input grows by powers of ten.
 *
 *     npm run bench growth [part of an engine's name...]
 */

/** The bench repeats a small size until the measured work reaches this number of units. */
const UNITS_TO_TIME = 100_000;
const ROUNDS = 3;
/** The bench leaves out a size that would take longer than this time. It estimates the time from the previous size. */
const MOST_MS = 12_000;
/** The longest timer of an engine. */
const MOST_TIMER_MS = 1_000;

/** The cost of one unit of an engine at each size. */
interface Measured {
  readonly engine: Engine;
  readonly points: readonly { readonly size: number; readonly microseconds: number; readonly bytes: number }[];
}

async function measure(engine: Engine): Promise<Measured> {
  const points: Measured['points'][number][] = [];
  await timed(engine, engine.sizes[1]!);
  for (const size of engine.sizes) {
    const last = points.at(-1);
    const units = unitsOf(engine, size);
    if (last !== undefined && (last.microseconds * units * Math.max(1, growthOf(points))) / 1_000 > MOST_MS) break;
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      times.push(await timed(engine, size));
      // If one round takes more than half a second, one round is enough.
      if (times[0]! * units > 5e5) break;
    }
    console.error(`${engine.name}, ${rounded(size)}: ${rounded(Math.min(...times), 2)} µs`);
    points.push({ size, microseconds: Math.min(...times), bytes: await retained(engine, size) });
  }
  return { engine, points };
}

const unitsOf = ({ units }: Engine, size: number): number => units?.(size) ?? size;

const growthOf = (points: Measured['points']): number =>
  points.length < 2 ? 1 : points.at(-1)!.microseconds / points.at(-2)!.microseconds;

/** Microseconds of CPU for each unit. */
async function timed(engine: Engine, size: number): Promise<number> {
  const units = unitsOf(engine, size);
  const repeats = Math.max(1, Math.round(UNITS_TO_TIME / units));
  globalThis.gc!();
  const before = process.cpuUsage();
  for (let repeat = 0; repeat < repeats; repeat++) await engine.run(size);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (repeats * units);
}

/** The bytes of memory for each unit that the engine retains. */
async function retained(engine: Engine, size: number): Promise<number> {
  // Waits, because a timer of the previous run can still reference objects.
  await setTimeout(MOST_TIMER_MS);
  const before = heapBytes();
  const kept = await engine.run(size);
  const bytes = heapBytes() - before;
  return kept === undefined ? 0 : Math.max(0, bytes) / size;
}

function heapBytes(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

async function main(names: readonly string[]): Promise<void> {
  const engines = ENGINES.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)));
  const measured: Measured[] = [];
  for (const engine of engines) measured.push(await measure(engine));
  const sizes = [...new Set(ENGINES.flatMap(({ sizes }) => sizes))].sort((a, b) => a - b);
  const rows = measured.map(({ engine, points }) => [
    `${engine.name}: µs for each ${engine.unit}`,
    ...sizes.map((size) => {
      const point = points.find((each) => each.size === size);
      return point === undefined ? '' : rounded(point.microseconds, 2);
    }),
    `${rounded(points.at(-1)!.microseconds / points[1]!.microseconds, 1)} x`,
    rounded(points.at(-1)!.bytes),
  ]);
  const header = ['', ...sizes.map((size) => rounded(size)), 'last to second', 'bytes at the last'];
  console.table([header, ...rows]);
}

void main(process.argv.slice(2));

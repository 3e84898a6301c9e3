import {
  type IndexReshardStep,
  type IndexShards,
  type IndexShardTarget,
  InvalidArgumentError,
  InvalidIndexConfigError,
  InvalidShardCountError,
  planIndexReshard,
} from '../../../../../lib/core';
import { isReshardStep } from '../../../../../lib/core/sharded-index/change/plan-index-reshard';

const same = (count: number): IndexShards => ({ default: { write: count, read: count } });

/** The counts of a plan's deployments as write/read, and its drains. */
const outline = (steps: IndexReshardStep[]): string[] =>
  steps.map((step) => {
    if (step.action === 'drain') {
      return `drain ${step.ranges.map(({ value = 'others', from, to }) => `${value} ${from}-${to}`).join(', ')}`;
    }
    if (step.action === 'backfill') return step.action;
    const { default: others, byValue = {} } = step.shards;
    const counts = Object.entries({ others, ...byValue });
    return `deploy ${counts.map(([value, { write, read }]) => `${value} ${write}/${read}`).join(', ')}`;
  });

describe('planIndexReshard', () => {
  test('grows: readers first, then writers', () => {
    expect(outline(planIndexReshard(same(10), { default: 20 }))).toEqual([
      'deploy others 10/20',
      'deploy others 20/20',
    ]);
  });

  test('shrinks: writers first, then the drain, then readers', () => {
    expect(outline(planIndexReshard(same(20), { default: 10 }))).toEqual([
      'deploy others 10/20',
      'drain others 10-19',
      'deploy others 10/10',
    ]);
  });

  test('grows one value while another shrinks, in the same steps', () => {
    const current: IndexShards = { default: { write: 1, read: 1 }, byValue: { old: { write: 9, read: 9 } } };
    expect(outline(planIndexReshard(current, { default: 1, byValue: { old: 3, young: 5 } }))).toEqual([
      'deploy others 1/1, old 9/9, young 1/5',
      'deploy others 1/1, old 3/9, young 5/5',
      'drain old 3-8',
      'deploy others 1/1, old 3/3, young 5/5',
    ]);
  });

  test('takes a value back among all others', () => {
    const current: IndexShards = { default: { write: 2, read: 2 }, byValue: { busy: { write: 9, read: 9 } } };
    expect(outline(planIndexReshard(current, { default: 2 }))).toEqual([
      'deploy others 2/2, busy 2/9',
      'drain busy 2-8',
      'deploy others 2/2',
    ]);
  });

  test('takes up a plan that was interrupted', () => {
    const halfway: IndexShards = { default: { write: 10, read: 20 } };
    expect(outline(planIndexReshard(halfway, { default: 20 }))).toEqual(['deploy others 20/20']);
    expect(outline(planIndexReshard(halfway, { default: 10 }))).toEqual(['drain others 10-19', 'deploy others 10/10']);
    expect(outline(planIndexReshard(halfway, { default: 30 }))).toEqual(['deploy others 10/30', 'deploy others 30/30']);
  });

  test('has no step when nothing changes', () => {
    expect(planIndexReshard(same(10), { default: 10 })).toEqual([]);
  });

  test.each<[IndexShards, unknown, new (...args: never[]) => Error, string]>([
    [same(0), { default: 1 }, InvalidShardCountError, 'current.default.write must be a whole number'],
    [
      { default: { write: 2, read: 1 } },
      { default: 1 },
      InvalidIndexConfigError,
      'current.default.read must be at least',
    ],
    [
      same(1),
      { default: 1.5 },
      InvalidShardCountError,
      'target.default must be a whole number from 1 to 10000, got 1.5',
    ],
    [same(1), { default: 1, byValue: { a: 0 } }, InvalidShardCountError, 'target.byValue["a"] must be'],
    [same(1), null, InvalidArgumentError, 'target must be an object with a default shard count, got null'],
  ])('refuses %j to %j', (current, target, error, message) => {
    expect(() => planIndexReshard(current, target as never)).toThrow(error);
    expect(() => planIndexReshard(current, target as never)).toThrow(message);
  });
});

/**
 * A model of the index while a plan is carried out, small enough to visit every state. Several readers and writers take
 * each deployment in any order. A writer picks a shard by the counts it has, and its write arrives at any later moment
 * before the step is over. During a drain an item moves to a shard that is written to.
 */
interface World {
  /** The step under way; all before it are over. */
  step: number;
  /** The deployment that each actor has, -1 for the one before the plan. */
  readers: number[];
  writers: number[];
  /** The shard that a writer's write under way goes to, -1 without one. */
  underWay: number[];
  /** Shards that hold an item, as bits. */
  occupied: number;
}

interface Verdict {
  states: number;
  /** The first world in which a reader would not ask a shard that holds an item. */
  uncovered?: World;
  /** Whether every world can go on to the end of the plan. */
  finished: boolean;
}

function visitEveryWorld(current: IndexShards, steps: IndexReshardStep[], actors = 2): Verdict {
  const countsAt = (deployment: number) =>
    (deployment < 0 ? current : (steps[deployment] as { shards: IndexShards }).shards).default;
  const start: World = {
    step: 0,
    readers: Array(actors).fill(-1),
    writers: Array(actors).fill(-1),
    underWay: Array(actors).fill(-1),
    occupied: 0,
  };
  const seen = new Set([JSON.stringify(start)]);
  const waiting = [start];
  let finished = false;
  for (let world = waiting.pop(); world !== undefined; world = waiting.pop()) {
    const { readers, occupied, step } = world;
    if (readers.some((deployment) => occupied >> countsAt(deployment).read !== 0)) {
      return { states: seen.size, uncovered: world, finished };
    }
    finished ||= step === steps.length;
    for (const next of nextWorlds(world, steps, (deployment) => countsAt(deployment).write)) {
      const text = JSON.stringify(next);
      if (!seen.has(text)) {
        seen.add(text);
        waiting.push(next);
      }
    }
  }
  return { states: seen.size, finished };
}

function* nextWorlds(
  world: World,
  steps: IndexReshardStep[],
  writeCount: (deployment: number) => number,
): Generator<World> {
  const { step, readers, writers, underWay, occupied } = world;
  const current = steps[step];
  for (const [writer, deployment] of writers.entries()) {
    if (underWay[writer] === -1) {
      for (let shard = 0; shard < writeCount(deployment); shard++) {
        yield { ...world, underWay: underWay.with(writer, shard) };
      }
    } else {
      yield { ...world, underWay: underWay.with(writer, -1), occupied: occupied | (1 << underWay[writer]!) };
    }
  }
  if (current?.action === 'deploy') {
    for (const reader of readers.keys()) yield { ...world, readers: readers.with(reader, step) };
    for (const writer of writers.keys()) yield { ...world, writers: writers.with(writer, step) };
    const deployed = [...readers, ...writers].every((deployment) => deployment === step);
    const write = writeCount(step);
    if (deployed && underWay.every((shard) => shard < write)) yield { ...world, step: step + 1 };
  }
  if (current?.action === 'drain') {
    const { from, to } = current.ranges[0]!;
    const drained = ((1 << (to + 1)) - 1) & ~((1 << from) - 1);
    for (let shard = from; shard <= to; shard++) {
      if ((occupied >> shard) & 1) {
        for (let other = 0; other < from; other++)
          yield { ...world, occupied: (occupied & ~(1 << shard)) | (1 << other) };
      }
    }
    if ((occupied & drained) === 0) yield { ...world, step: step + 1 };
  }
}

describe('in every interleaving of the steps by two readers and two writers', () => {
  const counts = [1, 2, 3, 4];
  const changes = counts.flatMap((read) =>
    counts.filter((write) => write <= read).flatMap((write) => counts.map((goal) => [write, read, goal] as const)),
  );

  test.each(changes)('readers ask every shard that holds an item: from %d/%d to %d', (write, read, goal) => {
    const current: IndexShards = { default: { write, read } };
    const verdict = visitEveryWorld(current, planIndexReshard(current, { default: goal }));
    expect(verdict.uncovered).toBeUndefined();
    expect(verdict.finished).toBe(true);
    expect(verdict.states).toBeGreaterThan(1);
  });

  const deploy = (write: number, read: number): IndexReshardStep => ({
    action: 'deploy',
    shards: { default: { write, read } },
    reason: 'to be wrong',
  });
  const drain = (from: number, to: number): IndexReshardStep => ({
    action: 'drain',
    ranges: [{ from, to }],
    reason: 'as above',
  });

  test.each<[string, number, IndexReshardStep[]]>([
    ['grows in one step', 2, [deploy(3, 3)]],
    ['shrinks in one step', 3, [deploy(2, 2)]],
    ['shrinks without draining', 3, [deploy(2, 3), deploy(2, 2)]],
    ['drains before writers have stopped', 3, [drain(2, 2), deploy(2, 2)]],
  ])('a plan that %s is found to be wrong', (_, before, steps) => {
    expect(visitEveryWorld(same(before), steps).uncovered).toBeDefined();
  });

  const pairs = [1, 2, 3].flatMap((read) => [1, 2, 3].filter((write) => write <= read).map((write) => [write, read]));
  const steps = pairs.flatMap(([write, read]) => pairs.map((next) => [write!, read!, ...next] as number[]));

  test.each(steps)('%d/%d to %d/%d is a step if and only if readers ask every shard', (...counts) => {
    const [write, read, nextWrite, nextRead] = counts as [number, number, number, number];
    const current: IndexShards = { default: { write, read } };
    const step = deploy(nextWrite, nextRead);
    const isComplete = visitEveryWorld(current, [step]).uncovered === undefined;
    expect(isReshardStep(current, (step as { shards: IndexShards }).shards)).toBe(isComplete);
  });

  test('a step of one value is no step of an index if it is none of another value', () => {
    const current: IndexShards = { default: { write: 1, read: 1 }, byValue: { busy: { write: 5, read: 5 } } };
    expect(isReshardStep(current, { default: { write: 1, read: 1 }, byValue: { busy: { write: 5, read: 9 } } })).toBe(
      true,
    );
    expect(isReshardStep(current, { default: { write: 1, read: 1 }, byValue: { busy: { write: 9, read: 9 } } })).toBe(
      false,
    );
    expect(isReshardStep(current, { default: { write: 1, read: 1 } })).toBe(false);
    expect(isReshardStep(current, { default: { write: 2, read: 2 }, byValue: { busy: { write: 5, read: 5 } } })).toBe(
      false,
    );
  });
});

describe('a plan to adopt an index on a table that has items', () => {
  const others = { default: { write: 2, read: 2 } };

  test.each<[IndexShardTarget, IndexShards]>([
    [{ default: 2 }, others],
    [
      { default: 2, byValue: { open: 5 } },
      { ...others, byValue: { open: { write: 5, read: 5 } } },
    ],
  ])('takes writers first, then the items that are there, then readers: %j', (target, shards) => {
    expect(planIndexReshard(undefined, target)).toEqual([
      { action: 'deploy', shards, to: 'writers', reason: expect.any(String) },
      { action: 'backfill', reason: expect.any(String) },
      { action: 'deploy', shards, to: 'readers', reason: expect.any(String) },
    ]);
  });

  test('needs a valid target', () => {
    expect(() => planIndexReshard(undefined, { default: 0 })).toThrow('target.default');
  });
});

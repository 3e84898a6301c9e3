/**
 * A model of an index whose one value has one shard or two, small enough to visit every state: two readers and two writers
 * with copies of the counts, somebody who raises counts, somebody who lowers them, and requests that arrive late or never.
 * Each may stop at any point and begin anew. Only shard 1 is of interest: everybody asks and writes to shard 0.
 *
 * Time goes in ticks. A copy may be used at the ages 0 and 1.
 */
const COPY_LIFE = 2;
const WATCH = 3;
const LONGEST_WRITE = 2;

/** The rules of decision 0039. A mutant breaks one of them. */
const RULES = {
  'readers first': true,
  'a raise watches for longer than a copy lives': true,
  'nobody counts the wait of another': true,
  'a change is made on the version that was watched': true,
  'the age of a copy counts from the question': true,
  'a reader does not use a copy that is too old': true,
  'a writer does not use a copy that is too old': true,
  'a lowering waits for copies of writers': true,
  'a lowering waits for writes': true,
  'a drain ends only when it is done': true,
  'a drain ends only on the version that was lowered': true,
};
type Rules = Record<keyof typeof RULES, boolean>;

/** How many shards a copy says, and how old it is. One that is too old is gone. */
type Copy = readonly [count: number, age: number] | undefined;

/** Counts that somebody wants to write in place of the current version. */
type Change = readonly [write: number, read: number];

interface World {
  write: number;
  read: number;
  /** Whether shard 1 holds an item. */
  occupied: boolean;
  readers: readonly Copy[];
  /** The copy of each writer, and for how long its write to shard 1 has been sent, -1 without one. */
  writers: readonly (readonly [Copy, sent: number])[];
  /** For how long somebody has watched the current version, in which readers ask shard 1. */
  raising: number | undefined;
  /** For how long somebody has watched the current version, in which writers do not use shard 1; and whether it was drained since. */
  lowering: readonly [watched: number, drained: boolean] | undefined;
  /** A change whose sender has stopped, or takes it for lost. */
  late: Change | undefined;
}

const START: World = {
  write: 1,
  read: 1,
  occupied: false,
  readers: [undefined, undefined],
  writers: [
    [undefined, -1],
    [undefined, -1],
  ],
  raising: undefined,
  lowering: undefined,
  late: undefined,
};

/** What must hold in every state, by name. */
const INVARIANTS: Record<string, (world: World) => boolean> = {
  'every reader asks every shard that holds an item': ({ occupied, readers, read }) =>
    !occupied || (read === 2 && readers.every((copy) => copy === undefined || copy[0] === 2)),
  'readers ask every shard that writers use': ({ write, read }) => read >= write,
};

/** The world after a change. Whoever has watched the version before, or wants to change it, begins anew. */
function changed(world: World, [write, read]: Change, rules: Rules): World {
  const goOn = !rules['a change is made on the version that was watched'];
  return {
    ...world,
    write,
    read,
    raising: goOn ? world.raising : undefined,
    lowering: goOn || !rules['a drain ends only on the version that was lowered'] ? world.lowering : undefined,
    late: goOn ? world.late : undefined,
  };
}

/** A change is sent. It is made at once, and its sender goes on; or it is late, and its sender stops. */
function* sent(
  world: World,
  change: Change,
  rules: Rules,
  goOn: Partial<World>,
  stop: Partial<World>,
): Generator<World> {
  yield { ...changed(world, change, rules), ...goOn };
  if (world.late === undefined) yield { ...world, ...stop, late: change };
}

function* next(world: World, rules: Rules): Generator<World> {
  const { write, read, readers, writers, raising, lowering, late } = world;
  for (const [index, copy] of readers.entries()) {
    yield { ...world, readers: readers.with(index, [read, 0]) };
    // The answer was read a while ago, and comes now.
    if (!rules['the age of a copy counts from the question'] && copy !== undefined)
      yield { ...world, readers: readers.with(index, [copy[0], 0]) };
  }
  for (const [index, [copy, since]] of writers.entries()) {
    yield { ...world, writers: writers.with(index, [[write, 0], since]) };
    const free = writers.with(index, [copy, -1]);
    if (since >= 0) {
      yield { ...world, writers: free, occupied: true };
      yield { ...world, writers: free };
    } else if (copy?.[0] === 2) {
      yield { ...world, writers: writers.with(index, [copy, 0]) };
    }
  }
  if (late !== undefined) {
    yield { ...world, late: undefined };
    yield { ...changed(world, late, rules), late: undefined };
  }
  yield* raises(world, rules);
  yield* lowers(world, rules);
  if (raising !== undefined) yield { ...world, raising: undefined };
  if (lowering !== undefined) yield { ...world, lowering: undefined };
  yield tick(world, rules);
}

function* raises(world: World, rules: Rules): Generator<World> {
  const { write, read, raising } = world;
  const stop = { raising: undefined };
  if (raising !== undefined) {
    const longEnough = rules['a raise watches for longer than a copy lives'] ? WATCH : COPY_LIFE - 1;
    if (raising >= longEnough) yield* sent(world, [2, 2], rules, stop, stop);
  } else if (write === 1 && read === 2) {
    yield { ...world, raising: rules['nobody counts the wait of another'] ? 0 : WATCH };
  } else if (write === 1) {
    if (rules['readers first']) yield* sent(world, [1, 2], rules, { raising: 0 }, stop);
    else yield* sent(world, [2, 2], rules, stop, stop);
  }
}

function* lowers(world: World, rules: Rules): Generator<World> {
  const { write, read, lowering, occupied } = world;
  const stop = { lowering: undefined };
  if (lowering === undefined) {
    if (write === 2) yield* sent(world, [1, 2], rules, { lowering: [0, false] }, stop);
    else if (read === 2) yield { ...world, lowering: [0, false] };
    return;
  }
  const [watched, drained] = lowering;
  const forCopies = rules['a lowering waits for copies of writers'] ? WATCH : 0;
  const forWrites = rules['a lowering waits for writes'] ? LONGEST_WRITE : 0;
  if (watched < forCopies + forWrites) return;
  if (drained) yield* sent(world, [1, 1], rules, stop, stop);
  else {
    const isLeft = rules['a drain ends only when it is done'] ? false : occupied;
    yield { ...world, occupied: isLeft, lowering: [watched, true] };
  }
}

function tick(world: World, rules: Rules): World {
  const older = (copy: Copy, expires: boolean): Copy => {
    if (copy === undefined || (expires && copy[1] + 1 >= COPY_LIFE)) return undefined;
    return [copy[0], Math.min(COPY_LIFE, copy[1] + 1)];
  };
  return {
    ...world,
    readers: world.readers.map((copy) => older(copy, rules['a reader does not use a copy that is too old'])),
    // A write that has not arrived by now never will.
    writers: world.writers.map(([copy, since]) => [
      older(copy, rules['a writer does not use a copy that is too old']),
      since < 0 || since >= LONGEST_WRITE ? -1 : since + 1,
    ]),
    raising: world.raising === undefined ? undefined : Math.min(WATCH, world.raising + 1),
    lowering: world.lowering && [Math.min(WATCH + LONGEST_WRITE, world.lowering[0] + 1), world.lowering[1]],
  };
}

/** Readers are interchangeable, and so are writers. */
function keyOf({ readers, writers, ...rest }: World): string {
  return `${readers.map(String).sort().join('|')};${writers.map(String).sort().join('|')};${Object.values(rest).join()}`;
}

interface Verdict {
  states: number;
  /** The first invariant that did not hold. */
  broken?: string;
  /** The pairs of counts that were ever stored, as write/read. */
  counts: string[];
}

function visitEveryWorld(rules: Rules): Verdict {
  const seen = new Set([keyOf(START)]);
  const counts = new Set<string>();
  let waiting = [START];
  while (waiting.length > 0) {
    const found: World[] = [];
    for (const world of waiting) {
      counts.add(`${world.write}/${world.read}`);
      const broken = Object.keys(INVARIANTS).find((name) => !INVARIANTS[name]!(world));
      if (broken !== undefined) return { states: seen.size, broken, counts: [...counts] };
      for (const after of next(world, rules)) {
        const key = keyOf(after);
        if (seen.has(key)) continue;
        seen.add(key);
        found.push(after);
      }
    }
    waiting = found;
  }
  return { states: seen.size, counts: [...counts].sort() };
}

describe('in every state of two readers and two writers with copies, of raises, lowerings, crashes and late requests', () => {
  test('every reader asks every shard that holds an item', () => {
    const { states, broken, counts } = visitEveryWorld(RULES);
    expect(broken).toBeUndefined();
    expect(counts).toEqual(['1/1', '1/2', '2/2']);
    expect(states).toBe(30_060);
  }, 300_000);

  test.each(Object.keys(RULES) as (keyof Rules)[])(
    'the invariant names the mutant: not "%s"',
    (rule) => {
      const { broken } = visitEveryWorld({ ...RULES, [rule]: false });
      expect(broken).toBe('every reader asks every shard that holds an item');
    },
    300_000,
  );
});

import { digest } from './heard';
import { commute, type Decider, type Footprint, type Step, World } from './world';

/** Plays one run, and throws if that breaks a promise. It must do the same whenever the same is decided. */
export interface Scenario {
  readonly name: string;
  /** What a timer of the world's clock reads and writes. @default everything */
  readonly timerFootprint?: Footprint;
  /**
   * Whether its states alone say what need not be played again. That leaves out more where many orders of steps come to one
   * state, each with something else asleep.
   * @default false
   */
  readonly prunesByStatesOnly?: boolean;
  play(world: World): Promise<void>;
}

export interface ExploreOptions {
  /** Ends after so many runs, those that were left included. @default when every run was played */
  maxRuns?: number;
  /**
   * Leaves out runs that differ from another only in the order of steps that commute.
   * @default true, unless the scenario prunes by states only
   */
  prune?: boolean;
  /** Does not go on again from a state that it has been in, if the scenario says its state. @default true */
  onceFromEachState?: boolean;
  /** Whether it goes on after a failure, to find the shortest one. @default true */
  shortest?: boolean;
  /** Is told the number of runs now and then, those included that were left. */
  onProgress?(runs: number): void;
}

export interface Exploration {
  /** Runs that were played to their end. */
  runs: number;
  /**
   * Runs that were left before their end: another run has the same steps in an order that makes no difference, or has come
   * to the same state.
   */
  pruned: number;
  /** How many runs these stand for: one that came to a state again stands for all that went on from there. */
  covered: number;
  /** The most steps and choices of a run, of those that these stand for. */
  depth: number;
  /** Whether no run is left. */
  isComplete: boolean;
  /** The shortest run that broke a promise, of those that were played. */
  failure?: Failure;
}

export interface Failure {
  readonly error: Error;
  /** What happened, and what was chosen, in order. Give it to `replay`. */
  readonly decisions: readonly string[];
}

/** A question that runs answer one after the other, in each way once. */
interface Branch {
  /** Everything that can happen, or hold, of which runs take what is in `names`. */
  readonly possible: readonly string[];
  readonly names: readonly string[];
  /** Absent where the question is which option holds, and not which step happens. */
  readonly footprints?: readonly Footprint[];
  /** Steps that need not happen here: an earlier run had them before what has happened since, and they commute with it. */
  readonly asleep: ReadonlyMap<string, Footprint>;
  /** The state in which the question is asked, if the scenario says it. */
  readonly state?: string;
  taken: number;
  /** The runs that went through here, and the most decisions of one from here on. */
  covered: number;
  height: number;
}

/** What is known of a state that a run has been in: how many decisions it was from the begin, and what went on from there. */
interface Seen {
  depth: number;
  covered: number;
  height: number;
}

const PROGRESS_EVERY = 10_000;

/**
 * Plays a scenario in every way: depth first, each run from its beginning, with the decisions of the run before up to the
 * last one that can be made differently.
 *
 * Of runs that differ only in the order of steps that commute it plays one, by sleep sets. Source: Patrice Godefroid,
 * "Partial-Order Methods for the Verification of Concurrent Systems", chapter 5. Where a scenario says its state, it goes
 * on once from each state and what sleeps there. After a failure it looks for shorter ones only.
 */
export async function explore(scenario: Scenario, options: ExploreOptions = {}): Promise<Exploration> {
  const { maxRuns = Number.POSITIVE_INFINITY, onceFromEachState = true } = options;
  const { prune = !scenario.prunesByStatesOnly } = options;
  const { shortest = true, onProgress } = options;
  const found: Exploration = { runs: 0, pruned: 0, covered: 0, depth: 0, isComplete: false };
  const path: Branch[] = [];
  const seen = onceFromEachState ? new Map<string, Seen>() : undefined;
  while (found.runs + found.pruned < maxRuns) {
    const run = new ExploringRun(path, seen, prune, found.failure?.decisions.length);
    const error = await run.play(scenario);
    if (run.isLeft) found.pruned += 1;
    else {
      found.runs += 1;
      if (error !== undefined) {
        found.failure = { error, decisions: decisionsOf(path) };
        if (!shortest) return found;
      }
    }
    const { covered = run.isLeft ? 0 : 1, height = 0 } = run.cameTo ?? {};
    found.covered += covered;
    found.depth = Math.max(found.depth, path.length + height);
    const last = path.at(-1);
    if (last !== undefined) count(last, covered, height + 1);
    if ((found.runs + found.pruned) % PROGRESS_EVERY === 0) {
      onProgress?.(found.runs + found.pruned);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!backtrack(path, seen)) return { ...found, isComplete: true };
  }
  return found;
}

/** Plays the run of these decisions. Where they end, the first of what can happen does. Throws what the run throws. */
export async function replay({ timerFootprint, play }: Scenario, decisions: readonly string[]): Promise<void> {
  let next = 0;
  const take = (names: readonly string[]): number => {
    const decision = decisions[next++];
    const position = decision === undefined ? 0 : names.indexOf(decision);
    if (position < 0) throw new Error(`"${decision}" cannot happen here, but: ${names.join(', ')}`);
    return position;
  };
  const decider: Decider = {
    step: (steps) => take(steps.map(({ name }) => name)),
    choice: (name, options) => take(options.map((option) => `${name}: ${option}`)),
  };
  await play(new World(decider, timerFootprint));
}

/** A failure as a test that one can paste. */
export function asTest(scenario: string, { error, decisions }: Failure): string {
  return [
    `test(${JSON.stringify(error.message)}, () =>`,
    `  replay(${scenario}, [`,
    ...decisions.map((decision) => `    ${JSON.stringify(decision)},`),
    '  ]));',
  ].join('\n');
}

class ExploringRun implements Decider {
  /** Whether it was left before its end. */
  isLeft = false;
  /** The state that it was left in, if another run has been there. */
  cameTo?: Seen;
  private position = 0;
  private asleep: ReadonlyMap<string, Footprint> = new Map();
  private leave!: () => void;

  constructor(
    private readonly path: Branch[],
    private readonly seen: Map<string, Seen> | undefined,
    private readonly prune: boolean,
    /** The decisions of a failure. This run is to have fewer. */
    private readonly tooMany: number | undefined,
  ) {}

  /** What the run has thrown; undefined if it kept every promise, or was left. */
  play(scenario: Scenario): Promise<Error | undefined> {
    return new Promise((resolve) => {
      this.leave = () => resolve(undefined);
      scenario.play(new World(this, scenario.timerFootprint)).then(() => resolve(undefined), resolve);
    });
  }

  step(steps: readonly Step[], state: () => string | undefined): number | undefined {
    const possible = steps.map(({ name }) => name);
    const branch = this.path[this.position] ?? this.branchOfSteps(steps, possible, state);
    if (branch === undefined) {
      this.isLeft = true;
      this.leave();
      return undefined;
    }
    const position = this.take(branch, possible);
    const footprint = branch.footprints![branch.taken]!;
    this.asleep = this.prune ? stillAsleep(branch, footprint) : this.asleep;
    return position;
  }

  choice(name: string, options: readonly string[]): number {
    const names = options.map((option) => `${name}: ${option}`);
    const branch =
      this.path[this.position] ??
      this.add({ possible: names, names, asleep: this.asleep, taken: 0, covered: 0, height: 0 });
    return this.take(branch, names);
  }

  /** The steps that this run and later ones take here; undefined if none needs to. */
  private branchOfSteps(
    steps: readonly Step[],
    possible: string[],
    says: () => string | undefined,
  ): Branch | undefined {
    if (this.tooMany !== undefined && this.position + 1 >= this.tooMany) return undefined;
    const awake = steps.filter(({ name }) => !this.asleep.has(name));
    if (awake.length === 0) return undefined;
    const said = this.seen && says();
    const state = said === undefined ? undefined : digest(JSON.stringify([said, ...[...this.asleep.keys()].sort()]));
    if (state !== undefined && this.hasBeenSeen(state, this.seen!)) return undefined;
    const [names, footprints] = [awake.map(({ name }) => name), awake.map(({ footprint }) => footprint)];
    return this.add({ possible, names, footprints, asleep: this.asleep, state, taken: 0, covered: 0, height: 0 });
  }

  /** Whether another run has gone on from here, or this one does. Where a shorter failure is looked for, nearer counts anew. */
  private hasBeenSeen(state: string, seen: Map<string, Seen>): boolean {
    const before = seen.get(state);
    const isNearer = before !== undefined && this.tooMany !== undefined && this.position < before.depth;
    if (before === undefined || isNearer) {
      seen.set(state, { depth: this.position, covered: 0, height: 0 });
      return false;
    }
    this.cameTo = before;
    return true;
  }

  private add(branch: Branch): Branch {
    this.path.push(branch);
    return branch;
  }

  /** The position of what the run takes. */
  private take({ possible, names, taken }: Branch, now: readonly string[]): number {
    const isSame = now.length === possible.length && now.every((name, position) => name === possible[position]);
    if (!isSame)
      throw new Error(`the scenario is not the same each time: ${now.join(', ')}, not ${possible.join(', ')}`);
    this.position += 1;
    return now.indexOf(names[taken]!);
  }
}

/** What was asleep, and what earlier runs have taken here, as far as it commutes with what happens now. */
function stillAsleep({ names, footprints, asleep, taken }: Branch, happens: Footprint): Map<string, Footprint> {
  const still = new Map<string, Footprint>();
  for (const [name, footprint] of asleep) if (commute(footprint, happens)) still.set(name, footprint);
  for (let earlier = 0; earlier < taken; earlier++) {
    if (commute(footprints![earlier]!, happens)) still.set(names[earlier]!, footprints![earlier]!);
  }
  return still;
}

/** Turns to the next way; false if there is none. */
function backtrack(path: Branch[], seen: ReadonlyMap<string, Seen> | undefined): boolean {
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    last.taken += 1;
    if (last.taken < last.names.length) return true;
    path.pop();
    const { state, covered, height } = last;
    if (state !== undefined) Object.assign(seen!.get(state)!, { covered, height });
    const before = path.at(-1);
    if (before !== undefined) count(before, covered, height + 1);
  }
  return false;
}

function count(branch: Branch, covered: number, height: number): void {
  branch.covered += covered;
  branch.height = Math.max(branch.height, height);
}

function decisionsOf(path: readonly Branch[]): string[] {
  return path.map(({ names, taken }) => names[taken]!);
}

import { digest } from './heard';
import { commute, type Decider, type Footprint, type Step, World } from './world';

/** Plays one run, and throws if that breaks a promise. It must do the same whenever the same is decided. */
export interface Scenario {
  readonly name: string;
  /** What a timer of the world's clock reads and writes. @default everything */
  readonly timerFootprint?: Footprint;
  play(world: World): Promise<void>;
}

interface ExploreOptions {
  /** Ends after so many runs, those that were left included. @default when every run was played */
  maxRuns?: number;
  /** Leaves out runs that differ from another only in the order of steps that commute. @default true */
  prune?: boolean;
  /** Does not go on again from a state that it has been in, if the scenario says its state. @default true */
  onceFromEachState?: boolean;
  /** Whether it goes on after a failure, to find the shortest one. @default true */
  shortest?: boolean;
  /** Is told the number of runs now and then, those included that were left. */
  onProgress?(runs: number): void;
}

interface Exploration {
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

interface Failure {
  readonly error: Error;
  /** What happened, and what was chosen, in order. Give it to `replay`. */
  readonly decisions: readonly string[];
}

/** How many runs go on from somewhere, and the most decisions of one from there on. */
interface Continuations {
  covered: number;
  height: number;
}

/** A question that runs answer one after the other, in each way once. */
interface Branch extends Continuations {
  /** Everything that can happen, or hold, of which runs take what is in `names`. */
  readonly possible: readonly string[];
  readonly names: readonly string[];
  /** Absent where the question is which option holds, and not which step happens. */
  readonly footprints?: readonly Footprint[];
  /** Steps that need not happen here: an earlier run had them before what has happened since, and they commute with it. */
  readonly asleep: ReadonlyMap<string, Footprint>;
  /** The state in which the question is asked, if the scenario says it. */
  readonly state?: State;
  taken: number;
}

/** What is known of a state that a run has been in. */
interface State extends Continuations {
  /** How many decisions it was from the begin. */
  readonly depth: number;
  /** The states that its steps lead to, as far as no option was chosen between. */
  readonly next: Map<string, State>;
}

const PROGRESS_EVERY = 10_000;

/**
 * Plays a scenario in every way: depth first, each run from its beginning, with the decisions of the run before up to the
 * last one that can be made differently.
 *
 * Of runs that differ only in the order of steps that commute it plays one, by sleep sets. Source: Patrice Godefroid,
 * "Partial-Order Methods for the Verification of Concurrent Systems", chapter 5. Where a scenario says its state, it goes
 * on once from each, and does not take a step there if another order of the same steps says where it leads. After a failure
 * it looks for shorter ones only.
 */
export async function explore(scenario: Scenario, options: ExploreOptions = {}): Promise<Exploration> {
  const { maxRuns = Number.POSITIVE_INFINITY, prune = true, onceFromEachState = true } = options;
  const { shortest = true, onProgress } = options;
  const found = { runs: 0, pruned: 0, failure: undefined as Failure | undefined };
  const all: Continuations = { covered: 0, height: 0 };
  const path: Branch[] = [];
  const states = onceFromEachState ? new Map<string, State>() : undefined;
  let isComplete = false;
  while (!isComplete && found.runs + found.pruned < maxRuns) {
    const run = new ExploringRun(path, states, prune, found.failure?.decisions.length);
    const error = await run.play(scenario);
    if (run.isLeft) found.pruned += 1;
    else found.runs += 1;
    if (error !== undefined) found.failure = { error, decisions: decisionsOf(path) };
    countBehind(path, all, run.cameTo ?? { covered: run.isLeft ? 0 : 1, height: 0 });
    if (error !== undefined && !shortest) break;
    if ((found.runs + found.pruned) % PROGRESS_EVERY === 0) {
      onProgress?.(found.runs + found.pruned);
      await new Promise((resolve) => setImmediate(resolve));
    }
    isComplete = !backtrack(path, all);
  }
  while (path.length > 0) leaveLast(path, all);
  return { ...found, covered: all.covered, depth: all.height, isComplete };
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
  /** The state that it was left in, if what goes on from there is known. */
  cameTo?: State;
  private position = 0;
  private asleep: ReadonlyMap<string, Footprint> = new Map();
  private leave!: () => void;

  constructor(
    private readonly path: Branch[],
    private readonly states: Map<string, State> | undefined,
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
    const branch = this.path[this.position] ?? this.branchOfSteps(steps, state);
    if (branch === undefined) {
      this.isLeft = true;
      this.leave();
      return undefined;
    }
    const position = this.take(
      branch,
      steps.map(({ name }) => name),
    );
    this.asleep = this.prune ? stillAsleep(branch, branch.footprints![branch.taken]!) : this.asleep;
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
  private branchOfSteps(steps: readonly Step[], says: () => string | undefined): Branch | undefined {
    if (this.tooMany !== undefined && this.position + 1 >= this.tooMany) return undefined;
    const said = this.states && says();
    if (said !== undefined) return this.branchOfState(steps, digest(said));
    const awake = steps.filter(({ name }) => !this.asleep.has(name));
    return awake.length === 0 ? undefined : this.add(branchOf(steps, awake, this.asleep));
  }

  /** The steps that need be taken in a state: none if another run has been there. */
  private branchOfState(steps: readonly Step[], name: string): Branch | undefined {
    const before = this.states!.get(name);
    const isKnown = before !== undefined && this.isAsNear(before, this.position);
    const state = isKnown ? before : { depth: this.position, covered: 0, height: 0, next: new Map<string, State>() };
    this.states!.set(name, state);
    const last = this.path.at(-1);
    last?.state?.next.set(last.names[last.taken]!, state);
    const open = isKnown ? [] : steps.filter((step) => !this.isKnownByAnotherOrder(step, state));
    if (open.length > 0) return this.add(branchOf(steps, open, new Map(), state));
    this.cameTo = state;
    return undefined;
  }

  /**
   * Whether the step commutes with the last one, and a run has taken the two in the other order: then it leads from this
   * state to where the last one led behind it.
   */
  private isKnownByAnotherOrder({ name, footprint }: Step, state: State): boolean {
    const last = this.path.at(-1);
    if (!this.prune || last?.state === undefined || !commute(footprint, last.footprints![last.taken]!)) return false;
    const next = last.state.next.get(name)?.next.get(last.names[last.taken]!);
    if (next === undefined || !this.isAsNear(next, this.position + 1)) return false;
    state.next.set(name, next);
    count(state, { covered: next.covered, height: next.height + 1 });
    return true;
  }

  /** Whether a run has gone on from a state as near to the begin. Where a shorter failure is looked for, nearer counts anew. */
  private isAsNear({ depth }: State, position: number): boolean {
    return this.tooMany === undefined || depth <= position;
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

function branchOf(
  steps: readonly Step[],
  open: readonly Step[],
  asleep: ReadonlyMap<string, Footprint>,
  state?: State,
): Branch {
  return {
    possible: steps.map(({ name }) => name),
    names: open.map(({ name }) => name),
    footprints: open.map(({ footprint }) => footprint),
    asleep,
    state,
    taken: 0,
    covered: state?.covered ?? 0,
    height: state?.height ?? 0,
  };
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
function backtrack(path: Branch[], all: Continuations): boolean {
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    last.taken += 1;
    if (last.taken < last.names.length) return true;
    leaveLast(path, all);
  }
  return false;
}

/** Leaves the last branch. What went on from there is known. */
function leaveLast(path: Branch[], all: Continuations): void {
  const { state, covered, height } = path.pop()!;
  if (state !== undefined) Object.assign(state, { covered, height });
  countBehind(path, all, { covered, height });
}

/** Counts what goes on behind the last decision. */
function countBehind(path: readonly Branch[], all: Continuations, { covered, height }: Continuations): void {
  const last = path.at(-1);
  if (last === undefined) count(all, { covered, height });
  else count(last, { covered, height: height + 1 });
}

function count(into: Continuations, { covered, height }: Continuations): void {
  into.covered += covered;
  into.height = Math.max(into.height, height);
}

function decisionsOf(path: readonly Branch[]): string[] {
  return path.map(({ names, taken }) => names[taken]!);
}

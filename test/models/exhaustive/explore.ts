import { digest } from './process-inputs';
import { commute, type Decider, type Footprint, type Step, World } from './world';

/** A scenario. `play` runs one schedule, and throws if the run breaks a promise. Equal decisions must give equal runs. */
export interface Scenario {
  readonly name: string;
  /** The data that a timer of the clock reads and writes. @default everything */
  readonly timerFootprint?: Footprint;
  play(world: World): Promise<void>;
  /** Throws if a part of the scenario had no effect in any schedule, for example a fault with a wrong name. */
  checkComplete?(): void;
}

interface ExploreOptions {
  /** The maximum number of runs, including pruned runs. @default all runs */
  maxRuns?: number;
  /** Skips runs that differ from another run only in the order of steps that commute. @default true */
  prune?: boolean;
  /** Continues only once from each state, if the scenario describes its state. @default true */
  onceFromEachState?: boolean;
  /** Whether exploring continues after a failure, to find the shortest failing run. @default true */
  shortest?: boolean;
  /** Called from time to time with the number of runs, including pruned runs. */
  onProgress?(runs: number): void;
}

interface Exploration {
  /** The number of complete runs. */
  runs: number;
  /** The number of runs that ended early, because another run has the same steps in an equivalent order or reached the same state. */
  pruned: number;
  /** The number of covered schedules. A run that reaches a known state covers all continuations of that state. */
  covered: number;
  /** The largest number of steps and choices in a covered schedule. */
  depth: number;
  /** Whether all schedules are covered. */
  isComplete: boolean;
  /** The shortest run that broke a promise. */
  failure?: Failure;
}

interface Failure {
  readonly error: Error;
  /** The steps and choices of the run, in order. Pass them to `replay`. */
  readonly decisions: readonly string[];
}

/** The number of continuations after a decision, and the largest number of decisions in one continuation. */
interface Continuations {
  covered: number;
  height: number;
}

/** A decision in a run. Later runs take the other options of the decision, each option once. */
interface Branch extends Continuations {
  /** All options of the decision. Runs take only the options in `names`. */
  readonly possible: readonly string[];
  readonly names: readonly string[];
  /** The footprints of the steps. Absent for a choice between options. */
  readonly footprints?: readonly Footprint[];
  /**
   * The steps that runs need not take here: an earlier run took them at an earlier decision, and they commute with all steps since
   * that decision.
   */
  readonly asleep: ReadonlyMap<string, Footprint>;
  /** The state before the decision, if the scenario describes its state. */
  readonly state?: State;
  taken: number;
}

/** A state that a run has reached. */
interface State extends Continuations {
  /** The number of decisions before the state. */
  readonly depth: number;
  /** For each step, the state that the step leads to. Absent if the run made a choice between the step and that state. */
  readonly next: Map<string, State>;
}

const PROGRESS_EVERY = 10_000;

/**
 * Runs every schedule of a scenario, depth first. Each run starts from the beginning and repeats the decisions of the previous run
 * up to the last decision with an untried option.
 *
 * Sleep sets skip each run that differs from an earlier run only in the order of commuting steps. Source: Patrice Godefroid,
 * "Partial-Order Methods for the Verification of Concurrent Systems", chapter 5. If a scenario describes its state, a state
 * that several schedules reach is explored only once. In a state, it skips a step if another order of the same steps has already led to the next state.
 * After a failure, it searches only for shorter failing runs.
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
  if (isComplete && found.failure === undefined) scenario.checkComplete?.();
  return { ...found, covered: all.covered, depth: all.height, isComplete };
}

/** Runs the schedule of these decisions. After the last decision it takes the first option. Throws the error of the run. */
export async function replay({ timerFootprint, play }: Scenario, decisions: readonly string[]): Promise<void> {
  let next = 0;
  const take = (names: readonly string[]): number => {
    const decision = decisions[next++];
    const position = decision === undefined ? 0 : names.indexOf(decision);
    if (position < 0) throw new Error(`"${decision}" cannot happen here; the possible steps are: ${names.join(', ')}`);
    return position;
  };
  const decider: Decider = {
    step: (steps) => take(steps.map(({ name }) => name)),
    choice: (name, options) => take(options.map((option) => `${name}: ${option}`)),
  };
  await play(new World(decider, timerFootprint));
}

/** Returns a failure as the source of a test. */
export function asTest(scenario: string, { error, decisions }: Failure): string {
  return [
    `test(${JSON.stringify(error.message)}, () =>`,
    `  replay(${scenario}, [`,
    ...decisions.map((decision) => `    ${JSON.stringify(decision)},`),
    '  ]));',
  ].join('\n');
}

class ExploringRun implements Decider {
  /** Whether the run ended early. */
  isLeft = false;
  /** The known state in which the run ended. */
  cameTo?: State;
  private position = 0;
  private asleep: ReadonlyMap<string, Footprint> = new Map();
  private leave!: () => void;

  constructor(
    private readonly path: Branch[],
    private readonly states: Map<string, State> | undefined,
    private readonly prune: boolean,
    /** The number of decisions of the shortest failing run. This run ends before it reaches this number. */
    private readonly tooMany: number | undefined,
  ) {}

  /** Returns the error of the run. Returns undefined if the run kept every promise or ended early. */
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

  /** The steps that this run and later runs take here. Returns undefined if no run needs to continue. */
  private branchOfSteps(steps: readonly Step[], stateOf: () => string | undefined): Branch | undefined {
    if (this.tooMany !== undefined && this.position + 1 >= this.tooMany) return undefined;
    const state = this.states && stateOf();
    if (state !== undefined) return this.branchOfState(steps, digest(state));
    const awake = steps.filter(({ name }) => !this.asleep.has(name));
    return awake.length === 0 ? undefined : this.add(branchOf(steps, awake, this.asleep));
  }

  /** The steps to take in a state. Returns undefined if another run has continued from the state. */
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
   * Whether the step commutes with the previous step, and an earlier run has taken the two steps in the other order. Then the step
   * leads to a state that is already known.
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

  /**
   * Whether an earlier run reached the state with the same number of decisions or fewer decisions. If this run has
   * fewer decisions, a search for a shorter failure continues from the state again.
   */
  private isAsNear({ depth }: State, position: number): boolean {
    return this.tooMany === undefined || depth <= position;
  }

  private add(branch: Branch): Branch {
    this.path.push(branch);
    return branch;
  }

  /** Returns the position of the option that the run takes. */
  private take({ possible, names, taken }: Branch, now: readonly string[]): number {
    const isSame = now.length === possible.length && now.every((name, position) => name === possible[position]);
    if (!isSame)
      throw new Error(
        `the scenario must be deterministic, got the options ${now.join(', ')}, not ${possible.join(', ')}`,
      );
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

/** The steps that later runs can skip: earlier skipped steps and options taken before, if they commute with this step. */
function stillAsleep({ names, footprints, asleep, taken }: Branch, happens: Footprint): Map<string, Footprint> {
  const still = new Map<string, Footprint>();
  for (const [name, footprint] of asleep) if (commute(footprint, happens)) still.set(name, footprint);
  for (let earlier = 0; earlier < taken; earlier++) {
    if (commute(footprints![earlier]!, happens)) still.set(names[earlier]!, footprints![earlier]!);
  }
  return still;
}

/** Goes to the next option. Returns false after the last option. */
function backtrack(path: Branch[], all: Continuations): boolean {
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    last.taken += 1;
    if (last.taken < last.names.length) return true;
    leaveLast(path, all);
  }
  return false;
}

/** Removes the last branch, because all of its continuations are covered. */
function leaveLast(path: Branch[], all: Continuations): void {
  const { state, covered, height } = path.pop()!;
  if (state !== undefined) Object.assign(state, { covered, height });
  countBehind(path, all, { covered, height });
}

/** Adds the continuations after the last decision. */
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

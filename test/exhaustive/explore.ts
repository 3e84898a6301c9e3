import { commute, type Decider, type Footprint, type Step, World } from './world';

/** Plays one run, and throws if that breaks a promise. It must do the same whenever the same is decided. */
export interface Scenario {
  readonly name: string;
  /** What a timer of the world's clock reads and writes. @default everything */
  readonly timerFootprint?: Footprint;
  play(world: World): Promise<void>;
}

export interface ExploreOptions {
  /** Ends after so many runs. @default when every run was played */
  maxRuns?: number;
  /** Leaves out runs that differ from another only in the order of steps that commute. @default true */
  prune?: boolean;
  /** Whether it goes on after a failure, to find the shortest one. @default true */
  shortest?: boolean;
  /** Is told the number of runs now and then. */
  onProgress?(runs: number): void;
}

export interface Exploration {
  /** Runs that were played to their end. */
  runs: number;
  /** Runs that were left before their end, since another run has the same steps in an order that makes no difference. */
  pruned: number;
  /** The most steps and choices of a run. */
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
  readonly names: readonly string[];
  /** Absent where the question is which option holds, and not which step happens. */
  readonly footprints?: readonly Footprint[];
  /** Steps that need not happen here: an earlier run had them before what has happened since, and they commute with it. */
  readonly asleep: ReadonlyMap<string, Footprint>;
  taken: number;
}

const PROGRESS_EVERY = 10_000;

/**
 * Plays a scenario in every way: depth first, each run from its beginning, with the decisions of the run before up to the
 * last one that can be made differently.
 *
 * Of runs that differ only in the order of steps that commute it plays one, by sleep sets. Source: Patrice Godefroid,
 * "Partial-Order Methods for the Verification of Concurrent Systems", chapter 5. After a failure it looks for shorter
 * ones only.
 */
export async function explore(scenario: Scenario, options: ExploreOptions = {}): Promise<Exploration> {
  const { maxRuns = Number.POSITIVE_INFINITY, prune = true, shortest = true, onProgress } = options;
  const found: Exploration = { runs: 0, pruned: 0, depth: 0, isComplete: false };
  const path: Branch[] = [];
  while (found.runs < maxRuns) {
    const run = new ExploringRun(path, prune, (found.failure?.decisions.length ?? Number.POSITIVE_INFINITY) - 1);
    const error = await run.play(scenario);
    if (run.isLeft) found.pruned += 1;
    else {
      found.runs += 1;
      found.depth = Math.max(found.depth, path.length);
      if (error !== undefined) {
        found.failure = { error, decisions: decisionsOf(path) };
        if (!shortest) return found;
      }
    }
    if ((found.runs + found.pruned) % PROGRESS_EVERY === 0) {
      onProgress?.(found.runs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!backtrack(path)) return { ...found, isComplete: true };
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
  private position = 0;
  private asleep: ReadonlyMap<string, Footprint> = new Map();
  private leave!: () => void;

  constructor(
    private readonly path: Branch[],
    private readonly prune: boolean,
    private readonly maxDepth: number,
  ) {}

  /** What the run has thrown; undefined if it kept every promise, or was left. */
  play(scenario: Scenario): Promise<Error | undefined> {
    return new Promise((resolve) => {
      this.leave = () => resolve(undefined);
      scenario.play(new World(this, scenario.timerFootprint)).then(() => resolve(undefined), resolve);
    });
  }

  step(steps: readonly Step[]): number | undefined {
    const branch = this.path[this.position] ?? this.branchOfSteps(steps);
    if (branch === undefined) {
      this.isLeft = true;
      this.leave();
      return undefined;
    }
    const name = this.take(branch);
    const footprint = branch.footprints![branch.taken]!;
    this.asleep = this.prune ? stillAsleep(branch, footprint) : this.asleep;
    const position = steps.findIndex((step) => step.name === name);
    if (position < 0) throw new Error(`the scenario is not the same each time: ${name} cannot happen any more`);
    return position;
  }

  choice(name: string, options: readonly string[]): number {
    const names = options.map((option) => `${name}: ${option}`);
    const branch = this.path[this.position] ?? this.add({ names, asleep: this.asleep, taken: 0 });
    const position = names.indexOf(this.take(branch));
    if (position < 0) throw new Error(`the scenario is not the same each time: nobody asks for ${branch.names[0]}`);
    return position;
  }

  /** The steps that this run and later ones take here; undefined if none needs to. */
  private branchOfSteps(steps: readonly Step[]): Branch | undefined {
    if (this.position >= this.maxDepth) return undefined;
    const awake = steps.filter(({ name }) => !this.asleep.has(name));
    if (awake.length === 0) return undefined;
    const [names, footprints] = [awake.map(({ name }) => name), awake.map(({ footprint }) => footprint)];
    return this.add({ names, footprints, asleep: this.asleep, taken: 0 });
  }

  private add(branch: Branch): Branch {
    this.path.push(branch);
    return branch;
  }

  private take(branch: Branch): string {
    this.position += 1;
    return branch.names[branch.taken]!;
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
function backtrack(path: Branch[]): boolean {
  for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
    last.taken += 1;
    if (last.taken < last.names.length) return true;
    path.pop();
  }
  return false;
}

function decisionsOf(path: readonly Branch[]): string[] {
  return path.map(({ names, taken }) => names[taken]!);
}

import type { Clock } from '../../../lib/core/kernel/clock';

/** The data that a step reads and writes. Two steps commute unless one writes data that the other reads or writes. */
export interface Footprint {
  readonly reads?: readonly string[];
  readonly writes: readonly string[];
}

/** A step that can happen next. */
export interface Step {
  readonly name: string;
  readonly footprint: Footprint;
}

interface Offer extends Step {
  /** Whether a run can end without this step. */
  readonly isOptional: boolean;
  happen(): void;
}

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** Decides the next step. Each decision has at least one option. */
export interface Decider {
  /**
   * Returns the position of the next step, or undefined if this run can end here.
   *
   * @param state returns the state that the rest of the run depends on, or undefined if the scenario does not describe it
   */
  step(steps: readonly Step[], state: () => string | undefined): number | undefined;
  /** Returns the position of the chosen option. */
  choice(name: string, options: readonly string[]): number;
}

/**
 * The environment of a scenario. The scenario offers possible steps, and the decider chooses the next one. Between two steps all
 * pending promises settle.
 */
export class World {
  /** A clock whose timers are steps: the earliest timer can fire at any moment. */
  readonly clock: Clock;
  private readonly offers = new Map<string, Offer>();
  private readonly timers: Timer[] = [];
  private nowMs = 0;
  private stateOf?: () => string;
  private dropsState = false;

  /** @param timerFootprint the data that a timer of the clock reads and writes */
  constructor(
    private readonly decider: Decider,
    private readonly timerFootprint: Footprint = { writes: ['*'] },
  ) {
    this.clock = {
      now: () => this.nowMs,
      schedule: (callback, delayMs) => this.schedule(callback, delayMs),
      sleep: (delayMs) => new Promise((resolve) => this.schedule(resolve, delayMs)),
    };
  }

  /**
   * Sets the description of the state: everything that the rest of a run depends on, except the offered steps and the time.
   * Runs that reach the same state have the same continuations.
   *
   * @param stateOf can be called before each step
   * @param until whether the description is valid only until the next step
   */
  setState(stateOf: () => string, until?: 'the next step'): void {
    this.stateOf = stateOf;
    this.dropsState = until === 'the next step';
  }

  /** Returns the option that the decider chooses, without a step. */
  choose<T extends string>(name: string, options: readonly T[]): T {
    return options.length === 1 ? options[0]! : options[this.decider.choice(name, options)]!;
  }

  /**
   * Offers a step that can happen once. Every run that has taken the same steps must use the same name for the new step.
   *
   * @returns a function that withdraws the offer
   */
  offer(name: string, footprint: Footprint, happen: () => void, { isOptional = false } = {}): () => void {
    if (this.offers.has(name)) throw new Error(`there are two offers of ${name}`);
    this.offers.set(name, { name, footprint, happen, isOptional });
    return () => this.offers.delete(name);
  }

  /** Offers a response as a step. Resolves when the step happens. */
  answer(name: string, footprint: Footprint): Promise<void> {
    return new Promise((resolve) => this.offer(name, footprint, resolve));
  }

  /** Takes steps until `done` has settled. */
  async until<T>(done: Promise<T>): Promise<T> {
    let settled = false;
    const end = (): void => {
      settled = true;
    };
    done.then(end, end);
    for (;;) {
      await allPromisesSettled();
      if (settled) return done;
      if (!(await this.step())) throw new Error('no step is left, but the run has not ended');
    }
  }

  /** Takes all remaining steps except optional steps. */
  async untilAllStepsAreTaken(): Promise<void> {
    do await allPromisesSettled();
    while (this.mustGoOn && (await this.step()));
  }

  private get mustGoOn(): boolean {
    if (this.timers.length > 0) return true;
    for (const { isOptional } of this.offers.values()) if (!isOptional) return true;
    return false;
  }

  /** Takes one step. Returns false if no step is left. Never resolves if the decider ends the run here. */
  private async step(): Promise<boolean> {
    // Optional steps come last, so that the first runs have no faults.
    const [steps, others]: [Offer[], Offer[]] = [[], []];
    for (const offer of this.offers.values()) (offer.isOptional ? others : steps).push(offer);
    const timer = this.timers[0];
    if (timer !== undefined) {
      const [name, footprint] = [`time ${timer.atMs}`, this.timerFootprint];
      steps.push({ name, footprint, happen: () => this.fire(timer), isOptional: false });
    }
    steps.push(...others);
    if (steps.length === 0) return false;
    const position = this.decider.step(steps, () => this.state(steps));
    if (position === undefined) return new Promise<never>(() => {});
    if (this.dropsState) this.stateOf = undefined;
    const { name, happen } = steps[position]!;
    this.offers.delete(name);
    happen();
    return true;
  }

  private state(steps: readonly Step[]): string | undefined {
    const state = this.stateOf?.();
    if (state === undefined) return undefined;
    const times = this.timers.map(({ atMs }) => atMs);
    return JSON.stringify([state, steps.map(({ name }) => name).sort(), this.nowMs, times]);
  }

  private schedule(callback: () => void, delayMs: number): () => void {
    const timer = { atMs: this.nowMs + delayMs, callback };
    const behind = this.timers.findIndex(({ atMs }) => atMs > timer.atMs);
    this.timers.splice(behind < 0 ? this.timers.length : behind, 0, timer);
    return () => this.remove(timer);
  }

  private fire(timer: Timer): void {
    this.remove(timer);
    this.nowMs = timer.atMs;
    timer.callback();
  }

  private remove(timer: Timer): void {
    const position = this.timers.indexOf(timer);
    if (position >= 0) this.timers.splice(position, 1);
  }
}

/** Whether two steps have the same effect in both orders, and neither enables or disables the other. */
export function commute(a: Footprint, b: Footprint): boolean {
  return !writesInto(a, b) && !writesInto(b, a);
}

function writesInto(writer: Footprint, { reads = [], writes }: Footprint): boolean {
  return writer.writes.some((place) => place === '*' || reads.includes(place) || writes.includes(place));
}

/**
 * Resolves when no further promise can settle. From a microtask, Node.js runs the nextTick queue after all other microtasks. From
 * the main program it would run the nextTick queue first.
 */
function allPromisesSettled(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

import type { Clock } from '../../../lib/core/kernel/clock';

/** What a step reads and writes. Two steps commute unless one writes what the other reads or writes. */
export interface Footprint {
  readonly reads?: readonly string[];
  readonly writes: readonly string[];
}

/** Something that can happen next. */
export interface Step {
  readonly name: string;
  readonly footprint: Footprint;
}

interface Offer extends Step {
  /** Whether a run can end without it. */
  readonly mayStayAway: boolean;
  happen(): void;
}

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** Decides what happens next. Each question has at least one option. */
export interface Decider {
  /**
   * Which of these steps happens, by its position; undefined if this run need not go on.
   *
   * @param state says what the rest of the run depends on; undefined if the scenario does not say it
   */
  step(steps: readonly Step[], state: () => string | undefined): number | undefined;
  /** Which of these options holds, by its position. */
  choice(name: string, options: readonly string[]): number;
}

/**
 * Where a scenario plays: it offers what can happen, and the decider says what does, one step at a time. Between two steps
 * everything runs that runs by itself.
 */
export class World {
  /** A clock whose timers are steps: the earliest one can fire at any moment. */
  readonly clock: Clock;
  private readonly offers = new Map<string, Offer>();
  private readonly timers: Timer[] = [];
  private nowMs = 0;
  private stateOf?: () => string;
  private forgetsState = false;

  /** @param timerFootprint what a timer of the clock reads and writes */
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
   * The scenario can say its state: all that the rest of a run depends on, but for what is offered and the time, which the
   * world knows. Runs that come to the same state can go on in the same ways.
   *
   * @param stateOf may be asked before each step
   * @param until whether it knows the state until the next step only
   */
  says(stateOf: () => string, until?: 'the next step'): void {
    this.stateOf = stateOf;
    this.forgetsState = until === 'the next step';
  }

  /** Takes one of several options, without a step. */
  choose<T extends string>(name: string, options: readonly T[]): T {
    return options.length === 1 ? options[0]! : options[this.decider.choice(name, options)]!;
  }

  /**
   * Something can happen from now on, once. The name must say what it is in every run that came here the same way.
   *
   * @returns takes the offer back
   */
  offer(name: string, footprint: Footprint, happen: () => void, { mayStayAway = false } = {}): () => void {
    if (this.offers.has(name)) throw new Error(`there are two offers of ${name}`);
    this.offers.set(name, { name, footprint, happen, mayStayAway });
    return () => this.offers.delete(name);
  }

  /** An offer of an answer: resolves when it happens. */
  answer(name: string, footprint: Footprint): Promise<void> {
    return new Promise((resolve) => this.offer(name, footprint, resolve));
  }

  /** Lets things happen until `done` has settled. */
  async until<T>(done: Promise<T>): Promise<T> {
    let settled = false;
    const end = (): void => {
      settled = true;
    };
    done.then(end, end);
    for (;;) {
      await everythingThatRunsByItself();
      if (settled) return done;
      if (!(await this.step())) throw new Error('nothing can happen any more, and the work has not ended');
    }
  }

  /** Lets everything happen that is left. Ends where only what may stay away could still happen. */
  async untilNothingIsLeft(): Promise<void> {
    do await everythingThatRunsByItself();
    while (this.mustGoOn && (await this.step()));
  }

  private get mustGoOn(): boolean {
    if (this.timers.length > 0) return true;
    for (const { mayStayAway } of this.offers.values()) if (!mayStayAway) return true;
    return false;
  }

  /** One step; false if there is none. A run that need not go on stays here for ever. */
  private async step(): Promise<boolean> {
    // What may stay away comes last, so that the first runs are those in which nothing goes wrong.
    const [steps, others]: [Offer[], Offer[]] = [[], []];
    for (const offer of this.offers.values()) (offer.mayStayAway ? others : steps).push(offer);
    const timer = this.timers[0];
    if (timer !== undefined) {
      const [name, footprint] = [`time ${timer.atMs}`, this.timerFootprint];
      steps.push({ name, footprint, happen: () => this.fire(timer), mayStayAway: false });
    }
    steps.push(...others);
    if (steps.length === 0) return false;
    const position = this.decider.step(steps, () => this.state(steps));
    if (position === undefined) return new Promise<never>(() => {});
    if (this.forgetsState) this.stateOf = undefined;
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

/** Whether two steps have the same effect in both orders, and neither makes the other possible or impossible. */
export function commute(a: Footprint, b: Footprint): boolean {
  return !writesInto(a, b) && !writesInto(b, a);
}

function writesInto(writer: Footprint, { reads = [], writes }: Footprint): boolean {
  return writer.writes.some((place) => place === '*' || reads.includes(place) || writes.includes(place));
}

/**
 * Resolves when no promise is left to settle by itself: from a promise's turn on, Node.js runs the queue of nextTick behind
 * that of promises. From the turn of a program that starts, it would run it before.
 */
function everythingThatRunsByItself(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

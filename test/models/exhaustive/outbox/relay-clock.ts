import type { Clock } from '../../../../lib/core';
import type { World } from '../world';

/** The settings of a relay in milliseconds. Each timer has a different value, so that the clock recognises the timer. */
export const POLL_MS = 2;
export const SAVE_MS = 3;
export const LEASE_MS = 4;
export const RETRY_MS = 10_000;

/** The timeout of a statement, and the timeout after a stop signal. */
export const STATEMENT_TIMEOUT_MS = 1_000_000;
const LAST_STATEMENT_MS = 3_000;

/** The wait for a hot key. It is short, because batches are small. */
const PATIENCE_MS = 1;

/** The waits of a producer between attempts are shorter than this time. Longer timers are timeouts of requests. */
const LONGEST_WAIT_MS = 1_000;

const POLLS = 'polls';
const SAVES = 'saves';
const LEASES = 'looks at leases';
const RETRIES = 'tries again';
const LOSES_PATIENCE = 'loses its patience with a hot key';
const WAITS = 'waits';

/** The timers whose callbacks read the elapsed time. */
const TAKING_TIME = new Set([RETRIES, LOSES_PATIENCE, WAITS]);

interface Timer {
  readonly name: string;
  readonly reads: readonly string[];
  readonly atMs: number;
  readonly callback: () => void;
  /** Returns whether the timer would have an effect now. */
  readonly isOpen: () => boolean;
  /** Whether the timer fires as soon as it has an effect. */
  readonly isPrompt: boolean;
  /** Withdraws the offer. Undefined while the timer would have no effect. */
  takeBack?: () => void;
}

interface Gates {
  /** The data that each step of the worker reads. */
  readonly reads: readonly string[];
  /** Whether the worker empties slots when it checks the leases. Its state then includes the time until the next check. */
  readonly rotates: boolean;
  /** Returns a count that increases with every change in the rows of writers. */
  writes(): number;
  /** Whether a check of the leases lets the worker claim a range or empty a slot. */
  leasesShowNews(): boolean;
  /** Whether the worker waits for a hot key. Otherwise the wait ends immediately. */
  readonly isPatient: boolean;
}

/**
 * The clock of a worker. Each timer is a step that can happen at any moment. A timer without an effect would only
 * repeat a check, so it waits for a change. A poll waits until writers change rows. A save waits until a range has
 * progressed. A check of the leases waits until the worker can claim a range or empty a slot.
 */
export class RelayClock implements Clock {
  private readonly timers = new Set<Timer>();
  private nowMs = 0;
  private moves = 0;
  /** Ends the wait for the pending statement. */
  private giveUp?: () => void;
  private takeBackGivingUp?: () => void;

  constructor(
    private readonly world: World,
    private readonly worker: string,
    private readonly gates: Gates,
    private readonly goesOn: () => void,
  ) {}

  now(): number {
    return this.nowMs;
  }

  /** The state of the timers. */
  get state(): unknown {
    const timers = [...this.timers].map(({ name, atMs, isOpen }) => [name, Math.max(0, atMs - this.nowMs), isOpen()]);
    return timers.sort();
  }

  schedule(callback: () => void, delayMs: number): () => void {
    if (delayMs === STATEMENT_TIMEOUT_MS || delayMs === LAST_STATEMENT_MS) {
      this.giveUp = callback;
      return () => {
        this.giveUp = undefined;
      };
    }
    return this.offer(callback, delayMs, ...this.gateOf(delayMs));
  }

  /** Called when the pending statement will not get a response. */
  waitInVain(): void {
    if (this.giveUp === undefined) return;
    const footprint = { reads: this.gates.reads, writes: [this.worker, 'locks'] };
    this.takeBackGivingUp = this.world.offer(`${this.worker} gives up waiting`, footprint, () => this.giveUp?.());
  }

  /** The clock for the producer of the worker. The requests of this producer have no timeout. */
  get ofProducer(): Clock {
    const schedule = (callback: () => void, delayMs: number): (() => void) =>
      delayMs > LONGEST_WAIT_MS ? () => {} : this.offer(callback, delayMs, WAITS, () => true);
    return {
      now: () => this.nowMs,
      schedule,
      sleep: (delayMs) => new Promise((resolve) => schedule(resolve, delayMs)),
    };
  }

  private offer(callback: () => void, delayMs: number, kind: string, isOpen: () => boolean): () => void {
    if (delayMs === 0) return immediately(callback);
    if (kind === LOSES_PATIENCE && !this.gates.isPatient) return immediately(() => this.loseTime(delayMs, callback));
    const takesTime = TAKING_TIME.has(kind) || (kind === LEASES && this.gates.rotates);
    const atMs = this.nowMs + (takesTime ? delayMs : 0);
    const reads = [...this.gates.reads, ...(kind === LEASES ? ['locks'] : [])];
    const timer: Timer = { name: this.nameOf(kind), reads, atMs, callback, isOpen, isPrompt: kind === SAVES };
    this.timers.add(timer);
    this.reconsider();
    return () => this.remove(timer);
  }

  private loseTime(delayMs: number, callback: () => void): void {
    this.nowMs += delayMs;
    callback();
  }

  /** Returns a name for a timer. The timer must have the same name in equal states. */
  private nameOf(kind: string): string {
    const names = new Set([...this.timers].map(({ name }) => name));
    for (let number = 1; ; number++) {
      const name = `${this.worker} ${kind} ${number}`;
      if (!names.has(name)) return name;
    }
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.schedule(resolve, delayMs));
  }

  /** Called when a response has shown the worker that a range has progressed. */
  move(): void {
    this.moves += 1;
    this.reconsider();
  }

  /** Offers the timers that have an effect now, and withdraws the other timers. */
  reconsider(): void {
    for (const timer of this.timers) {
      if (timer.isOpen() === (timer.takeBack !== undefined)) continue;
      timer.takeBack?.();
      timer.takeBack = timer.isOpen() ? this.offerTimer(timer) : undefined;
    }
  }

  private offerTimer(timer: Timer): () => void {
    const fire = (): void => this.fire(timer);
    if (timer.isPrompt) return immediately(fire);
    const footprint = { reads: timer.reads, writes: [this.worker] };
    return this.world.offer(timer.name, footprint, fire);
  }

  end(): void {
    this.takeBackGivingUp?.();
    for (const timer of [...this.timers]) this.remove(timer);
  }

  private gateOf(delayMs: number): [kind: string, isOpen: () => boolean] {
    if (delayMs === POLL_MS) return [POLLS, since(this.gates.writes)];
    if (delayMs === LEASE_MS) return [LEASES, this.gates.leasesShowNews];
    if (delayMs === SAVE_MS) return [SAVES, since(() => this.moves)];
    if (delayMs === PATIENCE_MS) return [LOSES_PATIENCE, () => true];
    return [RETRIES, () => true];
  }

  private fire(timer: Timer): void {
    this.remove(timer);
    this.nowMs = Math.max(this.nowMs, timer.atMs);
    this.goesOn();
    timer.callback();
  }

  private remove(timer: Timer): void {
    this.timers.delete(timer);
    timer.takeBack?.();
  }
}

/** Returns a function that says whether the count has increased since this call. */
function since(count: () => number): () => boolean {
  const before = count();
  return () => count() > before;
}

function immediately(callback: () => void): () => void {
  let isCancelled = false;
  queueMicrotask(() => {
    if (!isCancelled) callback();
  });
  return () => {
    isCancelled = true;
  };
}

import type { Clock } from '../../../lib/core';
import type { World } from '../world';

/** Settings of a relay by which its timers are told apart, in milliseconds. */
export const POLL_MS = 1;
export const SAVE_MS = 2;
export const LEASE_MS = 3;
export const RETRY_MS = 10_000;

/** That no answer comes is another scenario's affair. Postgres is given 3 seconds where the relay was told to end. */
export const STATEMENT_TIMEOUT_MS = 1_000_000;
const LAST_STATEMENT_MS = 3_000;

/** A producer waits less between attempts; what is longer are the time-outs of its requests. */
const LONGEST_WAIT_MS = 1_000;

const POLLS = 'polls';
const SAVES = 'saves';
const LEASES = 'looks at leases';
const RETRIES = 'tries again';
const WAITS = 'waits';

interface Timer {
  readonly name: string;
  readonly atMs: number;
  readonly callback: () => void;
  /** Whether it can fire and do something. */
  readonly isOpen: () => boolean;
  /** Whether it fires as soon as it can do something. */
  readonly isPrompt: boolean;
  takeBack?: () => void;
}

export interface Gates {
  /** What each step of the worker reads. */
  readonly reads: readonly string[];
  /** Whether time passes until it looks at leases. */
  readonly leasesTakeTime: boolean;
  /** Grows with all that a look at the writers' rows can show. */
  writes(): number;
  /** Grows with all that a look at leases can show. */
  leases(): number;
}

/**
 * The clock of a worker: each timer is a step at any moment. One that looks again where nothing has changed would show
 * nothing new, so it waits until something has: a poll for writers, a save for what moves a range, and a look
 * at leases for locks.
 */
export class RelayClock implements Clock {
  private readonly timers = new Set<Timer>();
  private nowMs = 0;
  private moves = 0;

  constructor(
    private readonly world: World,
    private readonly worker: string,
    private readonly gates: Gates,
    private readonly hears: (what: unknown) => void,
  ) {}

  now(): number {
    return this.nowMs;
  }

  /** All that its timers do from now on depends on this. */
  get state(): unknown {
    const timers = [...this.timers].map(({ name, atMs, isOpen }) => [name, Math.max(0, atMs - this.nowMs), isOpen()]);
    return timers.sort();
  }

  schedule(callback: () => void, delayMs: number): () => void {
    if (delayMs === STATEMENT_TIMEOUT_MS || delayMs === LAST_STATEMENT_MS) return () => {};
    return this.offer(callback, delayMs, ...this.gateOf(delayMs));
  }

  /** The clock of the worker's producer, whose requests are never given up. */
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
    const takesTime = kind === RETRIES || kind === WAITS || (kind === LEASES && this.gates.leasesTakeTime);
    const atMs = this.nowMs + (takesTime ? delayMs : 0);
    const timer: Timer = { name: this.nameOf(kind), atMs, callback, isOpen, isPrompt: kind === SAVES };
    this.timers.add(timer);
    this.reconsider();
    return () => this.remove(timer);
  }

  /** The same in each state, however the worker has come there. */
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

  /** The worker has heard something by which a range has come further. */
  move(): void {
    this.moves += 1;
    this.reconsider();
  }

  /** Offers what can do something by now. */
  reconsider(): void {
    for (const timer of this.timers) {
      if (timer.takeBack !== undefined || !timer.isOpen()) continue;
      if (timer.isPrompt) {
        timer.takeBack = immediately(() => this.fire(timer));
        continue;
      }
      timer.takeBack = this.world.offer(timer.name, { reads: this.gates.reads, writes: [this.worker] }, () =>
        this.fire(timer),
      );
    }
  }

  end(): void {
    for (const timer of [...this.timers]) this.remove(timer);
  }

  private gateOf(delayMs: number): [kind: string, isOpen: () => boolean] {
    if (delayMs === POLL_MS) return [POLLS, since(this.gates.writes)];
    if (delayMs === LEASE_MS) return [LEASES, since(this.gates.leases)];
    if (delayMs === SAVE_MS) return [SAVES, since(() => this.moves)];
    return [RETRIES, () => true];
  }

  private fire(timer: Timer): void {
    this.remove(timer);
    this.nowMs = Math.max(this.nowMs, timer.atMs);
    this.hears(timer.name);
    timer.callback();
  }

  private remove(timer: Timer): void {
    this.timers.delete(timer);
    timer.takeBack?.();
  }
}

/** Whether a count has grown since now. */
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

import type { Clock } from '../../../../lib/core';
import type { World } from '../world';

/** Settings of a relay by which its timers are told apart, in milliseconds. */
export const POLL_MS = 2;
export const SAVE_MS = 3;
export const LEASE_MS = 4;
export const RETRY_MS = 10_000;

/** How long the relay waits for an answer, and how long where it was told to end. */
export const STATEMENT_TIMEOUT_MS = 1_000_000;
const LAST_STATEMENT_MS = 3_000;

/** How long it waits for a hot key: batches have so few rows. */
const PATIENCE_MS = 1;

/** A producer waits less between attempts; what is longer are the time-outs of its requests. */
const LONGEST_WAIT_MS = 1_000;

const POLLS = 'polls';
const SAVES = 'saves';
const LEASES = 'looks at leases';
const RETRIES = 'tries again';
const LOSES_PATIENCE = 'loses its patience with a hot key';
const WAITS = 'waits';

/** Whoever waits for these looks how late it is. */
const TAKING_TIME = new Set([RETRIES, LOSES_PATIENCE, WAITS]);

interface Timer {
  readonly name: string;
  readonly reads: readonly string[];
  readonly atMs: number;
  readonly callback: () => void;
  /** Whether it can fire and do something. */
  readonly isOpen: () => boolean;
  /** Whether it fires as soon as it can do something. */
  readonly isPrompt: boolean;
  /** Takes the offer back. Undefined while nothing has changed that it could act on. */
  takeBack?: () => void;
}

interface Gates {
  /** What each step of the worker reads. */
  readonly reads: readonly string[];
  /** Whether the worker empties slots when it looks at leases. Then time passes until it does. */
  readonly rotates: boolean;
  /** Grows with all that a look at the writers' rows can show. */
  writes(): number;
  /** Whether a look at leases lets the worker take a range, or empty a slot. */
  leasesShowNews(): boolean;
  /** Whether a hot key is waited for. If not, the patience with it is over at once. */
  readonly isPatient: boolean;
}

/**
 * The clock of a worker: each timer is a step at any moment. One that looks again where nothing has changed would show
 * nothing new, so it waits until something has: a poll for writers, a save for what moves a range, and a look
 * at leases for a range that it can take, or a slot that it can empty.
 */
export class RelayClock implements Clock {
  private readonly timers = new Set<Timer>();
  private nowMs = 0;
  private moves = 0;
  /** Ends the wait for the statement that has no answer yet. */
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

  /** All that its timers do from now on depends on this. */
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

  /** No answer comes to the statement that the worker waits for. */
  waitInVain(): void {
    if (this.giveUp === undefined) return;
    const footprint = { reads: this.gates.reads, writes: [this.worker, 'locks'] };
    this.takeBackGivingUp = this.world.offer(`${this.worker} gives up waiting`, footprint, () => this.giveUp?.());
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

  /** Offers what can do something by now, and takes back what cannot any more. */
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

import { BinaryHeap } from '../core/kernel/binary-heap';
import type { Clock } from '../core/producer';

/** A callback with its time. */
interface Timer {
  readonly atMs: number;
  /** The number of timers that were created before this timer. This number orders timers with the same time. */
  readonly order: number;
  /** Undefined when the timer is cancelled. */
  callback: (() => void) | undefined;
}

/** A clock whose time changes only when a test runs its timers: the time jumps from one timer to the next. */
export class VirtualClock implements Clock {
  nowMs = 0;
  private readonly timers = new BinaryHeap<Timer>((a, b) => a.atMs - b.atMs || a.order - b.order);
  private scheduled = 0;

  now(): number {
    return this.nowMs;
  }

  schedule(callback: () => void, delayMs: number): () => void {
    const timer: Timer = { atMs: this.nowMs + delayMs, order: this.scheduled++, callback };
    this.timers.add(timer);
    return () => {
      timer.callback = undefined;
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.schedule(resolve, delayMs));
  }

  /**
   * Runs timers in order until `done` has settled. Throws an error if `done` has not settled and no timer is left.
   *
   * @param untilIdle waits until all work that does not need the clock has ended
   */
  async runUntil<T>(done: Promise<T>, untilIdle: () => Promise<void> = pendingWork): Promise<T> {
    let settled = false;
    const end = (): void => {
      settled = true;
    };
    done.then(end, end);
    for (;;) {
      await untilIdle();
      if (settled) return done;
      const next = this.takeTimer();
      if (next === undefined) throw new Error('the promise has not settled, and no timer is left');
      this.nowMs = next.atMs;
      next.callback?.();
    }
  }

  /** Runs every timer that is left, such as a delayed request. */
  async runOut(): Promise<void> {
    for (let next = this.takeTimer(); next !== undefined; next = this.takeTimer()) {
      this.nowMs = next.atMs;
      next.callback?.();
      await pendingWork();
    }
  }

  /** Removes the earliest timer that was not cancelled. */
  private takeTimer(): Timer | undefined {
    for (let timer = this.timers.top; timer !== undefined; timer = this.timers.top) {
      this.timers.removeTop();
      if (timer.callback !== undefined) return timer;
    }
    return undefined;
  }
}

function pendingWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

import type { Clock } from '../core/producer';
import { type Timer, TimerQueue } from './timer-queue';

/** A clock whose time changes only when a test runs its timers: the time jumps from one timer to the next. */
export class VirtualClock implements Clock {
  nowMs = 0;
  private readonly timers = new TimerQueue();
  private scheduled = 0;

  now(): number {
    return this.nowMs;
  }

  schedule(callback: () => void, delayMs: number): () => void {
    const timer: Timer = { atMs: this.nowMs + delayMs, order: this.scheduled++, callback };
    this.timers.push(timer);
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
      const next = this.timers.shift();
      if (next === undefined) throw new Error('the promise has not settled, and no timer is left');
      this.nowMs = next.atMs;
      next.callback?.();
    }
  }

  /** Runs every timer that is left, such as a delayed request. */
  async runOut(): Promise<void> {
    for (let next = this.timers.shift(); next !== undefined; next = this.timers.shift()) {
      this.nowMs = next.atMs;
      next.callback?.();
      await pendingWork();
    }
  }
}

function pendingWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

import type { Clock } from '../../lib/core';

/** A clock that moves only when told to, from timer to timer. */
export class VirtualClock implements Clock {
  nowMs = 0;
  private timers: { atMs: number; order: number; callback: () => void }[] = [];
  private scheduled = 0;

  schedule(callback: () => void, delayMs: number): () => void {
    const timer = { atMs: this.nowMs + delayMs, order: this.scheduled++, callback };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.schedule(resolve, delayMs));
  }

  /** Runs timers in order until `done` has settled. Fails if it never can, because no timer is left. */
  async runUntil<T>(done: Promise<T>): Promise<T> {
    let settled = false;
    const end = (): void => {
      settled = true;
    };
    done.then(end, end);
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (settled) return done;
      const [next] = this.timers.sort((a, b) => a.atMs - b.atMs || a.order - b.order);
      if (next === undefined) throw new Error('nothing left to wait for, and the work has not ended');
      this.timers.shift();
      this.nowMs = next.atMs;
      next.callback();
    }
  }
}

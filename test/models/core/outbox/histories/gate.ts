import type { Clock } from '../../../../../lib/core';

interface Action {
  readonly actor: string;
  readonly run: () => Promise<void>;
}

interface GateTimer {
  readonly actor: string;
  readonly atMs: number;
  readonly callback: () => void;
}

/** Less than the least of time-outs, so that what waits at the gate has turns before it is given up. */
const MOST_MS_AT_ONCE = 100;

/** Everything that workers ask of the world passes here, one at a time, in an order that a history draws. */
export class Gate {
  readonly actions: Action[] = [];
  readonly timers: GateTimer[] = [];
  private readonly dead = new Set<string>();
  private nowMs = 0;

  /** Resolves with what the action does, when its turn has come; never for one whose actor is dead. */
  pass<T>(actor: string, act: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.dead.has(actor)) return;
      const run = () => act().then(resolve, reject);
      this.actions.push({ actor, run });
    });
  }

  /** A clock that moves when the gate lets its timers through. */
  clockOf(actor: string): Clock {
    return {
      now: () => this.nowMs,
      schedule: (callback, delayMs) => {
        const timer = { actor, atMs: this.nowMs + delayMs, callback };
        if (!this.dead.has(actor)) this.timers.push(timer);
        return () => {
          const index = this.timers.indexOf(timer);
          if (index >= 0) this.timers.splice(index, 1);
        };
      },
      sleep: (delayMs) => new Promise((resolve) => this.clockOf(actor).schedule(resolve, delayMs)),
    };
  }

  async letThrough(index: number): Promise<void> {
    const [action] = this.actions.splice(index, 1);
    await action!.run();
    await settled();
  }

  /** Lets the earliest timer go off, or comes nearer to it. */
  async moveTime(): Promise<void> {
    const timer = this.timers.reduce((first, other) => (other.atMs < first.atMs ? other : first));
    if (timer.atMs > this.nowMs + MOST_MS_AT_ONCE) {
      this.nowMs += MOST_MS_AT_ONCE;
      return;
    }
    this.timers.splice(this.timers.indexOf(timer), 1);
    this.nowMs = Math.max(this.nowMs, timer.atMs);
    timer.callback();
    await settled();
  }

  /** Whoever it is does nothing any more, and hears of nothing. */
  kill(actor: string): void {
    this.dead.add(actor);
    for (const list of [this.actions, this.timers]) {
      for (let index = list.length - 1; index >= 0; index--) if (list[index]!.actor === actor) list.splice(index, 1);
    }
  }
}

export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

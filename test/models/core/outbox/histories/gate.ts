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

/** The largest step of the clock. It is less than the shortest timeout, so that waiting actions can run before they time out. */
const MAX_MS_AT_ONCE = 100;

/** Runs the actions of all workers one at a time, in a random order. */
export class Gate {
  readonly actions: Action[] = [];
  readonly timers: GateTimer[] = [];
  private readonly dead = new Set<string>();
  private nowMs = 0;

  /** Runs the action when the gate chooses it. Never resolves if the actor was killed. */
  pass<T>(actor: string, act: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.dead.has(actor)) return;
      const run = () => act().then(resolve, reject);
      this.actions.push({ actor, run });
    });
  }

  /** A clock whose timers are actions of the gate. */
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

  /** Fires the earliest timer if it is due within one step of the clock. Otherwise moves the clock by one step. */
  async moveTime(): Promise<void> {
    const timer = this.timers.reduce((first, other) => (other.atMs < first.atMs ? other : first));
    if (timer.atMs > this.nowMs + MAX_MS_AT_ONCE) {
      this.nowMs += MAX_MS_AT_ONCE;
      return;
    }
    this.timers.splice(this.timers.indexOf(timer), 1);
    this.nowMs = Math.max(this.nowMs, timer.atMs);
    timer.callback();
    await settled();
  }

  /** Stops the actor: it runs no more actions and receives no more responses. */
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

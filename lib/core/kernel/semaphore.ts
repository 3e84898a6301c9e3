import { Fifo } from './fifo';

/** Lets a bounded number of callers work at the same time. Waiting callers get a permit in the order of their calls. */
export class Semaphore {
  private readonly waiting = new Fifo<() => void>();

  /** @param permits how many callers may work at the same time */
  constructor(private permits: number) {}

  tryAcquire(): boolean {
    if (this.permits === 0) return false;
    this.permits -= 1;
    return true;
  }

  /** Takes a permit, and then calls `begin`. If a permit is free, `acquire` calls `begin` before it returns. */
  acquire(begin: () => void): void {
    if (this.tryAcquire()) begin();
    else this.waiting.push(begin);
  }

  /** Gives a permit back. The caller that has waited longest gets this permit. */
  release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.permits += 1;
    // Uses a microtask, because `next` may release its permit immediately. Direct calls would then recurse once for each
    // waiting caller.
    else queueMicrotask(next);
  }
}

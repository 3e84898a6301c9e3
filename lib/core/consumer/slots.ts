import { Fifo } from '../kernel/fifo';

/** Lets a bounded number of callers work at once. The one that has waited the longest is next. */
export class Slots {
  private readonly waiting = new Fifo<() => void>();

  constructor(private free: number) {}

  /** Calls `begin` as soon as a slot is free, which may be at once. */
  take(begin: () => void): void {
    if (this.free === 0) this.waiting.push(begin);
    else {
      this.free -= 1;
      begin();
    }
  }

  give(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    // It begins in a turn of its own: it may end at once and give its slot to the next one, and so on.
    else queueMicrotask(next);
  }
}

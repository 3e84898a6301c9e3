import { Fifo } from '../foundation/fifo';

/** Lets so many do something at once. Whoever waits the longest is next. */
export class Slots {
  private readonly waiting = new Fifo<() => void>();

  constructor(private free: number) {}

  /** Begins as soon as a slot is free: at once, if one is. */
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
    // In a turn of its own: it may end at once, and give its slot to the next, and so on.
    else queueMicrotask(next);
  }
}

/** The rest moves up when so many items have left, or more: a short queue would otherwise get a new array for each. */
const LEAST_TO_MOVE_UP = 64;

/** A first-in, first-out queue with constant-time operations. */
export class Fifo<T> {
  private items: (T | undefined)[] = [];
  private start = 0;

  get length(): number {
    return this.items.length - this.start;
  }

  /** The next item to leave. */
  get head(): T | undefined {
    return this.items[this.start];
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.items[this.start];
    this.items[this.start] = undefined;
    this.start += 1;
    if (this.start >= LEAST_TO_MOVE_UP && this.start * 2 >= this.items.length) {
      this.items = this.items.slice(this.start);
      this.start = 0;
    }
    return item;
  }
}

/** A first-in, first-out queue with constant-time operations at both ends. */
export class Fifo<T> {
  private items: T[] = [];
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
    const item = this.items[this.start];
    if (item === undefined) return undefined;
    this.start += 1;
    if (this.start * 2 >= this.items.length) {
      this.items = this.items.slice(this.start);
      this.start = 0;
    }
    return item;
  }
}

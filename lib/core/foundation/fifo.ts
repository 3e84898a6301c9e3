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

  /** The last item that entered. */
  get tail(): T | undefined {
    return this.items.at(-1);
  }

  /** The item that leaves after `index` others have left. */
  at(index: number): T | undefined {
    return this.items[this.start + index];
  }

  /** Takes out up to `count` items that have `index` others before them. */
  takeBehind(index: number, count: number): T[] {
    return this.items.splice(this.start + index, count) as T[];
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.items[this.start];
    this.items[this.start] = undefined;
    this.start += 1;
    if (this.start * 2 >= this.items.length) {
      this.items = this.items.slice(this.start);
      this.start = 0;
    }
    return item;
  }
}

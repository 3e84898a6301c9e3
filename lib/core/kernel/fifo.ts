/**
 * A first-in, first-out queue. Its operations take constant time on average, because each item moves between the two arrays once.
 */
export class Fifo<T> {
  private arrived: T[] = [];
  /** The items that arrived before the items of `arrived`, newest first. */
  private leaving: T[] = [];

  get length(): number {
    return this.leaving.length + this.arrived.length;
  }

  /** The oldest item of the queue, which leaves next. */
  get head(): T | undefined {
    return this.leaving.at(-1) ?? this.arrived[0];
  }

  push(item: T): void {
    this.arrived.push(item);
  }

  shift(): T | undefined {
    if (this.leaving.length === 0) [this.leaving, this.arrived] = [this.arrived.reverse(), this.leaving];
    return this.leaving.pop();
  }
}

/** A callback with its time. */
export interface Timer {
  readonly atMs: number;
  /** The number of timers that were created before this timer. This number orders timers with the same time. */
  readonly order: number;
  /** Undefined when the timer is cancelled. */
  callback: (() => void) | undefined;
}

/** A binary heap of timers, ordered by time, then by creation. */
export class TimerQueue {
  private readonly heap: Timer[] = [];

  push(timer: Timer): void {
    this.heap.push(timer);
    this.siftUp(this.heap.length - 1);
  }

  /** The earliest timer that was not cancelled. */
  shift(): Timer | undefined {
    for (;;) {
      const first = this.heap[0];
      const last = this.heap.pop();
      if (first === undefined || last === undefined) return undefined;
      if (first !== last) {
        this.heap[0] = last;
        this.siftDown(0);
      }
      if (first.callback !== undefined) return first;
    }
  }

  private siftUp(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.isEarlier(index, parent)) return;
      this.swap(index, parent);
      index = parent;
    }
  }

  private siftDown(start: number): void {
    for (let index = start; ; ) {
      let earliest = index;
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < this.heap.length && this.isEarlier(child, earliest)) earliest = child;
      }
      if (earliest === index) return;
      this.swap(index, earliest);
      index = earliest;
    }
  }

  private isEarlier(left: number, right: number): boolean {
    const [a, b] = [this.heap[left]!, this.heap[right]!];
    return a.atMs - b.atMs < 0 || (a.atMs === b.atMs && a.order < b.order);
  }

  private swap(left: number, right: number): void {
    const timer = this.heap[left]!;
    this.heap[left] = this.heap[right]!;
    this.heap[right] = timer;
  }
}

/** A binary heap with the smallest element on top. Call `topChanged` after a change of the top element. */
export class BinaryHeap<E> {
  private readonly elements: E[] = [];

  constructor(
    private readonly compare: (a: E, b: E) => number,
    elements: readonly E[] = [],
  ) {
    for (const element of elements) this.add(element);
  }

  get size(): number {
    return this.elements.length;
  }

  get top(): E | undefined {
    return this.elements[0];
  }

  add(element: E): void {
    let index = this.elements.push(element) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.isLess(index, parent)) return;
      this.swap(index, parent);
      index = parent;
    }
  }

  removeTop(): void {
    const last = this.elements.pop()!;
    if (this.elements.length === 0) return;
    this.elements[0] = last;
    this.topChanged();
  }

  topChanged(): void {
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      let least = index;
      for (let child = left; child <= left + 1 && child < this.elements.length; child++) {
        if (this.isLess(child, least)) least = child;
      }
      if (least === index) return;
      this.swap(index, least);
      index = least;
    }
  }

  private isLess(a: number, b: number): boolean {
    return this.compare(this.elements[a]!, this.elements[b]!) < 0;
  }

  private swap(a: number, b: number): void {
    [this.elements[a], this.elements[b]] = [this.elements[b]!, this.elements[a]!];
  }
}

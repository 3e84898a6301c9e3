/** Whole numbers from `from` to `to`, both included. */
interface NumberRange {
  from: bigint;
  to: bigint;
}

/**
 * A set of whole numbers. It is kept as ranges in ascending order, so that consecutive numbers take no more memory than
 * one.
 */
export class NumberRanges {
  private readonly ranges: NumberRange[] = [];

  /** How many ranges there are. */
  get count(): number {
    return this.ranges.length;
  }

  [Symbol.iterator](): Iterator<NumberRange> {
    return this.ranges.values();
  }

  has(number: bigint): boolean {
    return this.ranges.some(({ from, to }) => from <= number && number <= to);
  }

  /** Adds the numbers of a range. */
  add({ from, to }: NumberRange): void {
    // Ranges that touch the new one become one with it.
    const start = this.ranges.findIndex((range) => range.to + 1n >= from);
    const first = start === -1 ? this.ranges.length : start;
    let end = first;
    while (end < this.ranges.length && this.ranges[end]!.from <= to + 1n) end += 1;
    const touched = this.ranges.slice(first, end);
    const merged = [...touched, { from, to }].reduce((a, b) => ({
      from: a.from < b.from ? a.from : b.from,
      to: a.to > b.to ? a.to : b.to,
    }));
    this.ranges.splice(first, touched.length, merged);
  }

  delete(number: bigint): void {
    const index = this.ranges.findIndex(({ from, to }) => from <= number && number <= to);
    if (index === -1) return;
    const { from, to } = this.ranges[index]!;
    const left = from < number ? [{ from, to: number - 1n }] : [];
    const right = number < to ? [{ from: number + 1n, to }] : [];
    this.ranges.splice(index, 1, ...left, ...right);
  }
}

/**
 * How deep intrinsic functions may be nested: several times as deep as in templates, and far less deep than the stack
 * allows.
 */
const MAX_DEPTH = 100;

/**
 * The most work on one assembly. Each object that is resolved counts as a number of characters, and so does each character
 * that is written. This much takes some seconds, and 100 MB at most.
 */
const MAX_WORK = 100_000_000;
const WORK_OF_AN_OBJECT = 10;

/**
 * The work that the values of one assembly take. A template can refer to itself in many ways (names, conditions, exports,
 * outputs), and a short one can stand for gigabytes: so the depth and the amount of the work are bounded.
 */
export class ResolutionWork {
  private depth = 0;
  private done = 0;

  /** Resolves one object. `fail` is given a reason, and throws. */
  within<T>(resolve: () => T, fail: (reason: string) => never): T {
    if (this.depth === MAX_DEPTH) return fail('it refers to itself, or is nested too deeply');
    this.add(WORK_OF_AN_OBJECT, fail);
    this.depth += 1;
    try {
      return resolve();
    } finally {
      this.depth -= 1;
    }
  }

  /** Counts characters, or the members of a list. */
  add(amount: number, fail: (reason: string) => never): void {
    this.done += amount;
    if (this.done > MAX_WORK) fail('the values of the assembly take more work than any app needs');
  }
}

/** Intrinsics in one another: several times what templates have, and far less than the stack has room for. */
const MAX_DEPTH = 100;

/** Objects resolved and characters written, each object as so many characters: some seconds, and 100 MB at most. */
const MAX_WORK = 100_000_000;
const WORK_OF_AN_OBJECT = 10;

/**
 * The work that the values of one assembly take. A template can refer to itself in many ways (names, conditions, exports,
 * outputs), and a short one can stand for gigabytes: so what counts is how deep and how long the work goes on.
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

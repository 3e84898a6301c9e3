/** Runs tasks in the order of their arrival. Some tasks may run in parallel, and others must run alone. */
export class Turns {
  private readonly atWork = new Set<Promise<unknown>>();
  private lastAlone: Promise<unknown> = Promise.resolve();

  /** Runs a task that may run in parallel with other tasks, after all earlier tasks that must run alone. */
  beside<T>(work: () => Promise<T>): Promise<T> {
    return this.add(this.lastAlone.then(work));
  }

  /** Runs a task alone: after all earlier tasks, and before all later tasks. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const ended = this.add(Promise.all(this.atWork).then(work));
    this.lastAlone = ended.catch(() => {});
    return ended;
  }

  private add<T>(ended: Promise<T>): Promise<T> {
    const settled = ended.then(
      () => {},
      () => {},
    );
    this.atWork.add(settled);
    void settled.then(() => this.atWork.delete(settled));
    return ended;
  }
}

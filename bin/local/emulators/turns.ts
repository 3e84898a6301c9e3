/** Runs work in the order in which it comes. Some work may run at the same time as other work, and some must run alone. */
export class Turns {
  private readonly atWork = new Set<Promise<unknown>>();
  private lastAlone: Promise<unknown> = Promise.resolve();

  /** Runs work after earlier work that must run alone. */
  beside<T>(work: () => Promise<T>): Promise<T> {
    return this.add(this.lastAlone.then(work));
  }

  /** Runs work after all earlier work, and before all later work. */
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

/** Work that is done beside other work, and work that is done alone, in the order in which it comes. */
export class Turns {
  private readonly atWork = new Set<Promise<unknown>>();
  private lastAlone: Promise<unknown> = Promise.resolve();

  /** Behind what came before and is to be alone. */
  beside<T>(work: () => Promise<T>): Promise<T> {
    return this.add(this.lastAlone.then(work));
  }

  /** Behind all that came before, and before all that comes later. */
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

import type { Footprint, World } from './world';

/** What may go wrong in a run, in all so often. */
export class Faults {
  private readonly offers = new Set<() => void>();

  constructor(
    private readonly world: World,
    private left: number,
  ) {}

  /** How many the run may still have. */
  get rest(): number {
    return this.left;
  }

  /** A step that is one of the faults, and can happen as long as the run may have more. Returns what takes it back. */
  offer(name: string, { reads = [], writes }: Footprint, happen: () => void): () => void {
    if (this.left === 0) return () => {};
    // One fault can be the last, after which another cannot happen: so no two of them commute.
    const footprint = { reads, writes: [...writes, 'faults'] };
    const goWrong = (): void => {
      this.offers.delete(takeBack);
      this.count();
      happen();
    };
    const takeBack = this.world.offer(name, footprint, goWrong, { mayStayAway: true });
    this.offers.add(takeBack);
    return takeBack;
  }

  /** Whether this goes wrong, without a step. */
  choose(name: string): boolean {
    if (this.left === 0 || this.world.choose(name, ['no', 'yes']) === 'no') return false;
    this.count();
    return true;
  }

  private count(): void {
    this.left -= 1;
    if (this.left > 0) return;
    for (const takeBack of this.offers) takeBack();
    this.offers.clear();
  }
}

/** What goes wrong in a run, in this order, each at any moment from the one before on. */
export class FaultsInOrder {
  private readonly waiting = new Map<string, () => void>();

  constructor(
    private readonly world: World,
    private left: readonly string[],
  ) {}

  /** How many the run may still have, and which could be the next. */
  get rest(): unknown {
    return [this.left.length, [...this.waiting.keys()].sort()];
  }

  /** A step that can happen when it is its turn. Returns what takes it back. */
  offer(name: string, { reads = [], writes }: Footprint, happen: () => void): () => void {
    let takeBack = (): void => {};
    const goWrong = (): void => {
      this.waiting.delete(name);
      this.left = this.left.slice(1);
      happen();
      this.offerNext();
    };
    this.waiting.set(name, () => {
      takeBack = this.world.offer(name, { reads, writes: [...writes, 'faults'] }, goWrong, { mayStayAway: true });
    });
    if (this.left[0] === name) this.offerNext();
    return () => {
      this.waiting.delete(name);
      takeBack();
    };
  }

  private offerNext(): void {
    const [next = ''] = this.left;
    this.waiting.get(next)?.();
  }
}

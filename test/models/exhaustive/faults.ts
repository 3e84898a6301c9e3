import type { Footprint, World } from './world';

/** The faults of a run. Their number is limited. */
export class Faults {
  private readonly offers = new Set<() => void>();

  constructor(
    private readonly world: World,
    private left: number,
  ) {}

  /** The number of faults that are left. */
  get rest(): number {
    return this.left;
  }

  /** Offers a fault as a step while faults are left. Returns a function that withdraws the offer. */
  offer(name: string, { reads = [], writes }: Footprint, happen: () => void): () => void {
    if (this.left === 0) return () => {};
    // Two faults never commute: after the first fault, the run may have no fault left for the second.
    const footprint = { reads, writes: [...writes, 'faults'] };
    const goWrong = (): void => {
      this.offers.delete(takeBack);
      this.count();
      happen();
    };
    const takeBack = this.world.offer(name, footprint, goWrong, { isOptional: true });
    this.offers.add(takeBack);
    return takeBack;
  }

  /** Decides whether a fault happens, without a step. */
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

/** Faults in a fixed order. Each fault can happen at any moment after the previous fault. */
export class FaultsInOrder {
  private readonly waiting = new Map<string, () => void>();

  /** @param offered gets the name of each offered fault */
  constructor(
    private readonly world: World,
    private left: readonly string[],
    private readonly offered: Set<string>,
  ) {}

  /** The number of faults that are left, and the offered faults. */
  get rest(): unknown {
    return [this.left.length, [...this.waiting.keys()].sort()];
  }

  /** Offers a fault as a step when it is the next fault in the order. Returns a function that withdraws the offer. */
  offer(name: string, { reads = [], writes }: Footprint, happen: () => void): () => void {
    this.offered.add(name);
    let takeBack = (): void => {};
    const goWrong = (): void => {
      this.waiting.delete(name);
      this.left = this.left.slice(1);
      happen();
      this.offerNext();
    };
    this.waiting.set(name, () => {
      takeBack = this.world.offer(name, { reads, writes: [...writes, 'faults'] }, goWrong, { isOptional: true });
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

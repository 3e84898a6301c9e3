import type { GrownCount } from '../../../lib/core/adaptive-counts/grown-count';
import type { ShardCountReader } from '../../../lib/core/adaptive-counts/shard-count-store';

/** The counts of a value from a moment on. */
type CountStep = Pick<GrownCount, 'write' | 'read' | 'changedBy' | 'changedAt' | 'reason'> & {
  /** When the counts were first seen, by the clock of the local console. */
  readonly atMs: number;
};

export interface ValueHistory {
  /** The value; empty if the index covers the whole table. */
  readonly value: string;
  readonly steps: readonly CountStep[];
}

/** A count grows at least by half each time, so no value has this many steps. */
const MOST_STEPS = 100;

/** How the counts of an index have changed since the start. The table of counts holds only the last counts of each value. */
export class CountHistory {
  private readonly histories = new Map<string, { version: number; steps: CountStep[] }>();
  private failure: string | undefined;

  constructor(
    private readonly counts: ShardCountReader,
    private readonly nowMs: () => number,
  ) {}

  /** Why the counts could not be read the last time; undefined if they were. */
  get problem(): string | undefined {
    return this.failure;
  }

  /** How many values have grown. */
  get size(): number {
    return this.histories.size;
  }

  /** The values whose counts have changed last, the last one first. */
  latest(most: number): ValueHistory[] {
    const histories = [...this.histories].slice(-most).reverse();
    return histories.map(([value, { steps }]) => ({ value, steps: [...steps] }));
  }

  /** Reads the present counts. */
  async look(): Promise<void> {
    try {
      for (const count of await this.counts.readCounts()) this.note(count);
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  private note({ value = '', version, write, read, changedBy, changedAt, reason }: GrownCount): void {
    const known = this.histories.get(value);
    if (known?.version === version) return;
    const steps = [
      ...(known?.steps ?? []),
      { atMs: Math.round(this.nowMs()), write, read, changedBy, changedAt, reason },
    ];
    this.histories.delete(value);
    this.histories.set(value, { version, steps: steps.slice(-MOST_STEPS) });
  }
}

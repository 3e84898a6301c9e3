import type { GrownCount } from '../../../lib/core/adaptive-counts/grown-count';
import type { ShardCountReader } from '../../../lib/core/adaptive-counts/shard-count-store';

/** The shard counts of a value after one change. */
type CountStep = Pick<GrownCount, 'write' | 'read' | 'changedBy' | 'changedAt' | 'reason'> & {
  /** When the local console first read these counts, in milliseconds of its own clock. */
  readonly atMs: number;
};

export interface ValueHistory {
  /** The value. Empty if the index covers the whole table. */
  readonly value: string;
  readonly steps: readonly CountStep[];
}

/**
 * The maximum number of steps that the history keeps for a value. Each step increases a count by at least half, so the
 * values of an app have fewer steps.
 */
const MAX_STEPS = 100;

/**
 * Records how the shard counts of an index have changed since the start. The table of counts holds only the latest
 * counts of each value.
 */
export class CountHistory {
  private readonly histories = new Map<string, { version: number; steps: CountStep[] }>();
  private failure: string | undefined;

  constructor(
    private readonly counts: ShardCountReader,
    private readonly nowMs: () => number,
  ) {}

  /** Why the latest read of the counts failed. Undefined if the read succeeded. */
  get problem(): string | undefined {
    return this.failure;
  }

  /** The number of values whose counts have grown. */
  get size(): number {
    return this.histories.size;
  }

  /** The values whose counts changed most recently, the latest change first. */
  latest(most: number): ValueHistory[] {
    const histories = [...this.histories].slice(-most).reverse();
    return histories.map(([value, { steps }]) => ({ value, steps: [...steps] }));
  }

  /** Reads the current counts and records the changes. */
  async poll(): Promise<void> {
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
    this.histories.set(value, { version, steps: steps.slice(-MAX_STEPS) });
  }
}

/**
 * What is followed of a row that was read, until it needs no relay any more: it is acknowledged, or parked. It holds no data,
 * because it stays as long as any row before it does.
 */
export interface ReadRow {
  readonly id: bigint;
  hasEnded: boolean;
}

/** Two snapshots, and the rows between them: those that the second sees and the first does not. */
export interface Batch {
  /** The text of a `pg_snapshot`. */
  readonly from: string;
  readonly to: string;
  /** The lowest number of the rows whose transaction began when `from` was taken, or later: where to begin to look for them. */
  readonly firstId: bigint;
}

/** How far a range of keys is relayed: all that `from` sees, and of what `to` sees besides, the rows up to `afterId`. */
export interface RangePosition {
  from: string;
  to?: string;
  afterId: bigint;
}

type Step = ReadRow | { readonly endOf: Batch } | { readonly beginOf: Batch };

/** Follows rows from when they are read, in order, to when they have ended, in any; knows behind which none is open. */
export class Progress {
  private readonly steps: Step[] = [];

  constructor(private position: RangePosition) {}

  /** Rows that were read and are not forgotten. */
  get length(): number {
    return this.steps.length;
  }

  begin(batch: Batch): void {
    this.steps.push({ beginOf: batch });
  }

  read(row: ReadRow): void {
    this.steps.push(row);
  }

  end(batch: Batch): void {
    this.steps.push({ endOf: batch });
  }

  /** The position behind which nothing is open. */
  reached(): RangePosition {
    let passed = 0;
    for (const step of this.steps) {
      if ('beginOf' in step) this.position = { ...this.position, to: step.beginOf.to };
      else if ('endOf' in step) this.position = { from: step.endOf.to, afterId: 0n };
      else if (step.hasEnded) this.position.afterId = step.id;
      else break;
      passed += 1;
    }
    this.steps.splice(0, passed);
    const { from, to, afterId } = this.position;
    // Of a batch of which no row has ended nothing need be known.
    return afterId === 0n ? { from, afterId } : { from, to, afterId };
  }
}

/**
 * What is followed of a row that was read, until it needs no relay any more: it is acknowledged, or parked. It holds no data,
 * because it stays as long as any row before it does.
 */
export interface ReadRow {
  readonly id: bigint;
  hasEnded: boolean;
}

/** The rows between two snapshots: those that the second sees and the first does not. */
export interface Span {
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

type Step = ReadRow | { readonly endOf: Span } | { readonly beginOf: Span };

/** Tracks rows that are read in order and end in any order. Its position is the last one before which every row has ended. */
export class Progress {
  private readonly steps: Step[] = [];

  constructor(private position: RangePosition) {}

  /** How many rows it tracks. */
  get length(): number {
    return this.steps.length;
  }

  begin(span: Span): void {
    this.steps.push({ beginOf: span });
  }

  read(row: ReadRow): void {
    this.steps.push(row);
  }

  end(span: Span): void {
    this.steps.push({ endOf: span });
  }

  /** The last position before which every row has ended. */
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
    // As long as no row of a span has ended, its second snapshot is not needed.
    return afterId === 0n ? { from, afterId } : { from, to, afterId };
  }
}

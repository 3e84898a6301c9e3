/**
 * The progress of a row that was read. A row has ended when it is acknowledged or parked. This object does not contain the data
 * of the row, because it stays in memory until all earlier rows have ended.
 */
export interface ReadRow {
  readonly id: bigint;
  hasEnded: boolean;
}

/** The rows between two snapshots: the rows that `to` sees and `from` does not see. */
export interface Span {
  /** The text of a `pg_snapshot`. */
  readonly from: string;
  readonly to: string;
  /**
   * The lowest number of the rows whose transaction began after the snapshot `from`. A read of these rows begins at this number.
   */
  readonly firstId: bigint;
}

/**
 * The position of a key range. All rows that `from` sees are relayed. Of the other rows that `to` sees, the rows up to `afterId`
 * are relayed.
 */
export interface RangePosition {
  from: string;
  to?: string;
  afterId: bigint;
}

type Step = ReadRow | { readonly endOf: Span } | { readonly beginOf: Span };

/**
 * Tracks rows that are read in order and end in any order. Its position is the last position before which every row has ended.
 */
export class Progress {
  private readonly steps: Step[] = [];

  constructor(private position: RangePosition) {}

  /** The number of tracked rows, plus the number of tracked beginnings and ends of spans. */
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
    return { ...this.position };
  }
}

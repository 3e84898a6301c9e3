/** A Query that passed or was refused. */
interface Read {
  /** By the clock of `performance.now()`. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly tableArn: string;
  readonly indexName?: string;
  /** The partition key that it read. */
  readonly key: string;
  readonly items: number;
  readonly units: number;
  readonly isThrottled: boolean;
}

/** How many reads are kept: more than one page of a query sends in a few rounds. */
const MOST_READS = 4_000;

/** The last reads, so that the local console can show the reads of a query. */
export class RecentReads {
  private readonly reads: Read[] = [];

  note(read: Read): void {
    if (this.reads.length >= 2 * MOST_READS) this.reads.splice(0, MOST_READS);
    this.reads.push(read);
  }

  /** The reads that began at this time or later, in the order in which they ended. */
  since(fromMs: number): readonly Read[] {
    return this.reads.filter((read) => read.fromMs >= fromMs);
  }
}

/** A Query request that passed the gate or was throttled. */
interface Read {
  /** The start of the request, by `performance.now()`. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly tableArn: string;
  readonly indexName?: string;
  /** The partition key of the request. */
  readonly key: string;
  readonly items: number;
  readonly units: number;
  readonly isThrottled: boolean;
}

/** The maximum number of stored reads. One page of a query needs fewer requests. */
const MOST_READS = 4_000;

/** Keeps the latest reads, so that the local console can show the requests of a query. */
export class RecentReads {
  private readonly reads: Read[] = [];

  note(read: Read): void {
    if (this.reads.length >= 2 * MOST_READS) this.reads.splice(0, MOST_READS);
    this.reads.push(read);
  }

  /** The reads that started at this time or later, in the order in which they ended. */
  since(fromMs: number): readonly Read[] {
    return this.reads.filter((read) => read.fromMs >= fromMs);
  }
}

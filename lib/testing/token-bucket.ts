/** Tokens that come steadily and gather for a second: full at first. What is taken beyond them is a debt, paid first. */
export class TokenBucket {
  private tokens: number;
  private filledAtMs: number;

  constructor(
    private readonly perSecond: number,
    private readonly nowMs: () => number,
  ) {
    this.tokens = perSecond;
    this.filledAtMs = nowMs();
  }

  get isFull(): boolean {
    this.fill();
    return this.tokens >= this.perSecond;
  }

  /** Whether so many can be taken now; of more than a second brings, whether it is full. */
  has(tokens: number): boolean {
    this.fill();
    return this.tokens >= Math.min(tokens, this.perSecond);
  }

  /** How full it is: 1 is full, 0 or less lets nothing through. */
  get level(): number {
    this.fill();
    return this.tokens / this.perSecond;
  }

  take(tokens: number): void {
    this.tokens -= tokens;
  }

  private fill(): void {
    const nowMs = this.nowMs();
    const gained = ((nowMs - this.filledAtMs) / 1_000) * this.perSecond;
    this.tokens = Math.min(this.perSecond, this.tokens + gained);
    this.filledAtMs = nowMs;
  }
}

/** More than these are kept only while they say something: a full bucket is like one that was never asked. */
const MOST_BUCKETS = 10_000;

/** A bucket for each of any number of names. */
export class TokenBuckets {
  private readonly buckets = new Map<string, TokenBucket>();
  private sweepAt = MOST_BUCKETS;

  constructor(private readonly nowMs: () => number) {}

  of(name: string, perSecond: number): TokenBucket {
    let bucket = this.buckets.get(name);
    if (bucket === undefined) {
      bucket = new TokenBucket(perSecond, this.nowMs);
      if (this.buckets.size >= this.sweepAt) this.sweep();
      this.buckets.set(name, bucket);
    }
    return bucket;
  }

  private sweep(): void {
    for (const [name, bucket] of this.buckets) if (bucket.isFull) this.buckets.delete(name);
    this.sweepAt = Math.max(MOST_BUCKETS, 2 * this.buckets.size);
  }
}

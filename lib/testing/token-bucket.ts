/**
 * A token bucket. The bucket starts full, refills steadily, and holds at most the tokens of one second. A caller can take more
 * tokens than the bucket holds. The level of the bucket is then negative until the bucket has refilled.
 */
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

  /** Whether a caller can take this number of tokens now. A full bucket allows any number of tokens. */
  has(tokens: number): boolean {
    this.fill();
    return this.tokens >= Math.min(tokens, this.perSecond);
  }

  /** The level of the bucket: 1 is full. At 0 or less, callers must wait until the bucket has refilled. */
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

/** Above this number of buckets, full buckets are deleted, because a full bucket is equal to a new bucket. */
const MIN_BUCKETS_TO_SWEEP = 10_000;

/** Token buckets by name, for any number of names. */
export class TokenBuckets {
  private readonly buckets = new Map<string, TokenBucket>();
  private sweepAt = MIN_BUCKETS_TO_SWEEP;

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
    this.sweepAt = Math.max(MIN_BUCKETS_TO_SWEEP, 2 * this.buckets.size);
  }
}

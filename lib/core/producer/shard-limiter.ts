/** What a shard takes, in records and bytes a second. Source: the Kinesis API reference, PutRecords. */
const RECORDS_PER_SECOND = 1_000;
const BYTES_PER_SECOND = 1_000_000;

/** What a throttle leaves of the share. */
const DECREASE = 0.85;

/** How fast the share grows at first, as a part of the shard's limit a second; the pace doubles every second. */
const PROBE_PER_SECOND = 0.01;

const MIN_SHARE = 0.01;

/**
 * How much one producer sends to one shard: a bucket of a second's records and bytes that fills at the producer's share
 * of the shard's limit.
 *
 * The share adapts to whoever else writes, as TCP's does: a throttle cuts it by a part, quiet lets it grow by steps
 * that are the same for everyone, so that producers that know nothing of each other come to equal shares. Steps grow
 * with the time since the last throttle, so that what others leave is taken up within seconds.
 */
export class ShardLimiter {
  private shareAfterThrottle = 1;
  private throttledAtMs = Number.NEGATIVE_INFINITY;
  private records = RECORDS_PER_SECOND;
  private bytes = BYTES_PER_SECOND;

  constructor(private filledAtMs: number) {}

  /** The part of the shard's limit that this producer takes for its own. */
  share(nowMs: number): number {
    const quietSeconds = (nowMs - this.throttledAtMs) / 1_000;
    return Math.min(1, this.shareAfterThrottle + (PROBE_PER_SECOND * (2 ** quietSeconds - 1)) / Math.LN2);
  }

  /** Whether a record of this size may go now. One larger than the bucket may when the bucket is full. */
  allows(bytes: number, nowMs: number): boolean {
    const share = this.fill(nowMs);
    return this.records >= 1 && this.bytes >= Math.min(bytes, share * BYTES_PER_SECOND);
  }

  /** What `allows` has found to be left, in bytes. */
  get bytesLeft(): number {
    return this.bytes;
  }

  /** Counts a record that goes. */
  spend(bytes: number): void {
    this.records -= 1;
    this.bytes -= bytes;
  }

  /** Hears that the shard throttled a record. One cut answers for all that was sent before it could show. */
  throttled(sentAtMs: number, nowMs: number): void {
    if (sentAtMs <= this.throttledAtMs) return;
    this.fill(nowMs);
    this.records = Math.min(0, this.records);
    this.bytes = Math.min(0, this.bytes);
    this.shareAfterThrottle = Math.max(MIN_SHARE, this.share(nowMs) * DECREASE);
    this.throttledAtMs = nowMs;
  }

  private fill(nowMs: number): number {
    const share = this.share(nowMs);
    const seconds = (nowMs - this.filledAtMs) / 1_000;
    this.records = Math.min(share, this.records / RECORDS_PER_SECOND + seconds * share) * RECORDS_PER_SECOND;
    this.bytes = Math.min(share, this.bytes / BYTES_PER_SECOND + seconds * share) * BYTES_PER_SECOND;
    this.filledAtMs = nowMs;
    return share;
  }
}

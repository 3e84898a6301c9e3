/** What a shard takes a second. */
export interface ShardLimits {
  recordsPerSecond: number;
  bytesPerSecond: number;
}

/** What a shard of the service takes a second. Source: the Kinesis API reference, PutRecords. */
export const SERVICE_SHARD_LIMITS: ShardLimits = { recordsPerSecond: 1_000, bytesPerSecond: 1_000_000 };

/**
 * What a shard takes: a bucket that holds a second's worth of records and of bytes and fills steadily. A record larger
 * than the bucket is taken when the bucket is full; the debt is paid before the next record.
 */
export class ShardTokenBucket {
  private records: number;
  private bytes: number;

  constructor(
    private readonly limits: ShardLimits,
    private filledAtMs: number,
  ) {
    this.records = limits.recordsPerSecond;
    this.bytes = limits.bytesPerSecond;
  }

  /** Whether the shard takes a record of this size now. */
  take(bytes: number, nowMs: number): boolean {
    this.fill(nowMs);
    if (this.records < 1 || this.bytes < Math.min(bytes, this.limits.bytesPerSecond)) return false;
    this.records -= 1;
    this.bytes -= bytes;
    return true;
  }

  private fill(nowMs: number): void {
    const seconds = (nowMs - this.filledAtMs) / 1_000;
    const { recordsPerSecond, bytesPerSecond } = this.limits;
    this.records = Math.min(recordsPerSecond, this.records + seconds * recordsPerSecond);
    this.bytes = Math.min(bytesPerSecond, this.bytes + seconds * bytesPerSecond);
    this.filledAtMs = nowMs;
  }
}

/** The records and bytes that a shard accepts in a second. */
export interface ShardLimits {
  recordsPerSecond: number;
  bytesPerSecond: number;
}

/** The limits of a real shard. Source: the Kinesis API reference, PutRecords. */
export const SERVICE_SHARD_LIMITS: ShardLimits = { recordsPerSecond: 1_000, bytesPerSecond: 1_000_000 };

/**
 * A token bucket for the records and bytes of a shard. The bucket holds the records and bytes of one second, and refills
 * steadily. If the bucket is full, it accepts a record that is larger than the bucket. Then it accepts no other record until it
 * has refilled the excess.
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

  /** Whether the shard accepts a record of this size now. If so, counts the record. */
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

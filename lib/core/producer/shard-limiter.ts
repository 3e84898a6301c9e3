/** The limits of a shard, in records and bytes per second. Source: the Kinesis API reference, PutRecords. */
const RECORDS_PER_SECOND = 1_000;
const BYTES_PER_SECOND = 1_000_000;

/** The factor by which a throttle decreases the share of a producer. */
const DECREASE = 0.85;

/** How fast the share grows directly after a cut, as a part of the shard's limit per second. The rate doubles every second. */
const PROBE_PER_SECOND = 0.01;

const MIN_SHARE = 0.01;

/**
 * While the share is below this part of the share before the latest cut, the limiter treats a throttle as random, and not as an
 * effect of load.
 */
const FAR_BELOW_CUT = 0.9;

/** The weight of the latest record in the learned rate of random throttles. */
const LAST_RECORD_WEIGHT = 1 / 256;

/**
 * The highest rate of random throttles that a producer tolerates if its share is the whole limit of the shard, as a part of its
 * records.
 */
const MAX_RANDOM_RATE = 0.05;

/** Random throttles come in bursts, so tolerate up to twice the learned rate, and up to five throttles in a burst. */
const TOLERANCE = 2;
const MAX_TOLERATED = 5;

/**
 * Limits how much one producer sends to one shard. It is a token bucket that holds the records and bytes of one second. The
 * bucket fills at the producer's share of the shard's limit.
 *
 * The share adapts to other producers, as the rate of TCP does. A throttle cuts the share: it decreases the share by a factor.
 * Time without throttles increases the share by steps that are the same for every producer. So independent producers reach
 * equal shares. The steps grow with the time since the last cut, so a producer uses free capacity within seconds.
 *
 * Some throttles are random: a shard can throttle a part of the records even at a low load. The limiter learns the rate of
 * random throttles while its share is far below the last cut, and then tolerates that rate. With a small share it tolerates
 * less, because throttles from the load of other producers look random.
 */
export class ShardLimiter {
  private lastCut?: { atMs: number; from: number; to: number };
  private isFarBelowCut = false;
  /** The learned rate of random throttles, as a part of the records. */
  private randomRate = 0;
  /** How many throttles to tolerate per record. */
  private toleranceRate = 0;
  /** How many throttles the limiter tolerates now. */
  private tolerated = 0;
  private records = RECORDS_PER_SECOND;
  private bytes = BYTES_PER_SECOND;

  constructor(private filledAtMs: number) {}

  /** The part of the shard's limit that this producer uses. */
  share(nowMs: number): number {
    if (this.lastCut === undefined) return 1;
    const { atMs, to } = this.lastCut;
    const quietSeconds = (nowMs - atMs) / 1_000;
    return Math.min(1, to + (PROBE_PER_SECOND * (2 ** quietSeconds - 1)) / Math.LN2);
  }

  /** Whether a record of this size may be sent now. A record that is larger than the bucket needs a full bucket. */
  allows(bytes: number, nowMs: number): boolean {
    const share = this.fill(nowMs);
    return this.records >= 1 && this.bytes >= Math.min(bytes, share * BYTES_PER_SECOND);
  }

  /** The bytes that the shard accepted at the time of the most recent call of `allows`, minus the bytes that were sent since. */
  get bytesLeft(): number {
    return this.bytes;
  }

  spend(bytes: number): void {
    this.records -= 1;
    this.bytes -= bytes;
    if (this.isFarBelowCut) this.randomRate *= 1 - LAST_RECORD_WEIGHT;
    this.tolerated = Math.min(MAX_TOLERATED, this.tolerated + this.toleranceRate);
  }

  /** Handles a throttle by the shard. A throttle of a record that was sent before the last cut causes no further cut. */
  throttled(sentAtMs: number, nowMs: number): void {
    if (this.lastCut !== undefined && sentAtMs <= this.lastCut.atMs) return;
    const share = this.fill(nowMs);
    if (this.isFarBelowCut) this.randomRate += LAST_RECORD_WEIGHT;
    if (this.tolerated >= 1) this.tolerated -= 1;
    else this.cut(share, nowMs);
  }

  private cut(share: number, nowMs: number): void {
    this.records = Math.min(0, this.records);
    this.bytes = Math.min(0, this.bytes);
    this.lastCut = { atMs: nowMs, from: share, to: Math.max(MIN_SHARE, share * DECREASE) };
  }

  private fill(nowMs: number): number {
    const share = this.share(nowMs);
    const seconds = (nowMs - this.filledAtMs) / 1_000;
    this.records = Math.min(share, this.records / RECORDS_PER_SECOND + seconds * share) * RECORDS_PER_SECOND;
    this.bytes = Math.min(share, this.bytes / BYTES_PER_SECOND + seconds * share) * BYTES_PER_SECOND;
    this.filledAtMs = nowMs;
    this.isFarBelowCut = this.lastCut !== undefined && share < FAR_BELOW_CUT * this.lastCut.from;
    this.toleranceRate = TOLERANCE * Math.min(this.randomRate, MAX_RANDOM_RATE * Math.sqrt(share));
    return share;
  }
}

/** What a shard takes, in records and bytes a second. Source: the Kinesis API reference, PutRecords. */
const RECORDS_PER_SECOND = 1_000;
const BYTES_PER_SECOND = 1_000_000;

/** What a cut leaves of the share. */
const DECREASE = 0.85;

/** How fast the share grows at first, as a part of the shard's limit a second; the pace doubles every second. */
const PROBE_PER_SECOND = 0.01;

const MIN_SHARE = 0.01;

/** Below this part of the share that was cut, the load that led to the cut is gone: what is throttled there is so by chance. */
const CLEARLY_BELOW_CUT = 0.9;

/** Of how much weight the last record is in the part that is throttled by chance. */
const LAST_RECORD = 1 / 256;

/** The most that passes for chance, as a part of the records of a producer that has the shard for itself. */
const MOST_BY_CHANCE = 0.05;

/** Chance has its runs: so many times its part are let pass, and so many throttles at once. */
const LENIENCY = 2;
const MOST_AT_ONCE = 5;

/**
 * How much one producer sends to one shard: a bucket of a second's records and bytes that fills at the producer's share
 * of the shard's limit.
 *
 * The share adapts to whoever else writes, as TCP's does: a throttle cuts it by a part, quiet lets it grow by steps
 * that are the same for everyone, so that producers that know nothing of each other come to equal shares. Steps grow
 * with the time since the last cut, so that what others leave is taken up within seconds.
 *
 * Some throttles say nothing of the load: a shard can throttle a part of the records however few come. The limiter learns
 * that part from the throttles that come although a cut has just made room, and lets as many pass. With a small share it
 * lets few pass: then others write, too, and what their load throttles looks like chance.
 */
export class ShardLimiter {
  /** The last cut of the share, if there was one. */
  private lastCut?: { atMs: number; from: number; to: number };
  private isClearlyBelowCut = false;
  /** The part of the records that is throttled by chance, as far as known. */
  private byChance = 0;
  /** How many throttles pass for each record. */
  private leniency = 0;
  /** How many throttles pass now. */
  private passes = 0;
  private records = RECORDS_PER_SECOND;
  private bytes = BYTES_PER_SECOND;

  constructor(private filledAtMs: number) {}

  /** The part of the shard's limit that this producer takes for its own. */
  share(nowMs: number): number {
    if (this.lastCut === undefined) return 1;
    const { atMs, to } = this.lastCut;
    const quietSeconds = (nowMs - atMs) / 1_000;
    return Math.min(1, to + (PROBE_PER_SECOND * (2 ** quietSeconds - 1)) / Math.LN2);
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
    if (this.isClearlyBelowCut) this.byChance *= 1 - LAST_RECORD;
    this.passes = Math.min(MOST_AT_ONCE, this.passes + this.leniency);
  }

  /** Hears that the shard throttled a record. One cut answers for all that was sent before it could show. */
  throttled(sentAtMs: number, nowMs: number): void {
    if (this.lastCut !== undefined && sentAtMs <= this.lastCut.atMs) return;
    const share = this.fill(nowMs);
    if (this.isClearlyBelowCut) this.byChance += LAST_RECORD;
    if (this.passes >= 1) this.passes -= 1;
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
    this.isClearlyBelowCut = this.lastCut !== undefined && share < CLEARLY_BELOW_CUT * this.lastCut.from;
    this.leniency = LENIENCY * Math.min(this.byChance, MOST_BY_CHANCE * Math.sqrt(share));
    return share;
  }
}

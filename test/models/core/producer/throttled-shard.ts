import { ShardLimiter } from '../../../../lib/core/producer/shard-limiter';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { SERVICE_SHARD_LIMITS, ShardTokenBucket } from '../../../../lib/testing/shard-token-bucket';

/** The producers that write to one shard, and how the shard throttles. */
interface ThrottledShard {
  readonly producers: number;
  /** The share of records that the shard throttles at random, at any load. */
  readonly byChance: number;
  /**
   * The capacity that these producers can use, as a share of the limits of a shard. Other writers use the remaining
   * capacity.
   */
  readonly capacity: number;
  readonly seed: number;
  /**
   * The time at which a new shard replaces the shard. The producers do not know the free capacity of the new shard.
   * @default never
   */
  readonly reshardAtMs?: number;
}

/**
 * The measured throughput. The measurement leaves out the first 15 seconds after the start and after a reshard, when
 * producers send the load of a whole shard.
 */
interface Throughput {
  /** The stored records, as a share of the capacity of the shard. */
  readonly stored: number;
  /** The throttled records, as a share of the sent records. */
  readonly throttled: number;
  /** The largest number of stored records of one producer, divided by the smallest number of stored records of one producer. */
  readonly mostOverLeast: number;
}

const RECORD_BYTES = 100;
const SETTLING_MS = 15_000;
const END_MS = 60_000;
/** The pause of a producer before it sends more records to a throttled shard. */
const PACE_MS = 20;
/** Together, the producers have this many times the records that the shard accepts. */
const LOAD = 2;

/** Simulates the limiters of producers that write to one shard at full speed. */
export function throughputOf({ producers, byChance, capacity, seed, reshardAtMs }: ThrottledShard): Throughput {
  const random = seededRandom(seed);
  const limits = {
    recordsPerSecond: capacity * SERVICE_SHARD_LIMITS.recordsPerSecond,
    bytesPerSecond: capacity * SERVICE_SHARD_LIMITS.bytesPerSecond,
  };
  const perMs = limits.recordsPerSecond / 1_000;
  let shard = new ShardTokenBucket(limits, 0);
  const writers = Array.from({ length: producers }, () => ({
    limiter: new ShardLimiter(0),
    nextAtMs: PACE_MS * random(),
    waiting: 0,
    stored: 0,
  }));
  let [stored, throttled, countedMs, settledAtMs] = [0, 0, 0, SETTLING_MS];
  let responses: { atMs: number; receive(nowMs: number): void }[] = [];
  for (let nowMs = 0; nowMs < END_MS; nowMs++) {
    if (nowMs === reshardAtMs) {
      shard = new ShardTokenBucket(limits, nowMs);
      for (const writer of writers) writer.limiter = new ShardLimiter(nowMs);
      settledAtMs = nowMs + SETTLING_MS;
    }
    if (nowMs >= settledAtMs) countedMs += 1;
    for (const response of responses) if (response.atMs <= nowMs) response.receive(nowMs);
    responses = responses.filter(({ atMs }) => atMs > nowMs);
    for (const writer of writers) {
      writer.waiting += (LOAD * perMs) / producers;
      if (nowMs < writer.nextAtMs) continue;
      writer.nextAtMs = nowMs + PACE_MS * (0.5 + random());
      const { limiter } = writer;
      let [accepted, rejected] = [0, 0];
      while (writer.waiting >= 1 && limiter.allows(RECORD_BYTES, nowMs)) {
        limiter.spend(RECORD_BYTES);
        writer.waiting -= 1;
        if (random() < byChance || !shard.take(RECORD_BYTES, nowMs)) rejected += 1;
        else accepted += 1;
      }
      const receive = (receivedAtMs: number): void => {
        for (let each = 0; each < rejected; each++) limiter.throttled(nowMs, receivedAtMs);
      };
      responses.push({ atMs: nowMs + 10 + 20 * random(), receive });
      if (nowMs < settledAtMs) continue;
      writer.stored += accepted;
      stored += accepted;
      throttled += rejected;
    }
  }
  const each = writers.map((writer) => writer.stored);
  return {
    stored: stored / (countedMs * perMs),
    throttled: throttled / (stored + throttled),
    mostOverLeast: Math.max(...each) / Math.max(1, Math.min(...each)),
  };
}

import { ShardLimiter } from '../../../../lib/core/producer/shard-limiter';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { SERVICE_SHARD_LIMITS, ShardTokenBucket } from '../../../../lib/testing/shard-token-bucket';
import { writeGuideTable } from '../../guide-table';
import { rounded } from './table';

/** Who writes to one shard, and what it throttles. */
interface ThrottledShard {
  readonly producers: number;
  /** The part of the records that it throttles however few come. */
  readonly byChance: number;
  /** What it takes, as a part of the limits of a shard: other writers have the rest. */
  readonly capacity: number;
  readonly seed: number;
  /** When the shard is replaced by a new one, which no producer knows. @default never */
  readonly reshardAtMs?: number;
}

/** What came of it, without the seconds after the begin and after a reshard, when the producers send what a whole shard takes. */
interface Throughput {
  /** What was stored, as a part of what the shard takes. */
  readonly stored: number;
  /** What was throttled, as a part of what was sent. */
  readonly throttled: number;
  /** What the producer with the most has stored, as a multiple of what the one with the least has. */
  readonly mostOverLeast: number;
}

const RECORD_BYTES = 100;
const SETTLING_MS = 15_000;
const END_MS = 60_000;
/** A producer sends again to a shard that has had its share after about so long. */
const PACE_MS = 20;
/** Together, producers have twice as many records as the shard takes. */
const LOAD = 2;

/** The limiters of producers that always have records for one shard, in simulated time. */
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
  let answers: { atMs: number; hear(nowMs: number): void }[] = [];
  for (let nowMs = 0; nowMs < END_MS; nowMs++) {
    if (nowMs === reshardAtMs) {
      shard = new ShardTokenBucket(limits, nowMs);
      for (const writer of writers) writer.limiter = new ShardLimiter(nowMs);
      settledAtMs = nowMs + SETTLING_MS;
    }
    if (nowMs >= settledAtMs) countedMs += 1;
    for (const answer of answers) if (answer.atMs <= nowMs) answer.hear(nowMs);
    answers = answers.filter(({ atMs }) => atMs > nowMs);
    for (const writer of writers) {
      writer.waiting += (LOAD * perMs) / producers;
      if (nowMs < writer.nextAtMs) continue;
      writer.nextAtMs = nowMs + PACE_MS * (0.5 + random());
      const { limiter } = writer;
      let [taken, refused] = [0, 0];
      while (writer.waiting >= 1 && limiter.allows(RECORD_BYTES, nowMs)) {
        limiter.spend(RECORD_BYTES);
        writer.waiting -= 1;
        if (random() < byChance || !shard.take(RECORD_BYTES, nowMs)) refused += 1;
        else taken += 1;
      }
      const hear = (heardAtMs: number): void => {
        for (let each = 0; each < refused; each++) limiter.throttled(nowMs, heardAtMs);
      };
      answers.push({ atMs: nowMs + 10 + 20 * random(), hear });
      if (nowMs < settledAtMs) continue;
      writer.stored += taken;
      stored += taken;
      throttled += refused;
    }
  }
  const each = writers.map((writer) => writer.stored);
  return {
    stored: stored / (countedMs * perMs),
    throttled: throttled / (stored + throttled),
    mostOverLeast: Math.max(...each) / Math.max(1, Math.min(...each)),
  };
}

const BY_CHANCE = [0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1];
const SEEDS = [1, 2, 3];
const WRITERS: readonly [string, number, number][] = [
  ['1', 1, 1],
  ['1, and others that use half', 1, 0.5],
  ['2', 2, 1],
  ['5', 5, 1],
  ['5, and others that use half', 5, 0.5],
  ['20', 20, 1],
];
const HEADER = ['producers', ...BY_CHANCE.map((part) => `${rounded(100 * part, 1)} %`)];

export async function benchByChance(): Promise<void> {
  console.log('one shard that throttles a part of the records by chance: stored, of what it takes / throttled\n');
  writeGuideTable(
    'docs/decisions/0015-producers-share-a-shard-without-coordination.md',
    'npm run bench producer by-chance',
    HEADER,
    byChanceRows(),
  );
}

export function byChanceRows(): string[][] {
  const percent = (part: number): string => `${rounded(100 * part, 1)} %`;
  return WRITERS.map(([name, producers, capacity]) => [
    name,
    ...BY_CHANCE.map((byChance) => {
      const runs = SEEDS.map((seed) => throughputOf({ producers, byChance, capacity, seed }));
      const mean = (of: 'stored' | 'throttled') => runs.reduce((sum, run) => sum + run[of], 0) / runs.length;
      return `${percent(mean('stored'))} / ${percent(mean('throttled'))}`;
    }),
  ]);
}

import { hashPartitionKey } from '../../../lib/core/stream-format/hash-key-space';
import { seededRandom } from '../../../lib/testing/seeded-random';

/** Source: the DynamoDB developer guide. A partition has 1,000 write units per second. */
const PARTITION_UNITS = 1_000;

/** The time after which a throttled partition is split. This is an assumption, because AWS documents no time. */
const SPLIT_AFTER_MINUTES = 5;

/** The maximum number of attempts that a writer makes for one write, all within one second. */
const ATTEMPTS = 3;

const HASH_SPACE = 2 ** 128;

export interface HeatedIndexOptions {
  /** The number of partitions at the start. In a table, this is the number of warm write units divided by 1,000. */
  partitions: number;
  /** The seed for the placement of keys and for the noise. */
  seed: number;
}

/** The write units per second of one value, and the shard counts that its writers use. */
export interface ValueLoad {
  readonly value: string;
  readonly units: number;
  /** For each group of writers: its part of all writers, and the shard count that its writers use. The sum of the parts is 1. */
  readonly writers: readonly { readonly part: number; readonly shards: number }[];
}

/** The results of the writes of one value, in write units. */
export interface Outcome {
  wanted: number;
  /** The writes that were throttled at least once. */
  throttled: number;
  /** The writes that were admitted at one of their attempts. */
  accepted: number;
  /** The throttled attempts, as metrics count them. */
  refusedAttempts: number;
}

interface Partition {
  readonly start: number;
  /** The unused units of earlier seconds: at most the units of one second. */
  saved: number;
  savedAt: number;
  refused: boolean;
  hotMinutes: number;
  /** The units that writers needed for each key in this minute. */
  readonly heat: Map<number, number>;
  /** The units that writers need in this second. */
  wanted: { readonly outcome: Outcome; readonly units: number }[];
}

/**
 * Simulates the writes to an index, second by second. The hash of a key determines its partition. A partition admits
 * 1,000 write units per second, and a writer makes three attempts within the second. A partition that was throttled for
 * five minutes is split into two partitions of equal load, but the items of one partition key stay together. This is
 * the worst case: DynamoDB does not split the items of a partition key if new sort keys are always larger.
 */
export class HeatedIndex {
  private partitions: Partition[];
  private readonly places = new Map<string, number[]>();
  private readonly random: () => number;
  private readonly seed: number;
  private seconds = 0;

  constructor({ partitions, seed }: HeatedIndexOptions) {
    this.partitions = Array.from({ length: partitions }, (_, number) => newPartition(number / partitions));
    this.seed = seed;
    this.random = seededRandom(seed);
  }

  /** Simulates one second of writes. The outcomes have the order of the loads. */
  second(loads: readonly ValueLoad[]): Outcome[] {
    const written = new Set<Partition>();
    const outcomes = loads.map(({ value, units, writers }) => {
      const outcome = noWrites();
      for (const [shard, mean] of unitsByShard(units, writers).entries()) {
        const place = this.placeOf(value, shard);
        const partition = this.partitionAt(place);
        const each = this.aboutSoMany(mean);
        written.add(partition);
        partition.wanted.push({ outcome, units: each });
        partition.heat.set(place, (partition.heat.get(place) ?? 0) + each);
      }
      return outcome;
    });
    for (const partition of written) write(partition, this.seconds);
    this.seconds += 1;
    return outcomes;
  }

  /** Splits hot partitions at the end of a minute. */
  endMinute(): void {
    this.partitions = this.partitions.flatMap((partition) => {
      partition.hotMinutes = partition.refused ? partition.hotMinutes + 1 : 0;
      const parts = partition.hotMinutes >= SPLIT_AFTER_MINUTES ? split(partition) : [partition];
      partition.refused = false;
      partition.heat.clear();
      return parts;
    });
  }

  private placeOf(value: string, shard: number): number {
    let places = this.places.get(value);
    if (places === undefined) {
      places = [];
      this.places.set(value, places);
    }
    places[shard] ??= Number(hashPartitionKey(`${this.seed} ${value}#${shard}`)) / HASH_SPACE;
    return places[shard];
  }

  private partitionAt(place: number): Partition {
    let [low, high] = [0, this.partitions.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.partitions[middle]!.start <= place) low = middle;
      else high = middle - 1;
    }
    return this.partitions[low]!;
  }

  /**
   * Draws the number of writes in one second. Writes are independent of each other, so the standard deviation of this
   * number is the square root of the mean.
   */
  private aboutSoMany(mean: number): number {
    if (mean === 0) return 0;
    const normal = Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random());
    return Math.max(0, mean + normal * Math.sqrt(mean));
  }
}

export function noWrites(): Outcome {
  return { wanted: 0, throttled: 0, accepted: 0, refusedAttempts: 0 };
}

function newPartition(start: number): Partition {
  return { start, saved: PARTITION_UNITS, savedAt: -1, refused: false, hotMinutes: 0, heat: new Map(), wanted: [] };
}

function unitsByShard(units: number, writers: ValueLoad['writers']): number[] {
  if (writers.length === 1 && writers[0]!.shards === 1) return [units];
  const most = Math.max(...writers.map(({ shards }) => shards));
  return Array.from({ length: most }, (_, shard) =>
    writers.reduce((sum, { part, shards }) => sum + (shard < shards ? (units * part) / shards : 0), 0),
  );
}

function write(partition: Partition, second: number): void {
  const total = partition.wanted.reduce((sum, { units }) => sum + units, 0);
  const saved = partition.savedAt === second - 1 ? partition.saved : PARTITION_UNITS;
  const available = saved + PARTITION_UNITS;
  const accepted = Math.min(total, available);
  partition.saved = Math.min(PARTITION_UNITS, available - accepted);
  partition.savedAt = second;
  // If each attempt is throttled with probability p, the admitted part of the writes is 1 - p^3.
  const p = total === 0 ? 0 : (1 - accepted / total) ** (1 / ATTEMPTS);
  if (p > 0) partition.refused = true;
  for (const { outcome, units } of partition.wanted) {
    outcome.wanted += units;
    outcome.throttled += units * p;
    outcome.accepted += units * (1 - p ** ATTEMPTS);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) outcome.refusedAttempts += units * p ** attempt;
  }
  partition.wanted = [];
}

/**
 * Splits a partition at the boundary between two keys that divides the load most evenly. Does not split a partition
 * with only one key.
 */
function split(partition: Partition): Partition[] {
  const keys = [...partition.heat].sort(([a], [b]) => a - b);
  const total = keys.reduce((sum, [, heat]) => sum + heat, 0);
  let best = { place: partition.start, hotter: total };
  let before = 0;
  for (const [index, [place, heat]] of keys.slice(0, -1).entries()) {
    before += heat;
    const hotter = Math.max(before, total - before);
    if (hotter < best.hotter) best = { place: (place + keys[index + 1]![0]) / 2, hotter };
  }
  if (best.hotter === total) return [partition];
  return [newPartition(partition.start), newPartition(best.place)];
}

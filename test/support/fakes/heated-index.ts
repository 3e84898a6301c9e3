import { hashPartitionKey } from '../../../lib/core/stream-format/hash-key-space';
import { seededRandom } from '../../../lib/testing/seeded-random';

/** Source: the DynamoDB developer guide: a partition takes 1,000 write units a second. */
const PARTITION_UNITS = 1_000;

/** A partition that has refused writes for so long is split: an assumption, for AWS documents no time. */
const SPLIT_AFTER_MINUTES = 5;

/** The attempts that a writer makes for one write, within a second. */
const ATTEMPTS = 3;

const HASH_SPACE = 2 ** 128;

export interface HeatedIndexOptions {
  /** How many partitions the index has at first: its warm write units divided by 1,000. */
  partitions: number;
  /** Sets the placement of keys and the noise. */
  seed: number;
}

/** What one value wants to write in a second, and over how many shards its writers spread it. */
export interface ValueLoad {
  readonly value: string;
  readonly units: number;
  /** Each part of the writers with the count that it knows. The parts add up to 1. */
  readonly writers: readonly { readonly part: number; readonly shards: number }[];
}

/** What happened to the writes of one value, in write units. */
export interface Outcome {
  wanted: number;
  /** What was refused at least once. */
  throttled: number;
  /** What was accepted at last. */
  accepted: number;
  /** The attempts that were refused, as metrics count them. */
  refusedAttempts: number;
}

interface Partition {
  readonly start: number;
  /** What earlier seconds have left, of at most one second, at the end of a second. */
  saved: number;
  savedAt: number;
  refused: boolean;
  hotMinutes: number;
  /** The units that each key has wanted in this minute. */
  readonly heat: Map<number, number>;
  /** Those of this second. */
  wanted: { readonly outcome: Outcome; readonly units: number }[];
}

/**
 * The write side of an index, second by second: keys lie on partitions by their hash, a partition takes 1,000 write units a
 * second, and what it refuses is tried again at once, three times in all. A partition that has refused for five minutes is
 * split where that halves its heat, but never within a key: so DynamoDB treats sort keys that only grow, which is the worst
 * case.
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

  /** A second of writes. The outcomes are in the order of the loads. */
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

  /** At the end of a minute: splits what has been hot for long. */
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

  /** Writes come independently of each other: about so many in a second, give or take the root. */
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
  // Of the writes, 1 - p^3 get in if each attempt is refused with probability p.
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

/** Between the two keys where both parts have the most equal heat; not at all if there is but one key. */
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

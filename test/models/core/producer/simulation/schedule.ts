import { bucketHashKey, type OrderedProducerOptions, type ProducerRecord } from '../../../../../lib/core';
import type {
  EntryFate,
  FakeKinesisOptions,
  MalformedAnswer,
  RequestFate,
} from '../../../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../../../lib/testing/seeded-random';

/** How the producer receives the records. */
type Feed = 'put at once' | 'put over time' | 'putAll' | 'putAll of an async source';

/** All events of one run of the simulation. They depend only on the seed. */
export interface Schedule {
  readonly seed: number;
  readonly records: readonly ProducerRecord[];
  readonly feed: Feed;
  readonly options: Omit<OrderedProducerOptions, 'clock' | 'signal'>;
  readonly stream: Omit<FakeKinesisOptions, 'clock'>;
  /** The times and kinds of reshards. */
  readonly reshards: readonly { atMs: number; kind: 'split' | 'merge' | 'update'; pick: number }[];
  readonly abortAtMs: number | undefined;
  readonly closeAtMs: number | undefined;
  /** The times of the calls of `flush`, and whether a call is for one key. */
  readonly flushes: readonly { atMs: number; ofOneKey: boolean }[];
  /** The order in which a consumer reads shards that it can read in parallel. */
  readonly readNext: () => number;
  /** Returns the milliseconds between two records, if the caller puts the records over time. */
  gapMs(): number;
}

export function scheduleOf(seed: number): Schedule {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1));
  const choice = new Choice(random);
  const recordOf = placementOf(choice);
  const sizes = choice.of<[number, number]>([1, 20], [1, 20], [1, 400], [300, 3_000]);
  const records = Array.from({ length: choice.whole(1, 40) }, (_, index) => ({
    ...recordOf(),
    data: Buffer.from(String(index).padEnd(choice.whole(...sizes))),
  }));
  const pace = choice.of(0, 5, 50);
  return {
    seed,
    records,
    feed: choice.of<Feed>('put at once', 'put over time', 'putAll', 'putAll of an async source'),
    options: optionsOf(choice, random),
    stream: streamOf(choice, random),
    reshards: Array.from({ length: choice.of(0, 0, 0, 1, 3) }, () => ({
      atMs: choice.whole(0, 500),
      kind: choice.of('split', 'merge', 'update'),
      pick: choice.whole(0, 1_000),
    })),
    readNext: random,
    abortAtMs: choice.chance(0.15) ? choice.whole(0, 1_000) : undefined,
    gapMs: () => random() * pace,
    closeAtMs: choice.chance(0.1) ? choice.whole(0, 1_000) : undefined,
    flushes: Array.from({ length: choice.of(0, 0, 1, 3) }, () => ({
      atMs: choice.whole(0, 500),
      ofOneKey: choice.chance(0.5),
    })),
  };
}

/**
 * Draws the key of a record, and optionally an explicit hash key. With mixed placements, the records of one key have several hash
 * keys: the hash of the key, and explicit hash keys. One explicit hash key is the centre of a bucket.
 */
function placementOf(choice: Choice): () => Omit<ProducerRecord, 'data'> {
  const explicit = choice.of('no', 'no', 'yes', 'some', 'mixed');
  const anyHashKey = (): bigint => (BigInt(choice.whole(0, 2 ** 32 - 1)) << 96n) + 7n;
  const keys = Array.from({ length: choice.whole(1, 6) }, (_, key) => {
    const partitionKey = choice.of('key', 'klé', '鍵') + key;
    return {
      partitionKey,
      ...((explicit === 'yes' || (explicit === 'some' && key % 2 === 0)) && { explicitHashKey: anyHashKey() }),
    };
  });
  if (explicit !== 'mixed') return () => choice.of(...keys);
  const hashKeys = [anyHashKey(), anyHashKey(), bucketHashKey(keys[0]!.partitionKey, 2), undefined, undefined];
  return () => {
    const explicitHashKey = choice.of(...hashKeys);
    return { ...choice.of(...keys), ...(explicitHashKey !== undefined && { explicitHashKey }) };
  };
}

function optionsOf(choice: Choice, random: () => number): Schedule['options'] {
  const aggregation = choice.of<Schedule['options']['aggregation']>(false, 'per-key', 'packed', 'packed');
  const isPacked = aggregation === 'packed';
  const lingerMs = isPacked ? choice.of(0, 3, 100) : undefined;
  return {
    streamName: 'Events',
    aggregation,
    // Few buckets, so that several keys have the same bucket.
    hashBuckets: choice.of(undefined, 2, 4, 64),
    lingerMs,
    maxAggregateBytes: choice.of(200, 1_000, 51_200),
    sequence: choice.chance(0.5),
    sequentialPuts: !isPacked && choice.chance(0.1),
    skipRejected: choice.chance(0.3),
    maxRecordAgeMs: choice.chance(0.15) ? choice.whole((lingerMs ?? 0) + 1, 2_000) : undefined,
    requestTimeoutMs: choice.of(10_000, 10_000, 500, 30),
    maxRequestsInFlight: choice.whole(1, 4),
    maxBufferedRecords: choice.of(1, 3, 20, 1_000),
    maxBufferedBytes: choice.of(1, 1_000, 100_000),
    maxAttempts: choice.of(1, 2, 4, 20),
    backoffBaseMs: choice.of(0, 50),
    backoffCapMs: choice.of(100, 5_000),
    random,
  };
}

const MALFORMED_ANSWERS: MalformedAnswer[] = [
  'nothing',
  'no results',
  'too few results',
  'too many results',
  'null results',
  'empty results',
  'no sequence number',
  'no shard id',
];

function streamOf(choice: Choice, random: () => number): Schedule['stream'] {
  const [throttled, failed, refused] = [choice.of(0, 0.1, 0.5), choice.of(0, 0.1), choice.of(0, 0, 0.03)];
  const [requestFailed, denied] = [choice.of(0, 0.1, 0.3), choice.of(0, 0, 0, 0.05)];
  const [answerLost, appliedLate] = [choice.of(0, 0.2), choice.of(0, 0, 0.2)];
  const [silent, swallowed, malformed] = [choice.of(0, 0, 0.1), choice.of(0, 0, 0.1), choice.of(0, 0, 0.2)];
  const latestMs = choice.of(10, 100, 3_000);
  const unread = choice.of(0, 0.5);
  const unreadFate = choice.of('failed', 'silent');
  return {
    shardCount: choice.whole(1, 4),
    shardLimits: choice.of(undefined, { recordsPerSecond: choice.whole(5, 60), bytesPerSecond: 5_000 }),
    reshardStepMs: choice.of(1, 100),
    parentsTakeMs: choice.of(0, 0, 30, 1_000),
    listShardsAgeMs: choice.of(
      () => 0,
      () => random() * 2_000,
    ),
    roundTripMs: roundTripsOf(choice, random),
    failsWithIt: choice.of('nothing', 'rest of the shard'),
    entryFate: () =>
      pick<EntryFate>(random(), [refused, 'refused'], [failed, 'failed'], [throttled, 'throttled'], 'stored'),
    requestFate: () =>
      pick<RequestFate>(
        random(),
        [denied, 'denied'],
        [requestFailed, 'failed'],
        [answerLost, 'answer lost'],
        [appliedLate, { appliedLateByMs: random() * latestMs }],
        [silent, 'silent'],
        [swallowed, 'swallowed'],
        [malformed, { malformed: choice.of(...MALFORMED_ANSWERS) }],
        'answered',
      ),
    callFate: () => (random() < unread ? unreadFate : 'answered'),
  };
}

function roundTripsOf(choice: Choice, random: () => number): () => number {
  return choice.of(
    () => 0,
    () => 20,
    () => 1 + random() * 59,
    // A log-normal distribution: half of the requests take less than 20 ms, and a few take many times longer.
    () => 20 * Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())),
  );
}

/** Returns a random outcome. `roll` is a random number from 0 to 1. The last outcome has the remaining probability. */
function pick<T>(roll: number, ...outcomes: [...[number, T][], T]): T {
  let covered = 0;
  const otherwise = outcomes.at(-1) as T;
  for (const [probability, outcome] of outcomes.slice(0, -1) as [number, T][]) {
    covered += probability;
    if (roll < covered) return outcome;
  }
  return otherwise;
}

/** Random choices. */
class Choice {
  constructor(private readonly random: () => number) {}

  of<T>(...options: T[]): T {
    return options[Math.floor(this.random() * options.length)]!;
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }
}

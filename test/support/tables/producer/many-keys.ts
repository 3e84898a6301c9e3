import { OrderedProducer, type ProducerRecord } from '../../../../lib/core';
import { FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { SERVICE_SHARD_LIMITS } from '../../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { between } from '../../fakes/round-trip-times';
import { writeGuideTable } from '../../guide-table';
import { unorderedBatches } from './baselines';
import { rounded } from './table';

const SHARDS = 64;
const RECORDS = 250_000;
/** With this many records, the initial token buckets of the shards become empty early in the run. */
const AGGREGATED_RECORDS = 1_000_000;

const KEY_BYTES = 10;
const DATA = Buffer.alloc(100 - KEY_BYTES);
/** The bytes of a record in an aggregate: its data and 6 bytes of the format. All records of an aggregate share the key. */
const AGGREGATED_BYTES = DATA.length + 6;

interface ManyKeys {
  roundTripMs: number;
  keys: number;
  /** The skew of the keys: 0 for uniform keys, or the exponent of Zipf's law. */
  exponent: number;
}

export const MANY_KEYS: readonly ManyKeys[] = [5, 20].flatMap((roundTripMs) =>
  [500, 10_000].flatMap((keys) => [0, 1.1].map((exponent) => ({ roundTripMs, keys, exponent }))),
);

const HEADER = [
  'round trip, keys',
  'unordered',
  'ordered',
  'ordered / unordered',
  'ordered / capacity',
  'aggregated',
  'aggregated / unordered',
  'aggregated / capacity',
];

/**
 * The throughput of many keys over 64 shards with the limits of Kinesis, in records per second of virtual time. The row
 * compares the producer with a loop that sends batches and does not keep the order, and with the capacity of the
 * shards. The hottest shard limits this capacity.
 */
export async function benchManyKeys(): Promise<void> {
  console.log(`${RECORDS} records of 100 bytes, ${SHARDS} shards with service limits, round trips ± 20 %\n`);
  const rows: string[][] = [];
  for (const each of MANY_KEYS) rows.push(await manyKeysRow(each));
  writeGuideTable(
    'docs/decisions/0002-one-batch-entry-in-flight-per-partition-key.md',
    'npm run bench producer many-keys',
    HEADER,
    rows,
  );
}

export function manyKeysRow({ roundTripMs, keys, exponent }: ManyKeys): Promise<string[]> {
  const name = `${roundTripMs} ms, ${rounded(keys)} keys, ${exponent === 0 ? 'uniform' : `Zipf ${exponent}`}`;
  return compare(name, recordsOf(keys, exponent, AGGREGATED_RECORDS), roundTripMs);
}

type Approach = (kinesis: FakeKinesis, records: readonly ProducerRecord[], clock: VirtualClock) => Promise<unknown>;

const ours =
  (aggregation: boolean): Approach =>
  (kinesis, records, clock) =>
    new OrderedProducer(kinesis, { streamName: 'Events', clock, aggregation }).putAll(records);

async function perSecond(approach: Approach, records: readonly ProducerRecord[], roundTripMs: number): Promise<number> {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({
    clock,
    shardCount: SHARDS,
    shardLimits: SERVICE_SHARD_LIMITS,
    roundTripMs: between(0.8 * roundTripMs, 1.2 * roundTripMs, seededRandom(1)),
    keepRecords: false,
  });
  await clock.runUntil(approach(kinesis, records, clock));
  return records.length / (clock.nowMs / 1_000);
}

/**
 * The records per second if every shard works at its limit. The hottest shard finishes last. Each shard accepts the
 * records of its initial full bucket immediately.
 */
function mostPerSecond(records: readonly ProducerRecord[], takenPerSecond: number): number {
  const hottest = Math.max(...recordsByShard(records).values());
  return records.length / (hottest / takenPerSecond - 1);
}

async function compare(name: string, many: readonly ProducerRecord[], roundTripMs: number): Promise<string[]> {
  const records = many.slice(0, RECORDS);
  const unordered = await perSecond(unorderedBatches, records, roundTripMs);
  const single = await perSecond(ours(false), records, roundTripMs);
  const aggregated = await perSecond(ours(true), many, roundTripMs);
  const { recordsPerSecond, bytesPerSecond } = SERVICE_SHARD_LIMITS;
  const percent = (part: number, whole: number): string => `${rounded((100 * part) / whole)} %`;
  return [
    name,
    rounded(unordered),
    rounded(single),
    percent(single, unordered),
    percent(single, mostPerSecond(records, recordsPerSecond)),
    rounded(aggregated),
    percent(aggregated, unordered),
    percent(aggregated, mostPerSecond(many, bytesPerSecond / AGGREGATED_BYTES)),
  ];
}

function recordsOf(keys: number, exponent: number, count: number): ProducerRecord[] {
  const random = seededRandom(7);
  const cumulative: number[] = [];
  for (let key = 0, sum = 0; key < keys; key++) {
    sum += 1 / (key + 1) ** exponent;
    cumulative.push(sum);
  }
  return Array.from({ length: count }, () => {
    const partitionKey = `key-${indexOf(cumulative, random() * cumulative.at(-1)!)}`.padEnd(KEY_BYTES, '.');
    return { partitionKey, data: DATA };
  });
}

/** Binary search: the first position whose cumulative weight reaches the target. */
function indexOf(cumulative: readonly number[], target: number): number {
  let [low, high] = [0, cumulative.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cumulative[middle]! < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

function recordsByShard(records: readonly ProducerRecord[]): Map<string, number> {
  const map = new FakeKinesis({ clock: new VirtualClock(), shardCount: SHARDS });
  const counts = new Map<string, number>();
  for (const { partitionKey } of records) {
    const shardId = map.shardIdOf(partitionKey);
    counts.set(shardId, (counts.get(shardId) ?? 0) + 1);
  }
  return counts;
}

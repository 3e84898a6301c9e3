import { OrderedProducer, type OrderedProducerOptions, type ProducerRecord } from '../../../../lib/core';
import { LIST_PRICES } from '../../../../lib/core/planning';
import { FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { SERVICE_SHARD_LIMITS } from '../../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { between } from '../../fakes/round-trip-times';
import { writeGuideTable } from '../../guide-table';
import { printTable, rounded } from './table';

const SHARDS = 64;
const RECORD_BYTES = 100;
const KEY_BYTES = 10;

/** Kinesis bills payload units of this size. The last unit of a record can be incomplete. */
const PUT_PAYLOAD_UNIT_BYTES = 25 * 1_024;
const SECONDS_PER_MONTH = 730 * 3_600;
const PRICED_RECORDS_PER_SECOND = 10_000;

interface Scenario {
  keys: number;
  maxBufferedRecords: number;
  records: number;
  /** The number of records before the measurement starts. */
  first: number;
}

const ROUND_TRIP_MS = 20;

/** In the last scenario, the measurement starts when the initial token buckets of the shards are empty. */
const SCENARIOS: Scenario[] = [
  { keys: 10_000, maxBufferedRecords: 10_000, records: 1_000_000, first: 0 },
  { keys: 10_000, maxBufferedRecords: 100_000, records: 1_000_000, first: 0 },
  { keys: 100_000, maxBufferedRecords: 100_000, records: 1_000_000, first: 0 },
  { keys: 10_000, maxBufferedRecords: 100_000, records: 2_000_000, first: 1_300_000 },
];

interface Result {
  perSecond: number;
  entries: number;
  unitsPerRecord: number;
  shardBytesUsed: number;
  hottestOfMean: number;
  meanWaitMs: number;
}

/** The producer options for each way to aggregate records, by the name of the row. */
const AGGREGATIONS = new Map<string, Partial<OrderedProducerOptions>>([
  ['per key', { aggregation: 'per-key' }],
  ...[0, 5].flatMap((lingerMs) =>
    [64, 256, 1_024].map((hashBuckets): [string, Partial<OrderedProducerOptions>] => [
      `${hashBuckets} buckets${lingerMs > 0 ? `, linger ${lingerMs} ms` : ''}`,
      { aggregation: 'packed', hashBuckets, lingerMs },
    ]),
  ),
]);

/** The scenario that the decision record shows. */
export const DECISION_SCENARIO = SCENARIOS[0]!;
const DECISION_ROWS = ['per key', '256 buckets', '256 buckets, linger 5 ms'];

const HEADER = [
  '',
  'records/s',
  'compared with "per key"',
  "used part of the shards' byte limit",
  'Kinesis records',
  'fewer Kinesis records than "per key"',
  'cost a month at 10,000 records/s',
  'load of the hottest shard / mean load',
  'mean wait',
];

/**
 * Compares aggregates across keys with aggregates of one key, in virtual time. Many uniform keys go to 64 shards with
 * the limits of Kinesis. The shards are even, so the row of 64 buckets shows aggregation by shard.
 */
export async function benchPacked(): Promise<void> {
  for (const scenario of SCENARIOS) {
    const { keys, maxBufferedRecords, records, first } = scenario;
    console.log(
      `${rounded(records - first)} records of ${RECORD_BYTES} bytes behind ${rounded(first)} others, ${rounded(keys)} uniform ` +
        `keys, ${SHARDS} shards with service limits, round trip ${ROUND_TRIP_MS} ms ± 20 %, buffer ${rounded(maxBufferedRecords)} records\n`,
    );
    const rows = await packedRows(scenario, [...AGGREGATIONS.keys()]);
    printTable(HEADER, rows);
    if (scenario === DECISION_SCENARIO) {
      const shown = rows.filter(([name]) => DECISION_ROWS.includes(name!));
      writeGuideTable(
        'docs/decisions/0009-an-aggregate-is-one-point-of-the-hash-key-space.md',
        'npm run bench producer packed',
        HEADER,
        shown,
      );
    }
  }
}

export async function packedRows(scenario: Scenario, names: readonly string[]): Promise<string[][]> {
  const perKey = await measure(scenario, AGGREGATIONS.get('per key')!);
  const rows: string[][] = [];
  for (const name of names) {
    rows.push(row(name, name === 'per key' ? perKey : await measure(scenario, AGGREGATIONS.get(name)!), perKey));
  }
  return rows;
}

function row(name: string, result: Result, perKey: Result): string[] {
  const units = result.unitsPerRecord * PRICED_RECORDS_PER_SECOND * SECONDS_PER_MONTH;
  return [
    name,
    rounded(result.perSecond),
    `${rounded(result.perSecond / perKey.perSecond, 2)} x`,
    `${rounded(100 * result.shardBytesUsed)} %`,
    rounded(result.entries),
    `${rounded(perKey.entries / result.entries, 1)} x`,
    `$${rounded((units / 1e6) * LIST_PRICES.millionPutPayloadUnits)}`,
    rounded(result.hottestOfMean, 2),
    `${rounded(result.meanWaitMs)} ms`,
  ];
}

async function measure(
  { keys, maxBufferedRecords, records, first }: Scenario,
  options: Partial<OrderedProducerOptions>,
): Promise<Result> {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({
    clock,
    shardCount: SHARDS,
    shardLimits: SERVICE_SHARD_LIMITS,
    roundTripMs: between(0.8 * ROUND_TRIP_MS, 1.2 * ROUND_TRIP_MS, seededRandom(1)),
    keepRecords: false,
  });
  let payloadUnits = 0;
  let bytes = 0;
  let start = { atMs: 0, bytes: 0 };
  const byShard = new Map<string, number>();
  const client = {
    async putRecords(input: Parameters<typeof kinesis.putRecords>[0]) {
      const output = await kinesis.putRecords(input);
      input.Records.forEach(({ Data, PartitionKey }, index) => {
        const { ShardId } = output.Records![index]!;
        if (ShardId === undefined) return;
        payloadUnits += Math.ceil(Data.length / PUT_PAYLOAD_UNIT_BYTES);
        const size = Data.length + PartitionKey.length;
        bytes += size;
        byShard.set(ShardId, (byShard.get(ShardId) ?? 0) + size);
      });
      return output;
    },
    listShards: kinesis.listShards.bind(kinesis),
  };
  const producer = new OrderedProducer(client, {
    streamName: 'Events',
    clock,
    random: seededRandom(2),
    maxBufferedRecords,
    ...options,
  });
  const pulledAtMs = new Float64Array(records);
  let waitedMs = 0;
  function* source() {
    let index = 0;
    for (const record of recordsOf(keys, records)) {
      if (index === first) start = { atMs: clock.nowMs, bytes };
      pulledAtMs[index++] = clock.nowMs;
      yield record;
    }
  }
  await clock.runUntil(
    producer.putAll(source(), {
      delivered: (index) => {
        waitedMs += clock.nowMs - pulledAtMs[index]!;
      },
    }),
  );
  const seconds = (clock.nowMs - start.atMs) / 1_000;
  return {
    perSecond: (records - first) / seconds,
    entries: kinesis.entries.stored,
    unitsPerRecord: payloadUnits / records,
    shardBytesUsed: (bytes - start.bytes) / seconds / SHARDS / SERVICE_SHARD_LIMITS.bytesPerSecond,
    hottestOfMean: (Math.max(...byShard.values()) * SHARDS) / bytes,
    meanWaitMs: waitedMs / records,
  };
}

function* recordsOf(keys: number, count: number): Generator<ProducerRecord> {
  const random = seededRandom(7);
  const data = Buffer.alloc(RECORD_BYTES - KEY_BYTES);
  const names = Array.from({ length: keys }, (_, key) => `key-${key}`.padEnd(KEY_BYTES, '.'));
  for (let index = 0; index < count; index++) {
    yield { partitionKey: names[Math.floor(random() * keys)]!, data };
  }
}

import { OrderedProducer, type OrderedProducerOptions, type ProducerRecord } from '../../../lib/core';
import { LIST_PRICES } from '../../../lib/core/planning';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { SERVICE_SHARD_LIMITS } from '../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { between } from '../../fakes/round-trip-times';
import { printTable, rounded } from './table';

const SHARDS = 64;
const RECORDS = 1_000_000;
const RECORD_BYTES = 100;
const KEY_BYTES = 10;

/** Kinesis bills a record by started payload units of this size. */
const PUT_PAYLOAD_UNIT_BYTES = 25 * 1_024;
const SECONDS_PER_MONTH = 730 * 3_600;
const PRICED_RECORDS_PER_SECOND = 10_000;

interface Result {
  perSecond: number;
  entries: number;
  payloadUnits: number;
  shardBytesUsed: number;
  hottestOfMean: number;
  meanWaitMs: number;
}

/**
 * Packs of hash buckets against aggregation by key: many uniform keys over 64 shards with the service's limits, in
 * virtual time. The shards are uniform, so 64 buckets are the shards: that row is packing by shard.
 */
export async function benchPacks(): Promise<void> {
  for (const [keys, roundTripMs, maxBufferedRecords] of [
    [10_000, 20, 10_000],
    [10_000, 20, 100_000],
    [10_000, 5, 10_000],
    [100_000, 20, 10_000],
    [100_000, 20, 100_000],
  ] as const) {
    const records = recordsOf(keys);
    const run = (options: Partial<OrderedProducerOptions>) =>
      measure(records, roundTripMs, { maxBufferedRecords, ...options });
    const perKey = await run({ aggregation: 'per-key' });
    const rows = [row('per key', perKey, perKey)];
    for (const [hashBuckets, lingerMs] of [
      [64, 0],
      [256, 0],
      [1_024, 0],
      [64, 5],
      [256, 5],
      [1_024, 5],
    ] as const) {
      const name = `${hashBuckets} buckets${lingerMs > 0 ? `, linger ${lingerMs} ms` : ''}`;
      rows.push(row(name, await run({ aggregation: 'packed', hashBuckets, lingerMs }), perKey));
    }
    console.log(
      `${rounded(RECORDS)} records of ${RECORD_BYTES} bytes, ${rounded(keys)} uniform keys, ${SHARDS} shards with service ` +
        `limits, round trip ${roundTripMs} ms ± 20 %, buffer ${rounded(maxBufferedRecords)} records\n`,
    );
    printTable(
      [
        '',
        'records/s',
        'of per key',
        "of the shards' bytes",
        'Kinesis records',
        'fewer',
        'a month, 10,000/s',
        'hottest / mean shard',
        'mean wait',
      ],
      rows,
    );
  }
}

function row(name: string, result: Result, perKey: Result): string[] {
  const units = (result.payloadUnits / RECORDS) * PRICED_RECORDS_PER_SECOND * SECONDS_PER_MONTH;
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
  records: readonly ProducerRecord[],
  roundTripMs: number,
  options: Partial<OrderedProducerOptions>,
): Promise<Result> {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({
    clock,
    shardCount: SHARDS,
    shardLimits: SERVICE_SHARD_LIMITS,
    roundTripMs: between(0.8 * roundTripMs, 1.2 * roundTripMs, seededRandom(1)),
    keepRecords: false,
  });
  let payloadUnits = 0;
  let bytes = 0;
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
  const producer = new OrderedProducer(client, { streamName: 'Events', clock, random: seededRandom(2), ...options });
  const pulledAtMs: number[] = [];
  let waitedMs = 0;
  function* source() {
    for (const [index, record] of records.entries()) {
      pulledAtMs[index] = clock.nowMs;
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
  const seconds = clock.nowMs / 1_000;
  return {
    perSecond: records.length / seconds,
    entries: kinesis.entries.stored,
    payloadUnits,
    shardBytesUsed: bytes / seconds / SHARDS / SERVICE_SHARD_LIMITS.bytesPerSecond,
    hottestOfMean: (Math.max(...byShard.values()) * SHARDS) / bytes,
    meanWaitMs: waitedMs / records.length,
  };
}

function recordsOf(keys: number): ProducerRecord[] {
  const random = seededRandom(7);
  const data = Buffer.alloc(RECORD_BYTES - KEY_BYTES);
  return Array.from({ length: RECORDS }, () => ({
    partitionKey: `key-${Math.floor(random() * keys)}`.padEnd(KEY_BYTES, '.'),
    data,
  }));
}

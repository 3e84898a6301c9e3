import {
  OrderedProducer,
  type OrderedProducerOptions,
  type ProducerRecord,
  type PutRecordsInput,
} from '../../../lib/core';
import { systemClock } from '../../../lib/core/kernel/clock';
import { unorderedBatches } from '../../support/tables/producer/baselines';
import { printTable, rounded } from '../../support/tables/producer/table';

const RECORDS = 200_000;
const ROUNDS = 5;

/** As many that each record is an aggregate of its own in a buffer of 10,000 records, or few enough that many share one. */
const KEYS = [20_000, 100];

/** A stream that answers at once. */
const client = {
  async putRecords({ Records }: PutRecordsInput) {
    return { FailedRecordCount: 0, Records: Records.map(() => ({ ShardId: 'shardId-0', SequenceNumber: '1' })) };
  },
};

type Approach = (records: readonly ProducerRecord[]) => Promise<unknown>;

const APPROACHES: [string, Approach][] = [
  ['unordered batches', (records) => unorderedBatches(client, records, systemClock)],
  ['`OrderedProducer`', ours({})],
  ['`OrderedProducer`, with a promise for each `put`', promises],
  ['`OrderedProducer`, aggregation', ours({ aggregation: true })],
  ['`OrderedProducer`, aggregation and sequence', ours({ aggregation: true, sequence: true })],
  ['`OrderedProducer`, packed', ours({ aggregation: 'packed' })],
  ['`OrderedProducer`, packed, with a sequence', ours({ aggregation: 'packed', sequence: true })],
];

/** No round trip, real clock, one core: what each record takes, against a batcher that keeps no order. */
export async function benchProcessorTime(): Promise<void> {
  const columns: number[][] = [];
  for (const keys of KEYS) columns.push(await medians(recordsOf(keys)));
  console.log(`${RECORDS} records of 100 bytes, no round trip; medians of ${ROUNDS} rounds in turn\n`);
  printTable(
    ['', ...KEYS.flatMap((keys) => [`µs a record, ${rounded(keys)} keys`, 'ratio'])],
    APPROACHES.map(([name], index) => [
      name,
      ...columns.flatMap((times) => [rounded(times[index]!, 2), `${rounded(times[index]! / times[0]!, 1)} x`]),
    ]),
  );
}

function recordsOf(keys: number): ProducerRecord[] {
  return Array.from({ length: RECORDS }, (_, index) => ({
    partitionKey: `key-${index % keys}`,
    data: Buffer.alloc(93),
  }));
}

/** The median of each approach, in microseconds a record. The first round is to warm up. */
async function medians(records: readonly ProducerRecord[]): Promise<number[]> {
  const samples = APPROACHES.map(() => [] as number[]);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, [, approach]] of APPROACHES.entries()) {
      const sample = await measure(() => approach(records));
      if (round > 0) samples[index]!.push(sample);
    }
  }
  return samples.map(median);
}

function ours(options: Partial<OrderedProducerOptions>): Approach {
  return (records) => new OrderedProducer(client, { streamName: 'Events', ...options }).putAll(records);
}

/** `put` for each record, as much at once as `putAll` has in its buffer. */
async function promises(records: readonly ProducerRecord[]): Promise<void> {
  const producer = new OrderedProducer(client, { streamName: 'Events' });
  for (let start = 0; start < records.length; start += 10_000) {
    await Promise.all(records.slice(start, start + 10_000).map((record) => producer.put(record)));
  }
}

/** Processor time, all threads', in microseconds a record. */
async function measure(approach: () => Promise<unknown>): Promise<number> {
  global.gc!();
  const before = process.cpuUsage();
  await approach();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / RECORDS;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

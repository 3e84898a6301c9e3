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

/**
 * The numbers of keys. With the larger number, each aggregate has one record. With the smaller number, an aggregate has
 * many records.
 */
const KEYS = [20_000, 100];

/** A stream that responds immediately. */
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

/**
 * Measures the processor time for each record if the stream responds immediately. Compares the producer with a loop
 * that sends batches and does not keep the order.
 */
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

/** The median of each approach, in microseconds for each record. The first round is a warm-up. */
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

/** Calls `put` for each record, with as many concurrent calls as the buffer of `putAll` holds. */
async function promises(records: readonly ProducerRecord[]): Promise<void> {
  const producer = new OrderedProducer(client, { streamName: 'Events' });
  for (let start = 0; start < records.length; start += 10_000) {
    await Promise.all(records.slice(start, start + 10_000).map((record) => producer.put(record)));
  }
}

/** The processor time of all threads, in microseconds for each record. */
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

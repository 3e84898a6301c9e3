import { OrderedProducer, type ProducerRecord, type PutRecordsInput } from '../../../lib/core';
import { printTable, rounded } from './table';

const RECORDS = 300_000;
const KEYS = 20_000;
const ROUNDS = 5;

/** A stream that answers at once. */
const client = {
  async putRecords({ Records }: PutRecordsInput) {
    return { FailedRecordCount: 0, Records: Records.map(() => ({ ShardId: 'shardId-0', SequenceNumber: '1' })) };
  },
};

type Approach = () => Promise<unknown>;

/** No round trip, real clock, one core: how many records a second, and what each takes. */
export async function benchProcessorTime(): Promise<void> {
  const records = Array.from({ length: RECORDS }, (_, index) => ({
    partitionKey: `key-${index % KEYS}`,
    data: Buffer.alloc(93),
  }));
  const approaches: [string, Approach][] = [
    ['bare loop of 500-record batches', () => bareLoop(records)],
    ['OrderedProducer', () => ours({}).putAll(records)],
    ['OrderedProducer, aggregation', () => ours({ aggregation: true }).putAll(records)],
    ['OrderedProducer, aggregation, sequence', () => ours({ aggregation: true, sequence: true }).putAll(records)],
  ];
  const samples = approaches.map(() => [] as number[]);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, [, approach]] of approaches.entries()) {
      const sample = await measure(approach);
      if (round > 0) samples[index]!.push(sample);
    }
  }
  const medians = samples.map(median);
  console.log(`${RECORDS} records of 100 bytes, ${KEYS} keys, no round trip; medians of ${ROUNDS} rounds in turn\n`);
  printTable(
    ['', 'records/s of one core', 'µs/record', 'ratio'],
    approaches.map(([name], index) => {
      const cpuUs = medians[index]!;
      return [name, rounded(1e6 / cpuUs), rounded(cpuUs, 2), `${rounded(cpuUs / medians[0]!, 1)} x`];
    }),
  );
}

function ours(options: { aggregation?: boolean; sequence?: boolean }): OrderedProducer {
  return new OrderedProducer(client, { streamName: 'Events', ...options });
}

async function bareLoop(records: readonly ProducerRecord[]): Promise<void> {
  for (let start = 0; start < records.length; start += 500) {
    const batch = records.slice(start, start + 500);
    await client.putRecords({
      StreamName: 'Events',
      Records: batch.map(({ partitionKey, data }) => ({ PartitionKey: partitionKey, Data: data })),
    });
  }
}

/** Processor time, all threads', in microseconds a record. */
async function measure(approach: Approach): Promise<number> {
  global.gc!();
  const before = process.cpuUsage();
  await approach();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / RECORDS;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

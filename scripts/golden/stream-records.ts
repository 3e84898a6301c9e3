import type { StreamRecord } from 'cdk-even-shards/consumer';
import { OrderedProducer, type OrderedProducerOptions, type ProducerRecord } from 'cdk-even-shards/producer';
import { handOver } from 'cdk-even-shards/registry';
import type { Written } from './written';

type SentRecord = StreamRecord & { shardId: string; sequenceNumber: string };

/** A stream that keeps the records of PutRecords. */
function stream() {
  const sent: SentRecord[] = [];
  const client = {
    putRecords: async ({
      Records,
    }: {
      Records: { PartitionKey: string; Data: Uint8Array; ExplicitHashKey?: string }[];
    }) => {
      const Sent = Records.map(({ PartitionKey, Data, ExplicitHashKey }) => {
        const sequenceNumber = `${4_000 + sent.length}`;
        const explicitHashKey = ExplicitHashKey === undefined ? {} : { explicitHashKey: ExplicitHashKey };
        const record = { partitionKey: PartitionKey, data: Buffer.from(Data), ...explicitHashKey };
        sent.push({ shardId: 'shardId-000000000000', sequenceNumber, ...record });
        return { ShardId: 'shardId-000000000000', SequenceNumber: sequenceNumber };
      });
      return { FailedRecordCount: 0, Records: Sent };
    },
  };
  return { sent, client };
}

async function sentBy(
  options: Partial<OrderedProducerOptions>,
  records: readonly ProducerRecord[],
): Promise<SentRecord[]> {
  const { client, sent } = stream();
  const producer = new OrderedProducer(client, { streamName: 'events', ...options } as OrderedProducerOptions);
  await Promise.all(records.map((record) => producer.put(record)));
  await producer.close();
  return sent;
}

/** An aggregate of these records with sequences, as a shard returns it. */
export function aggregateOf(records: readonly ProducerRecord[]): Promise<SentRecord[]> {
  return sentBy({ aggregation: true, sequence: true }, records);
}

const bytes = (text: string) => Buffer.from(text);
const ONE_KEY = ['first', 'second', 'third'].map((data) => ({ partitionKey: 'a', data: bytes(data) }));
const KEYS = [
  ...ONE_KEY,
  { partitionKey: 'b', data: bytes('of b'), explicitHashKey: 2n ** 127n },
  { partitionKey: 'é', data: Buffer.alloc(0) },
];

export async function streamRecords(): Promise<Written> {
  const modes = {
    'records without aggregation': [{}, KEYS],
    'an aggregate of each key': [{ aggregation: 'per-key' }, KEYS],
    'aggregates of several keys': [{ aggregation: 'packed', hashBuckets: 2, lingerMs: 20 }, KEYS],
    'aggregates of hash buckets': [{ aggregation: 'packed', hashBuckets: 64, lingerMs: 20 }, KEYS],
  } as const;
  const aggregates: Record<string, unknown> = {};
  for (const [name, [options, records]] of Object.entries(modes)) {
    aggregates[name] = { records, sent: await sentBy(options, records) };
  }
  const sequences = {
    'of a record alone': [{ sequence: true }, [ONE_KEY[0]!]],
    'of records without aggregation': [{ sequence: true }, KEYS],
    'in an aggregate of each key': [{ sequence: true, aggregation: 'per-key' }, KEYS],
    'in aggregates of several keys': [{ sequence: true, aggregation: 'packed', hashBuckets: 2, lingerMs: 20 }, KEYS],
  } as const;
  const sequenced: Record<string, unknown> = {};
  for (const [name, [options, records]] of Object.entries(sequences)) {
    sequenced[name] = { records, sent: await sentBy(options, records) };
  }
  const fences: Record<string, unknown> = {};
  for (const [name, options] of Object.entries({
    alone: {},
    'in an aggregate with a sequence': { sequence: true, aggregation: true },
  })) {
    const { client, sent } = stream();
    const producer = new OrderedProducer(client, { streamName: 'events', ...options } as OrderedProducerOptions);
    await handOver(producer, { partitionKeys: ['a'], fromHashKey: 1n, toHashKey: 2n ** 127n }, async () => {});
    await producer.close();
    fences[name] = { partitionKey: 'a', sent };
  }
  return { aggregate: aggregates, 'record sequence': sequenced, fence: fences };
}

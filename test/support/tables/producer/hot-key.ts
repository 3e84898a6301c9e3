import { OrderedProducer, type ProducerRecord } from '../../../../lib/core';
import { FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import { SERVICE_SHARD_LIMITS, type ShardLimits } from '../../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { writeGuideTable } from '../../guide-table';
import { cycle, putRecordChain } from './baselines';
import { printTable, rounded } from './table';

type Approach = (kinesis: FakeKinesis, records: readonly ProducerRecord[], clock: VirtualClock) => Promise<unknown>;

const ours =
  (aggregation: boolean): Approach =>
  (kinesis, records, clock) =>
    new OrderedProducer(kinesis, { streamName: 'Events', clock, aggregation }).putAll(records);

const APPROACHES: [string, number, Approach][] = [
  ['the cycle of "Guaranteeing Order with Kinesis Bulk Puts"', 500, cycle],
  ['a PutRecord chain with `SequenceNumberForOrdering`', 500, putRecordChain],
  ['`OrderedProducer`', 5_000, ours(false)],
  ['`OrderedProducer`, aggregation', 200_000, ours(true)],
];

const HOT_KEY_HEADER = ['', 'records/s', 'ratio'];

/**
 * The throughput of one key, in records per second of virtual time. A record has 100 bytes (with its key), and a round
 * trip takes 20 ms.
 */
export async function hotKeyRows(shardLimits: ShardLimits | undefined): Promise<string[][]> {
  const rows: string[][] = [];
  let baseline = 0;
  for (const [name, count, approach] of APPROACHES) {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, shardLimits, keepRecords: false });
    const records = Array.from({ length: count }, () => ({ partitionKey: 'hot-key', data: Buffer.alloc(93) }));
    await clock.runUntil(approach(kinesis, records, clock));
    const perSecond = count / (clock.nowMs / 1_000);
    baseline ||= perSecond;
    rows.push([name, rounded(perSecond), `${rounded(perSecond / baseline)} x`]);
  }
  return rows;
}

export async function benchHotKey(): Promise<void> {
  console.log('one hot key, records of 100 bytes, 20 ms round trip, without and with shard limits\n');
  printTable(HOT_KEY_HEADER, await hotKeyRows(undefined));
  const rows = await hotKeyRows(SERVICE_SHARD_LIMITS);
  writeGuideTable(
    'docs/decisions/0002-one-batch-entry-in-flight-per-partition-key.md',
    'npm run bench producer hot-key',
    HOT_KEY_HEADER,
    rows,
  );
}

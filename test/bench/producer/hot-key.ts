import { OrderedProducer, type ProducerRecord } from '../../../lib/core';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import { SERVICE_SHARD_LIMITS } from '../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../lib/testing/virtual-clock';
import { cycle, putRecordChain } from './baselines';
import { printTable, rounded } from './table';

type Approach = (kinesis: FakeKinesis, records: readonly ProducerRecord[], clock: VirtualClock) => Promise<unknown>;

const ours =
  (aggregation: boolean): Approach =>
  (kinesis, records, clock) =>
    new OrderedProducer(kinesis, { streamName: 'Events', clock, aggregation }).putAll(records);

/** One key, records of 100 bytes with their key, 20 ms round trip: records a second of virtual time. */
export async function benchHotKey(): Promise<void> {
  const approaches: [string, number, Approach][] = [
    ['the seed’s cycle', 500, cycle],
    ['PutRecord chain', 500, putRecordChain],
    ['OrderedProducer', 5_000, ours(false)],
    ['OrderedProducer, aggregation', 200_000, ours(true)],
  ];
  for (const shardLimits of [undefined, SERVICE_SHARD_LIMITS]) {
    console.log(
      `one hot key, records of 100 bytes, 20 ms round trip, ${shardLimits ? 'with' : 'without'} shard limits\n`,
    );
    const rows: string[][] = [];
    let baseline = 0;
    for (const [name, count, approach] of approaches) {
      const clock = new VirtualClock();
      const kinesis = new FakeKinesis({ clock, shardLimits, keepRecords: false });
      const records = Array.from({ length: count }, () => ({ partitionKey: 'hot-key', data: Buffer.alloc(93) }));
      await clock.runUntil(approach(kinesis, records, clock));
      const perSecond = count / (clock.nowMs / 1_000);
      baseline ||= perSecond;
      rows.push([name, rounded(perSecond), `${rounded(perSecond / baseline, 1)} x`]);
    }
    printTable(['', 'records/s', 'ratio'], rows);
  }
}

import { OrderedProducer, type ProducerRecord } from '../../../../lib/core';
import { FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { SERVICE_SHARD_LIMITS } from '../../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { between } from '../../fakes/round-trip-times';
import { writeGuideTable } from '../../guide-table';
import { rounded } from './table';

const PRODUCERS = 5;
const SHARDS = 16;
const CAPACITY = SHARDS * SERVICE_SHARD_LIMITS.recordsPerSecond;
const OVERLOAD_SECONDS = 30;
const SECONDS = 60;

const HEADER = ['second', 'offered', 'stored', 'entries rejected', 'most / least', 'slowest record'];

export async function benchFiveProducers(): Promise<void> {
  console.log(`${PRODUCERS} uncoordinated producers, ${SHARDS} shards with service limits, round trip 10 to 30 ms\n`);
  const rows = await fiveProducersRows();
  writeGuideTable(
    'docs/decisions/0015-producers-share-a-shard-without-coordination.md',
    'npm run bench producer five-producers',
    HEADER,
    rows,
  );
}

/**
 * Five independent producers. Their load is twice the capacity of the stream for 30 s, and then half of the capacity.
 * With `seconds`, simulates only the first seconds.
 */
export async function fiveProducersRows(seconds = SECONDS): Promise<string[][]> {
  const random = seededRandom(5);
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({
    clock,
    shardCount: SHARDS,
    shardLimits: SERVICE_SHARD_LIMITS,
    roundTripMs: between(10, 30, random),
    keepRecords: false,
  });
  const delivered = Array.from({ length: PRODUCERS }, () => 0);
  let slowestMs = 0;
  const producers = delivered.map((_, index) => {
    const producer = new OrderedProducer(kinesis, { streamName: 'Events', clock, random });
    const observer = {
      delivered(_: number, { putAtMs }: TimedRecord) {
        delivered[index]! += 1;
        slowestMs = Math.max(slowestMs, clock.nowMs - putAtMs);
      },
    };
    return producer.putAll(offered(clock, random, seconds), observer);
  });
  const rows: string[][] = [];
  const everySeconds = 5;
  let before = { ...kinesis.entries };
  let deliveredBefore = delivered.map(() => 0);
  for (let second = everySeconds; second <= seconds; second += everySeconds) {
    await clock.runUntil(clock.sleep(second * 1_000 - clock.nowMs));
    const stored = kinesis.entries.stored - before.stored;
    const throttled = kinesis.entries.throttled - before.throttled;
    const shares = delivered.map((count, index) => count - deliveredBefore[index]!);
    rows.push([
      `${second - everySeconds} to ${second}`,
      second <= OVERLOAD_SECONDS ? '200 %' : '50 %',
      `${rounded((100 * stored) / (everySeconds * CAPACITY), 1)} %`,
      `${rounded((100 * throttled) / (stored + throttled), 2)} %`,
      rounded(Math.max(...shares) / Math.min(...shares), 2),
      `${rounded(slowestMs)} ms`,
    ]);
    before = { ...kinesis.entries };
    deliveredBefore = [...delivered];
    slowestMs = 0;
  }
  await clock.runUntil(Promise.all(producers));
  return rows;
}

interface TimedRecord extends ProducerRecord {
  putAtMs: number;
}

/** A source that offers records at fixed times. Records are lost while the producer does not read the source. */
async function* offered(clock: VirtualClock, random: () => number, seconds: number): AsyncGenerator<TimedRecord> {
  let nextAtMs = clock.nowMs;
  while (nextAtMs < seconds * 1_000) {
    if (nextAtMs > clock.nowMs) await clock.sleep(nextAtMs - clock.nowMs);
    const load = clock.nowMs < OVERLOAD_SECONDS * 1_000 ? 2 : 0.5;
    nextAtMs = Math.max(nextAtMs, clock.nowMs - 20) + 1_000 / ((load * CAPACITY) / PRODUCERS);
    yield { partitionKey: String(Math.floor(random() * 20_000)), data: Buffer.alloc(100), putAtMs: clock.nowMs };
  }
}

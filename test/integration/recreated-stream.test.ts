import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryParkingStore, OrderedConsumer } from '../../lib/core/consumer';
import { kinesisEvent, SOURCE, textOf } from '../support/fakes/stream-events';
import { kinesisForTests } from '../support/kinesis-local';

const { kinesis, createStream } = kinesisForTests();

/**
 * In kinesis-local, sequence numbers begin with the time of the creation of the stream. This test has not run on AWS.
 */
test('a consumer handles the records of a stream that was deleted and created again with the same name', async () => {
  const StreamName = 'orders';
  const handled: string[] = [];
  const consumer = new OrderedConsumer((record) => void handled.push(textOf(record)), {
    parking: new MemoryParkingStore(),
  });

  async function recordsOf(texts: readonly string[]): Promise<void> {
    await createStream(StreamName, 1);
    for (const text of texts) {
      const Data = Buffer.from(text);
      const { ShardId, SequenceNumber } = await kinesis.putRecord({ StreamName, PartitionKey: 'a', Data });
      const record = { shardId: ShardId!, partitionKey: 'a', sequenceNumber: SequenceNumber!, data: Data };
      await consumer.handler(kinesisEvent([record], SOURCE), { getRemainingTimeInMillis: () => 60_000 });
    }
    await kinesis.deleteStream({ StreamName });
    while ((await kinesis.listStreams({})).StreamNames?.includes(StreamName)) await sleep(10);
  }

  await recordsOf(['1', '2', '3']);
  await sleep(1_000);
  await recordsOf(['4', '5', '6']);
  expect(handled).toEqual(['1', '2', '3', '4', '5', '6']);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { localClients } from '../../bin/local/emulators/clients';
import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { MemoryParkingStore, OrderedConsumer } from '../../lib/core/consumer';
import { waitUntilActive } from '../support/active-stream';
import { kinesisEvent, SOURCE, textOf } from '../support/fakes/stream-events';

/**
 * In kinesis-local, sequence numbers begin with the time of the creation of the stream. This test has not run on AWS.
 */
test('a consumer handles the records of a stream that was deleted and created again with the same name', async () => {
  const emulator = await startKinesisEmulator();
  const { kinesis } = localClients({
    kinesis: emulator.endpoint,
    dynamodb: emulator.endpoint,
    lambda: emulator.endpoint,
  });
  const StreamName = 'orders';
  const handled: string[] = [];
  const consumer = new OrderedConsumer((record) => void handled.push(textOf(record)), {
    parking: new MemoryParkingStore(),
  });

  async function recordsOf(texts: readonly string[]): Promise<void> {
    await kinesis.createStream({ StreamName, ShardCount: 1 });
    await waitUntilActive(kinesis, StreamName);
    for (const text of texts) {
      const Data = Buffer.from(text);
      const { ShardId, SequenceNumber } = await kinesis.putRecord({ StreamName, PartitionKey: 'a', Data });
      const record = { shardId: ShardId!, partitionKey: 'a', sequenceNumber: SequenceNumber!, data: Data };
      await consumer.handler(kinesisEvent([record], SOURCE), { getRemainingTimeInMillis: () => 60_000 });
    }
    await kinesis.deleteStream({ StreamName });
    while ((await kinesis.listStreams({})).StreamNames?.includes(StreamName)) await sleep(10);
  }

  try {
    await recordsOf(['1', '2', '3']);
    await sleep(1_000);
    await recordsOf(['4', '5', '6']);
    expect(handled).toEqual(['1', '2', '3', '4', '5', '6']);
  } finally {
    kinesis.destroy();
    await emulator.stop();
  }
});

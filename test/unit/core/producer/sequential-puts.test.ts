import { OrderedProducer, type PutRecordInput, type PutRecordsClient } from '../../../../lib/core/producer';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { record } from './producer-on-fake-stream';

describe('put – with sequentialPuts', () => {
  test('sends the sequence number of the last record of the key, for the 10,000 keys that were written last', async () => {
    const inputs: PutRecordInput[] = [];
    const client: PutRecordsClient = {
      putRecords: async () => ({}),
      putRecord: async (input) => {
        inputs.push(input);
        return { ShardId: 'shardId-0', SequenceNumber: `${input.PartitionKey}:${inputs.length}` };
      },
    };
    const clock = new VirtualClock();
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, sequentialPuts: true });
    const keys = Array.from({ length: 10_000 }, (_, number) => `key-${number}`);
    await producer.putAll(keys.map((key) => record(key)));
    // The producer remembers 10,000 keys. When the producer puts the key `one-more`, it forgets `key-1`, which it has used
    // least recently.
    for (const key of ['key-0', 'one-more', 'key-1', 'key-0']) await producer.put(record(key));
    expect(inputs.slice(10_000).map(({ SequenceNumberForOrdering }) => SequenceNumberForOrdering)).toEqual([
      'key-0:1',
      undefined,
      undefined,
      'key-0:10001',
    ]);
  });
});

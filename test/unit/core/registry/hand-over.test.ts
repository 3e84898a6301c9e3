import { handOver, InvalidArgumentError, InvalidHashKeyError, OrderedProducer, parseFence } from '../../../../lib/core';
import { FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

describe('handOver', () => {
  test('writes the fences after the earlier records, and calls switchKey after both fences are written', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, shardCount: 2 });
    const producer = new OrderedProducer(kinesis, { streamName: 'events', clock });
    const before = producer.put({ partitionKey: 'a', explicitHashKey: 0n, data: Buffer.from('1') });
    let fences: unknown[] = [];
    const switchKey = async () => {
      fences = kinesis.records().map(({ shardId, data }) => [shardId.slice(-1), parseFence(data)?.side]);
    };
    const move = { partitionKeys: ['a'], fromHashKey: 0n, toHashKey: 2n ** 127n };
    await clock.runUntil(Promise.all([before, handOver(producer, move, switchKey)]));
    expect(fences).toEqual([
      ['0', undefined],
      ['0', 'end'],
      ['1', 'start'],
    ]);
  });

  test('does not call switchKey if a fence is rejected', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, requestFate: () => 'denied' });
    const producer = new OrderedProducer(kinesis, { streamName: 'events', clock });
    let switched = false;
    const switchKey = async () => {
      switched = true;
    };
    const move = { partitionKeys: ['a'], fromHashKey: 0n, toHashKey: 1n };
    await expect(clock.runUntil(handOver(producer, move, switchKey))).rejects.toThrow('AccessDenied');
    expect(switched).toBe(false);
  });

  test('rejects an invalid move and writes nothing', async () => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock });
    const producer = new OrderedProducer(kinesis, { streamName: 'events', clock });
    const move = { partitionKeys: ['a'], fromHashKey: 0n, toHashKey: 1n };
    const nothing = async () => {};
    await expect(handOver(producer, { ...move, partitionKeys: [] }, nothing)).rejects.toThrow(InvalidArgumentError);
    await expect(handOver(producer, { ...move, toHashKey: -1n }, nothing)).rejects.toThrow(InvalidHashKeyError);
    await expect(handOver(producer, { ...move, fromHashKey: -1n }, nothing)).rejects.toThrow('fromHashKey must be');
    expect(kinesis.requests).toEqual([]);
  });
});

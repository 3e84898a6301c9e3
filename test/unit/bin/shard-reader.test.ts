import { ShardReader, type StreamClient } from '../../../bin/stream-shards/shard-reader';

test('after its iterator has expired, a reader from LATEST begins at its start, also if the time of day was an hour ahead', async () => {
  const iterators: unknown[] = [];
  const client: Partial<StreamClient> = {
    getShardIterator: async ({ ShardIteratorType, Timestamp }) => {
      iterators.push({ ShardIteratorType, Timestamp });
      return { ShardIterator: 'iterator', $metadata: {} };
    },
    getRecords: async () => {
      throw Object.assign(new Error('expired'), { name: 'ExpiredIteratorException' });
    },
  };
  const startedAt = Date.now();
  const ahead = jest.spyOn(Date, 'now').mockReturnValue(startedAt + 3_600_000);
  const reader = await ShardReader.begin(client as StreamClient, 'Events', 'shard', 'LATEST');
  ahead.mockRestore();
  await reader.read();
  const [, renewed] = iterators as { ShardIteratorType: string; Timestamp: Date }[];
  expect(iterators[0]).toEqual({ ShardIteratorType: 'LATEST', Timestamp: undefined });
  expect(renewed!.ShardIteratorType).toBe('AT_TIMESTAMP');
  expect(Math.abs(renewed!.Timestamp.getTime() - startedAt)).toBeLessThan(10_000);
});

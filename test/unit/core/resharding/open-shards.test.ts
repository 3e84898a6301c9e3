import { listOpenShards } from '../../../../lib/core/resharding/open-shards';
import type { ListedShard, ReshardClient } from '../../../../lib/core/resharding/reshard-client';

const shard = (ShardId: string, start: number, end: number, SequenceNumberRange?: object | null): ListedShard => ({
  ShardId,
  HashKeyRange: { StartingHashKey: String(start), EndingHashKey: String(end) },
  SequenceNumberRange: SequenceNumberRange as ListedShard['SequenceNumberRange'],
});

test('listOpenShards – shards on several pages – returns the open shards in the order of their hash keys', async () => {
  const inputs: Parameters<ReshardClient['listShards']>[0][] = [];
  const pages = [
    { Shards: [shard('c', 20, 29), shard('closed', 0, 29, { EndingSequenceNumber: '1' })], NextToken: 'more' },
    { Shards: [shard('b', 10, 19, { EndingSequenceNumber: null }), shard('a', 0, 9, null)] },
  ];
  const client = { listShards: async (input: (typeof inputs)[0]) => pages[inputs.push(input) - 1]! };
  expect((await listOpenShards(client, 'Events')).map(({ shardId }) => shardId)).toEqual(['a', 'b', 'c']);
  // Kinesis rejects a token together with a stream name.
  expect(inputs).toEqual([{ StreamName: 'Events', ShardFilter: { Type: 'AT_LATEST' } }, { NextToken: 'more' }]);
});

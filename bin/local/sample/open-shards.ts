import type { HashKeyRange } from '../../../lib/core/foundation/hash-key-ranges';
import type { LocalStack } from '../run-local';

export interface OpenShard {
  shardId: string;
  range: HashKeyRange;
}

/** The open shards of a stream by hash key, as ListShards has them. */
export async function openShards({ clients }: LocalStack, streamName: string): Promise<OpenShard[]> {
  const shards: OpenShard[] = [];
  let next: string | undefined;
  do {
    const page = await clients.kinesis.listShards(
      next === undefined ? { StreamName: streamName } : { NextToken: next },
    );
    for (const { ShardId, HashKeyRange, SequenceNumberRange } of page.Shards ?? []) {
      if (SequenceNumberRange?.EndingSequenceNumber !== undefined) continue;
      const range = {
        startingHashKey: BigInt(HashKeyRange!.StartingHashKey!),
        endingHashKey: BigInt(HashKeyRange!.EndingHashKey!),
      };
      shards.push({ shardId: ShardId!, range });
    }
    next = page.NextToken;
  } while (next !== undefined);
  return shards.sort((a, b) => (a.range.startingHashKey < b.range.startingHashKey ? -1 : 1));
}

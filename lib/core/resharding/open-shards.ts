import type { HashKeyRange } from '../foundation/hash-key-ranges';
import { HASH_KEY_SPACE } from '../foundation/hash-key-space';
import type { ListedShard, ReshardClient } from './reshard-client';

/** A shard that accepts writes. */
export interface OpenShard extends HashKeyRange {
  readonly shardId: string;
}

/** The open shards of a stream, in the order of their hash keys. It reads as many pages as there are. */
export async function listOpenShards(
  client: Pick<ReshardClient, 'listShards'>,
  streamName: string,
): Promise<OpenShard[]> {
  const listed: ListedShard[] = [];
  let token: string | undefined;
  do {
    const page = await client.listShards(
      token === undefined ? { StreamName: streamName, ShardFilter: { Type: 'AT_LATEST' } } : { NextToken: token },
    );
    listed.push(...(page.Shards ?? []));
    token = page.NextToken;
  } while (token !== undefined);
  return listed
    .filter(({ SequenceNumberRange }) => SequenceNumberRange?.EndingSequenceNumber === undefined)
    .map(openShard)
    .sort((a, b) => (a.startingHashKey < b.startingHashKey ? -1 : 1));
}

/** Whether the shards hold every hash key once. This can be false for a list that was read while the shards changed. */
export function isWhole(shards: readonly HashKeyRange[]): boolean {
  let next = 0n;
  for (const { startingHashKey, endingHashKey } of shards) {
    if (startingHashKey !== next) return false;
    next = endingHashKey + 1n;
  }
  return next === HASH_KEY_SPACE;
}

function openShard({ ShardId, HashKeyRange }: ListedShard): OpenShard {
  return {
    shardId: ShardId!,
    startingHashKey: BigInt(HashKeyRange!.StartingHashKey!),
    endingHashKey: BigInt(HashKeyRange!.EndingHashKey!),
  };
}

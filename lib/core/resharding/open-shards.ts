import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { pages } from '../kernel/pages';
import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import { HASH_KEY_SPACE, parseHashKey } from '../stream-format/hash-key-space';
import type { ListedShard, ReshardClient } from './reshard-client';

/** A shard that accepts writes. */
export interface OpenShard extends HashKeyRange {
  readonly shardId: string;
}

/** Reads all open shards of a stream, in the order of their hash keys. */
export async function listOpenShards(
  client: Pick<ReshardClient, 'listShards'>,
  streamName: string,
): Promise<OpenShard[]> {
  const listed: ListedShard[] = [];
  const read = (token: string | undefined) =>
    client.listShards(
      token === undefined ? { StreamName: streamName, ShardFilter: { Type: 'AT_LATEST' } } : { NextToken: token },
    );
  for await (const page of pages('ListShards', read, ({ NextToken }) => NextToken)) {
    if (!Array.isArray(page?.Shards)) throw incomplete();
    listed.push(...page.Shards);
  }
  return listed
    .map(openShard)
    .filter((shard) => shard !== undefined)
    .sort((a, b) => Number(a.startingHashKey - b.startingHashKey));
}

function incomplete(): IncompleteAnswerError {
  return new IncompleteAnswerError('ListShards', 'shards with ids and hash key ranges');
}

/** Whether each hash key is in exactly one shard. The result can be false for a list that was read while the shards changed. */
export function isWhole(shards: readonly HashKeyRange[]): boolean {
  let next = 0n;
  for (const { startingHashKey, endingHashKey } of shards) {
    if (startingHashKey !== next) return false;
    next = endingHashKey + 1n;
  }
  return next === HASH_KEY_SPACE;
}

/** Parses a shard from a response of ListShards. Undefined for a closed shard. */
function openShard(shard: ListedShard): OpenShard | undefined {
  const { ShardId, HashKeyRange, SequenceNumberRange }: ListedShard = Object(shard);
  const [startingHashKey, endingHashKey] = [HashKeyRange?.StartingHashKey, HashKeyRange?.EndingHashKey].map((text) =>
    parseHashKey(String(text)),
  );
  if (!ShardId || startingHashKey === undefined || endingHashKey === undefined) throw incomplete();
  const isOpen = SequenceNumberRange?.EndingSequenceNumber == null;
  return isOpen ? { shardId: ShardId, startingHashKey, endingHashKey } : undefined;
}

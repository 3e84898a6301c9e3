import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import { pages } from '../../lib/core/kernel/pages';
import type { ListedShard } from '../../lib/core/resharding/reshard-client';
import type { HashKeyRange } from '../../lib/core/stream-format/hash-key-ranges';
import { parseHashKey } from '../../lib/core/stream-format/hash-key-space';

/** A shard of a stream, open or closed. */
export interface Shard extends HashKeyRange {
  readonly shardId: string;
  readonly isOpen: boolean;
  /** The sequence number at which the shard begins. Absent if the response does not contain it. */
  readonly startingSequenceNumber?: string;
  /** The sequence number at which the shard ends. Only a closed shard has it. */
  readonly endingSequenceNumber?: string;
  /** The shards whose split or merge created this shard. */
  readonly parents: readonly string[];
}

/** The fields of a shard that the command reads. */
interface ListedShardOfFamily extends ListedShard {
  readonly SequenceNumberRange?:
    | { StartingSequenceNumber?: string | undefined; EndingSequenceNumber?: string | undefined }
    | undefined;
  readonly ParentShardId?: string | undefined;
  readonly AdjacentParentShardId?: string | undefined;
}

/** The part of a Kinesis client that the command uses. */
export interface ListShardsClient {
  listShards(input: {
    StreamName?: string;
    StreamARN?: string;
    NextToken?: string;
  }): Promise<{ Shards?: ListedShardOfFamily[] | undefined; NextToken?: string | undefined }>;
}

/** All shards of a stream that still have records, in the order of their hash keys. Shards with equal ranges are in the order of their age. */
export async function listShards(
  client: ListShardsClient,
  stream: { StreamName: string } | { StreamARN: string },
): Promise<Shard[]> {
  const listed: ListedShardOfFamily[] = [];
  const read = (token: string | undefined) => client.listShards(token === undefined ? stream : { NextToken: token });
  for await (const page of pages('ListShards', read, ({ NextToken }) => NextToken)) {
    if (!Array.isArray(page?.Shards)) throw incomplete();
    listed.push(...page.Shards);
  }
  return listed
    .map(shardOf)
    .sort((a, b) => compare(a.startingHashKey, b.startingHashKey) || compare(a.shardId, b.shardId));
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function shardOf(listed: ListedShardOfFamily): Shard {
  const { ShardId, HashKeyRange, SequenceNumberRange, ParentShardId, AdjacentParentShardId } = listed;
  const [startingHashKey, endingHashKey] = [HashKeyRange?.StartingHashKey, HashKeyRange?.EndingHashKey].map((text) =>
    typeof text === 'string' ? parseHashKey(text) : undefined,
  );
  if (!ShardId || startingHashKey === undefined || endingHashKey === undefined) throw incomplete();
  const startingSequenceNumber = SequenceNumberRange?.StartingSequenceNumber ?? undefined;
  const endingSequenceNumber = SequenceNumberRange?.EndingSequenceNumber ?? undefined;
  const isOpen = endingSequenceNumber === undefined;
  const parents = [ParentShardId, AdjacentParentShardId].filter((parent) => parent !== undefined && parent !== null);
  return {
    shardId: ShardId,
    startingHashKey,
    endingHashKey,
    isOpen,
    parents,
    ...(startingSequenceNumber !== undefined && { startingSequenceNumber }),
    ...(endingSequenceNumber !== undefined && { endingSequenceNumber }),
  };
}

function incomplete(): IncompleteAnswerError {
  return new IncompleteAnswerError('ListShards', 'shards with ids and hash key ranges');
}

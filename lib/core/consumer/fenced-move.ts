/** One attempt to move one partition key to another hash key, as its two fences name it. */
export interface FencedMove {
  /** The id in the fences. */
  moveId: string;
  /** The partition key of the fences. */
  partitionKey: string;
}

/** What the readers of all shards know of a move. */
export interface MoveProgress {
  /** Whether every record in front of the `end` fence has been processed, or the consumer no longer waits for the move. */
  hasEnded: boolean;
  /** How long readers have waited for the `end` fence, in milliseconds. */
  waitedMs: number;
}

/**
 * A move as a parking store knows it. The source is part of the name: a stream into which another stream is copied has the same
 * fences, and progress in one stream says nothing about the other.
 */
export function moveOfSource(source: string, { moveId, partitionKey }: FencedMove): FencedMove {
  return { moveId: `${source}/${moveId}`, partitionKey };
}

/** One attempt to move one partition key to another hash key, as identified by its two fences. */
export interface FencedMove {
  /** The id in the fences. */
  moveId: string;
  /** The partition key of the fences. */
  partitionKey: string;
}

/** The progress of a move, as the readers of all shards know it. */
export interface MoveProgress {
  /** Whether all records before the `end` fence are processed, or the consumer no longer waits for the move. */
  hasEnded: boolean;
  /** How long readers have waited for the `end` fence, in milliseconds. */
  waitedMs: number;
}

/**
 * The id of a move in a parking store, which includes the source. A copy of a stream contains the same fences, but has its own
 * progress.
 */
export function moveOfSource(source: string, { moveId, partitionKey }: FencedMove): FencedMove {
  return { moveId: `${source}/${moveId}`, partitionKey };
}

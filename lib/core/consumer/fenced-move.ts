/** One attempt to move one partition key to another hash key. The two fences of the attempt have the same id. */
export interface FencedMove {
  /** The id in the fences. */
  moveId: string;
  /** The partition key of the fences. */
  partitionKey: string;
}

/** The progress of a move. The readers of all shards share it. */
export interface MoveProgress {
  /** Whether all records before the `end` fence are processed, or the consumer no longer waits for the move. */
  hasEnded: boolean;
  /** How long readers have waited for the `end` fence in total, in milliseconds. */
  waitedMs: number;
}

/**
 * Returns the move as a parking store knows it: its id includes the name of the source. Two streams can contain the same fences,
 * and the move then has its own progress in each stream.
 */
export function moveOfSource(source: string, { moveId, partitionKey }: FencedMove): FencedMove {
  return { moveId: `${source}/${moveId}`, partitionKey };
}

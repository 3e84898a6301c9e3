import { RecentMap } from '../kernel/recent-map';

/** One attempt to move one partition key to another hash key, as its two fences name it. */
export interface FencedMove {
  /** The id in the fences. */
  moveId: string;
  /** The partition key of the fences. */
  partitionKey: string;
}

/** What the readers of all shards know of a move. */
export interface MoveProgress {
  /** Whether every record in front of the `end` fence has been processed, or the move has been let go. */
  hasEnded: boolean;
  /** How long readers have waited for the `end` fence, in milliseconds. */
  waitedMs: number;
}

/**
 * What a `FenceGate` needs to know across shards, processes and restarts. `DynamoDbFenceStore` and `MemoryFenceStore`
 * implement it.
 *
 * A caller repeats either method if its answer was lost. Neither needs a condition: a move that has ended stays so, and a
 * waiting time only grows.
 */
export interface FenceStore {
  /** Records that the move has ended. */
  end(move: FencedMove): Promise<void>;
  /** Adds to the time that readers have waited for the move, and returns what is known then. Add 0 to only ask. */
  wait(move: FencedMove, waitedMs: number): Promise<MoveProgress>;
}

/**
 * Keeps moves in memory, for a consumer that reads all shards in one process. It forgets them with the process: reading
 * then goes on at once where the `end` fence is read again, and after the waiting time of the gate where it is not.
 */
export class MemoryFenceStore implements FenceStore {
  private readonly moves: RecentMap<string, MoveProgress>;

  /** @param mostMoves the most moves of a key to remember; beyond it, the store forgets the one used the longest ago */
  constructor(mostMoves = 10_000) {
    this.moves = new RecentMap(mostMoves);
  }

  async end(move: FencedMove): Promise<void> {
    this.update(move, { hasEnded: true });
  }

  async wait(move: FencedMove, waitedMs: number): Promise<MoveProgress> {
    const before = this.moves.get(nameOfMove(move))?.waitedMs ?? 0;
    return this.update(move, { waitedMs: before + waitedMs });
  }

  private update(move: FencedMove, changes: Partial<MoveProgress>): MoveProgress {
    const name = nameOfMove(move);
    const progress = { hasEnded: false, waitedMs: 0, ...this.moves.get(name), ...changes };
    this.moves.set(name, progress);
    return progress;
  }
}

/**
 * The moves of one source. A stream into which another one is copied has the same fences, and what was read of one says nothing
 * about the other.
 */
export function movesOf(store: FenceStore, source: string): FenceStore {
  const named = ({ moveId, partitionKey }: FencedMove) => ({ moveId: `${source}/${moveId}`, partitionKey });
  return { end: (move) => store.end(named(move)), wait: (move, waitedMs) => store.wait(named(move), waitedMs) };
}

/** Tells moves apart, and the partition keys of one move. */
export function nameOfMove({ moveId, partitionKey }: FencedMove): string {
  return JSON.stringify([moveId, partitionKey]);
}

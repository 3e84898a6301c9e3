import { EvenShardsError } from '../foundation/errors';
import type { RebalanceMove } from './rebalance-plan';

/**
 * A rebalance ended early: it needs several commits, and one after the first failed. The moves of the commits before are
 * made. If the answer of the store was lost, those of the failed commit may be made too, and a new plan leaves them out.
 */
export class PartialRebalanceError extends EvenShardsError {
  // Moves name owners and hash keys, and loggers write every enumerable property of an error.
  readonly #moves: readonly RebalanceMove[];

  constructor(moves: readonly RebalanceMove[], cause: Error) {
    const summary = `${moves.length} moves were made, and then a commit failed`;
    super('PARTIAL_REBALANCE', `${summary}: ${cause.message}`, { cause, summary: `${summary}: ${cause.name}` });
    this.#moves = moves;
  }

  /** The moves that are made. The `cause` tells why the next commit failed. */
  get moves(): readonly RebalanceMove[] {
    return this.#moves;
  }
}

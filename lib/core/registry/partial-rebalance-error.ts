import { EvenShardsError } from '../foundation/errors';
import type { RebalanceMove } from './rebalance-plan';

/**
 * A rebalance ended early: it needs several commits, and one after the first failed. The moves of the commits before are
 * made. If the answer of the store was lost, those of the failed commit may be made too, and a new plan leaves them out.
 */
export class PartialRebalanceError extends EvenShardsError {
  constructor(
    /** The moves that are made. */
    readonly moves: readonly RebalanceMove[],
    /** Why the next commit failed. */
    override readonly cause: Error,
  ) {
    super('PARTIAL_REBALANCE', `${moves.length} moves were made, and then a commit failed: ${cause.message}`);
  }
}

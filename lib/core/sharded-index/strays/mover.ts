import type { ShardedConfig } from '../config/sharded-index-config';
import type { JudgingConfig } from './judging-config';
import type { Stray } from './stray';
import type { ReshardItemsReport, StrayOutcome } from './stray-report';
import type { TableRequests } from './table-requests';
import type { UnitBudget } from './unit-budget';

/**
 * Moves a stray to its shard. It returns `changed` if the item or the counts have changed meanwhile, and the item must be
 * read again.
 */
export type Mover = (
  stray: Stray,
  judgedBy: ShardedConfig,
) => Promise<[outcome: StrayOutcome, problem?: string] | 'changed'>;

/** What a mover needs: how to judge items, how to send requests, and where to count what they cost. */
export interface MoverContext {
  judging: JudgingConfig;
  requests: TableRequests;
  writes: UnitBudget;
  report: ReshardItemsReport;
}

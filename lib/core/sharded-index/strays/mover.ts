import type { ShardedConfig } from '../config/sharded-index-config';
import type { JudgingConfig } from './judging-config';
import type { Stray } from './stray';
import type { ReshardItemsReport, StrayOutcome } from './stray-report';
import type { TableRequests } from './table-requests';
import type { UnitBudget } from './unit-budget';

/** Takes a stray to its shard. `changed` says that the item, or the counts, are not as they were: look at it again. */
export type Mover = (
  stray: Stray,
  judgedBy: ShardedConfig,
) => Promise<[outcome: StrayOutcome, problem?: string] | 'changed'>;

/** What sends the requests of a mover, and counts what they cost. */
export interface MoverContext {
  judging: JudgingConfig;
  requests: TableRequests;
  writes: UnitBudget;
  report: ReshardItemsReport;
}

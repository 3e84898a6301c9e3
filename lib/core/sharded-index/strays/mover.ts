import type { UnitBudget } from '../../kernel/unit-budget';
import type { ShardedConfig } from '../config/sharded-index-config';
import type { CurrentConfig } from './current-config';
import type { Stray } from './stray';
import type { ReshardItemsReport, StrayOutcome } from './stray-report';
import type { TableRequests } from './table-requests';

/**
 * Moves a stray to its shard. Returns `changed` if the item or the counts have changed since they were read, so that
 * the caller must read the item again.
 */
export type Mover = (
  stray: Stray,
  checkedWith: ShardedConfig,
) => Promise<[outcome: StrayOutcome, problem?: string] | 'changed'>;

/**
 * The services that a mover uses: the current configuration, the requests, the write budget, and the report that counts
 * the cost.
 */
export interface MoverContext {
  current: CurrentConfig;
  requests: TableRequests;
  writes: UnitBudget;
  report: ReshardItemsReport;
}

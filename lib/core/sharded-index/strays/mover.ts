import type { Stray } from './stray';
import type { ReshardItemsReport, StrayOutcome } from './stray-report';
import type { TableRequests } from './table-requests';
import type { UnitBudget } from './unit-budget';

/** Takes a stray to its shard. `changed` says that the item is not as it was read: look at it again. */
export type Mover = (stray: Stray) => Promise<[outcome: StrayOutcome, problem?: string] | 'changed'>;

/** What sends the requests of a mover, and counts what they cost. */
export interface MoverContext {
  requests: TableRequests;
  writes: UnitBudget;
  report: ReshardItemsReport;
}

import type { PageState } from './page-state';
import type { ReadBudget } from './read-budget';
import type { ShardRequests } from './shard-requests';

/** The state that the functions share while they fill a page. */
export interface PageContext<T> extends PageState<T> {
  readonly requests: ShardRequests<T>;
  readonly budget: ReadBudget;
}

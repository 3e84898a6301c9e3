import type { PageState } from './page-state';
import type { ReadBudget } from './read-budget';
import type { ShardRequests } from './shard-requests';

/** Everything that the functions that fill one page share. */
export interface PageContext<T> extends PageState<T> {
  readonly requests: ShardRequests<T>;
  readonly budget: ReadBudget;
}

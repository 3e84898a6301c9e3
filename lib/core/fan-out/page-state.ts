import type { ItemSizes } from './item-sizes';
import type { PageInProgress } from './page-in-progress';
import type { ShardBuffer } from './shard-buffer';
import type { ComparePositions } from './total-order';

/** The state of a page while it is being filled. The plan of a wave depends only on this state. */
export interface PageState<T> {
  readonly buffers: readonly ShardBuffer<T>[];
  readonly compare: ComparePositions<T>;
  readonly page: PageInProgress<T>;
  readonly sizes: ItemSizes;
}

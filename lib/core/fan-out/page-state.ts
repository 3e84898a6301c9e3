import type { ItemSizes } from './item-sizes';
import type { PageInProgress } from './page-in-progress';
import type { ShardBuffer } from './shard-buffer';
import type { ComparePositions } from './total-order';

/** A page while it is being filled, and what is known about the rest. The plan of a wave depends on nothing else. */
export interface PageState<T> {
  /** The shards that may hold items of the page, with what was read of them. */
  readonly buffers: readonly ShardBuffer<T>[];
  readonly compare: ComparePositions<T>;
  readonly page: PageInProgress<T>;
  readonly sizes: ItemSizes;
}

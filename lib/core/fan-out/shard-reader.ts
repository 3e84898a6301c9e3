import type { Item } from './query-client';

/** One answer of a store about one shard. */
export interface ShardPage {
  /** The next items of the shard, in the order of the query. May be empty although more follow. */
  items: Item[];
  /** Whether the shard has nothing behind these items. */
  exhausted: boolean;
  /** How many items the store evaluated, before filters. */
  itemsRead: number;
  consumedReadUnits: number;
}

/** Reads one shard from its start, or from where a cursor left it, to its end. */
export interface ShardReader {
  readonly shard: number;
  /** Whether there is nothing to read at all. */
  readonly exhausted: boolean;
  /** The next page. `limit` bounds the items evaluated; without it the store decides. */
  read(limit: number | undefined): Promise<ShardPage>;
}

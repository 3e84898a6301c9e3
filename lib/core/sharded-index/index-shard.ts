import { MAX_INDEX_SHARDS } from '../foundation/shard-count';
import type { FanOutRequest } from './fan-out-request';
import { type ShardedConfig, shardCountOf } from './sharded-index-config';

/** One shard of one value of an index. */
export interface IndexShard {
  /**
   * The place of the shard in the order of the query. The shards of the n-th value, from 0, have the numbers from n times
   * 10,000 on. So no number depends on the shard count of another value, and a count may change between two pages.
   */
  number: number;
  /** Absent if the index covers the whole table. */
  value?: string | number;
  /** The 0-based number of the shard among those of its value. */
  shard: number;
}

/** The shards that a request reads, in their order. */
export function indexShards(config: ShardedConfig, { value, values }: FanOutRequest): IndexShard[] {
  return (values ?? [value]).flatMap((each, index) =>
    Array.from({ length: shardCountOf(config, each).read }, (_, shard) => ({
      number: index * MAX_INDEX_SHARDS + shard,
      value: each,
      shard,
    })),
  );
}

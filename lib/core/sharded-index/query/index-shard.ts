import { MAX_INDEX_SHARDS } from '../../sharding/shard-count';
import { type ShardedConfig, shardCountOf } from '../config/sharded-index-config';
import type { RequestedValue } from './fan-out-request';

/** One shard of one value of an index. */
export interface IndexShard extends RequestedValue {
  /**
   * The position of the shard in the order of the query. The numbers grow by 10,000 with each value: shard 2 of the
   * second value has the number 10,002. So the shard count of one value can change between two pages without changing
   * the numbers of other values.
   */
  number: number;
  /** The 0-based number of the shard among the shards of its value. */
  shard: number;
}

/** The shards of these values, value by value as the query lists them. */
export function indexShards(config: ShardedConfig, values: readonly RequestedValue[]): IndexShard[] {
  return values.flatMap((value, index) =>
    Array.from({ length: shardCountOf(config, value.name).read }, (_, shard) => ({
      number: index * MAX_INDEX_SHARDS + shard,
      ...value,
      shard,
    })),
  );
}

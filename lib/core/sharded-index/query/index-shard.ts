import { MAX_INDEX_SHARDS } from '../../sharding/shard-count';
import { type ShardedConfig, shardCountOf } from '../config/sharded-index-config';
import { type FanOutRequest, type FanOutValue, plainValue } from './fan-out-request';

/** One shard of one value of an index. */
export interface IndexShard {
  /**
   * The place of the shard in the order of the query. The shards of the n-th value, from 0, have the numbers from n times
   * 10,000 on. So no number depends on the shard count of another value, and a count may change between two pages.
   */
  number: number;
  /** Absent if the index covers the whole table. */
  value?: FanOutValue;
  /** The value as keys and shard counts have it. */
  name?: string | number;
  /** The 0-based number of the shard among those of its value. */
  shard: number;
}

/** The shards that a request reads, in their order. */
export function indexShards(config: ShardedConfig, { value, values }: FanOutRequest): IndexShard[] {
  return (values ?? [value]).flatMap((each, index) => {
    const of: Pick<IndexShard, 'value' | 'name'> = each === undefined ? {} : { value: each, name: plainValue(each) };
    return Array.from({ length: shardCountOf(config, of.name).read }, (_, shard) => ({
      number: index * MAX_INDEX_SHARDS + shard,
      ...of,
      shard,
    }));
  });
}

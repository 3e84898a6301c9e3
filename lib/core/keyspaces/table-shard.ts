import { MAX_INDEX_SHARDS } from '../sharding/shard-count';
import type { ColumnValue } from './column-value';
import type { RowSelect } from './row-select';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { shardsOfValue } from './shards-of-value';

/** One shard of one value of a table. */
export interface TableShard {
  /**
   * The position of the shard in the order of the query: what the shard column holds, plus n times 10,000 for the n-th value,
   * counted from 0. So no number depends on the shard count of another value, and a count may change between two pages.
   */
  number: number;
  /** The value: the columns of the partition key without the shard. */
  partition: readonly ColumnValue[];
  /** What the shard column holds. */
  shard: number;
}

/** The shards that a query reads, in their order. */
export function tableShards(config: ShardedKeyspacesConfig, { partitions }: RowSelect): TableShard[] {
  return partitions.flatMap((partition, index) =>
    Array.from({ length: shardsOfValue(config, partition).read }, (_, each) => {
      const shard = config.firstShard + each;
      return { number: index * MAX_INDEX_SHARDS + shard, partition, shard };
    }),
  );
}

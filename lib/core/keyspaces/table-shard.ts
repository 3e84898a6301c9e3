import { MAX_INDEX_SHARDS } from '../sharding/shard-count';
import type { ColumnValue } from './column-value';
import type { RowSelect } from './row-select';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { shardsOfValue } from './shards-of-value';

/** One shard of one value of a table. */
export interface TableShard {
  /**
   * The position of the shard in the order of the query: the shard number, plus 10,000 for each earlier value of the
   * query. So the shard count of one value can change between two pages without changing the numbers of
   * other values.
   */
  number: number;
  /** The value: the columns of the partition key except the shard column. */
  partition: readonly ColumnValue[];
  /** The value of the shard column. */
  shard: number;
}

/** The shards of a query, in the order of the query. */
export function tableShards(config: ShardedKeyspacesConfig, { partitions }: RowSelect): TableShard[] {
  return partitions.flatMap((partition, index) =>
    Array.from({ length: shardsOfValue(config, partition).read }, (_, each) => {
      const shard = config.firstShard + each;
      return { number: index * MAX_INDEX_SHARDS + shard, partition, shard };
    }),
  );
}

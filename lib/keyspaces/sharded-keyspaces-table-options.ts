import type { ShardCounts } from '../table/index/shard-counts';
import type { ShardingStrategy } from '../table/index/sharding-strategy';
import type { KeyspacesClusteringColumn, KeyspacesColumn } from './keyspaces-column';

/** What a sharded Cassandra table is, whether it is created or imported. */
export interface ShardedKeyspacesTableOptions {
  /** The name of the keyspace: `keyspace.ref` of a `CfnKeyspace`, or that of one that exists. */
  readonly keyspaceName: string;

  /** The name of the table: 1 to 48 letters, digits and underscores, not starting with an underscore. */
  readonly tableName: string;

  /**
   * The columns of the partition key but for the shard: what rows are read by, such as a date or a tenant. The table's
   * partition key is these columns and then the shard column.
   */
  readonly partitionKey: KeyspacesColumn[];

  /**
   * The columns by which the rows of a partition are sorted and told apart: at least one, for without a partition has room
   * for one row alone, and the next would overwrite it.
   */
  readonly clusteringColumns: KeyspacesClusteringColumn[];

  /**
   * How many shards each value of the partition key is spread over. Counts by value name a value as text, and one of
   * several columns with "#" between them. `cdk diff` shows a change in the metadata of the table, and synthesis warns of a
   * step that is skipped if the context `even-shards:deployedAssembly` names a folder with the template that was deployed.
   */
  readonly shardCounts: ShardCounts;

  /**
   * The `int` column of the partition key that holds the shard. Writers set it.
   *
   * @default shard
   */
  readonly shardColumn?: string;

  /**
   * What the shard column holds for the first shard of a value; the others count up from it. It cannot change while the
   * table holds rows.
   *
   * @default 0
   */
  readonly firstShard?: number;

  /**
   * How writers pick the shard of a row. A calculated one follows from clustering columns, so that a row that is written
   * again is found in its place, and one row is read by one SELECT.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;

  /**
   * The clustering columns that a calculated shard follows from. They cannot change while the table holds rows.
   *
   * @default - all of them
   */
  readonly calculatedFrom?: string[];
}

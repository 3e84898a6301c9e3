import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { ShardCounts } from '../table/index/shard-counts';
import type { ShardingStrategy } from '../table/index/sharded-index-options';
import type { CqlType } from './cql-type';
import type { KeyspacesBilling } from './keyspaces-billing';

/** Options of a sharded Cassandra table, for a new and for an imported table. */
export interface ShardedKeyspacesTableOptions {
  /** The name of the keyspace: `keyspace.ref` of a `CfnKeyspace`, or the name of an existing keyspace. */
  readonly keyspaceName: string;

  /** The name of the table: 1 to 48 letters, digits and underscores, not starting with an underscore. */
  readonly tableName: string;

  /**
   * The columns of the partition key without the shard, such as a date or a tenant. A query names the values of these
   * columns. The partition key of the table consists of these columns, followed by the shard column.
   */
  readonly partitionKey: KeyspacesColumn[];

  /**
   * The clustering columns, which sort and identify the rows of a partition. A new table needs at least one
   * clustering column, because otherwise the next row of a partition would overwrite the previous row. Only an import
   * can lack clustering columns, with the strategy `RANDOM`: queries read such a table, and `shardColumns` rejects it.
   */
  readonly clusteringColumns: KeyspacesClusteringColumn[];

  /**
   * The number of shards of each value of the partition key. For counts by value, write each value as text. If the
   * partition key has several columns, join the texts of their values with "#".
   *
   * `cdk diff` shows a changed count in the metadata of the table. If the context `even-shards:deployedAssembly` names
   * a folder with the deployed template, synthesis warns about a change that skips a step of `ShardCounts`.
   */
  readonly shardCounts: ShardCounts;

  /**
   * The `int` column of the partition key that holds the shard. Writers set it.
   *
   * @default shard
   */
  readonly shardColumn?: string;

  /**
   * The number of the first shard of a value. The other shards have the next numbers. Do not change this number while
   * the table holds rows.
   *
   * @default 0
   */
  readonly firstShard?: number;

  /**
   * How writers choose the shard of a row. A calculated shard depends on clustering columns. So a second write of a row
   * replaces the row, and an application can read a row with one SELECT.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;

  /**
   * The clustering columns from which a shard is calculated. Do not change these columns while the table holds rows.
   *
   * @default - all clustering columns
   */
  readonly calculatedFrom?: string[];
}

/** Properties of a `ShardedKeyspacesTable`. */
export interface ShardedKeyspacesTableProps extends ShardedKeyspacesTableOptions {
  /**
   * The columns that are not part of the key. CloudFormation does not support static columns: add them in CQL, and import the table.
   *
   * @default - the table has only the columns of its key
   */
  readonly regularColumns?: KeyspacesColumn[];

  /**
   * The billing mode of the table.
   *
   * @default - on demand
   */
  readonly billing?: KeyspacesBilling;

  /**
   * Whether the table can be restored to any second of the last 35 days.
   *
   * @default true
   */
  readonly pointInTimeRecovery?: boolean;

  /**
   * A customer-managed key for the encryption of the table.
   *
   * @default - a key that AWS owns
   */
  readonly encryptionKey?: kms.IKey;

  /**
   * The time to live of a row if its writer sets no time to live. Whole seconds, at most 630,720,000, which are 20 years.
   *
   * @default - rows do not expire
   */
  readonly defaultTimeToLive?: Duration;

  /**
   * Whether writers can set the timestamp of a write. Of two writes to a column of a row, Amazon Keyspaces keeps the write with
   * the later timestamp. You cannot turn off this option later. A table that is replicated to another region needs such
   * timestamps.
   *
   * @default false
   */
  readonly clientSideTimestamps?: boolean;

  /**
   * Enables a change data capture stream for the table, and chooses the content of the stream for each change.
   *
   * @default - the table has no change data capture stream
   */
  readonly changeStream?: KeyspacesChangeView;

  /**
   * The removal policy of the table.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** A column of a Cassandra table. */
export interface KeyspacesColumn {
  /** 1 to 48 letters, digits and underscores, not starting with an underscore. */
  readonly name: string;

  /** The CQL type of the column. */
  readonly cqlType: CqlType;
}

/** The order of the rows of a partition by a clustering column. */
export enum ClusteringOrder {
  /** The smallest value first. */
  ASCENDING = 'ASC',
  /** The largest value first, for example if readers need the newest rows. */
  DESCENDING = 'DESC',
}

/** A clustering column, which sorts and identifies the rows of a partition. */
export interface KeyspacesClusteringColumn extends KeyspacesColumn {
  /**
   * The order of the rows. Queries can also use the reverse order.
   *
   * @default ClusteringOrder.ASCENDING
   */
  readonly order?: ClusteringOrder;
}

/** The content of the change data capture stream for each change. */
export enum KeyspacesChangeView {
  /** The row after the change. */
  NEW_IMAGE = 'NEW_IMAGE',
  /** The row before the change. */
  OLD_IMAGE = 'OLD_IMAGE',
  /** The row before and after the change. */
  NEW_AND_OLD_IMAGES = 'NEW_AND_OLD_IMAGES',
  /** Only the key of the row. */
  KEYS_ONLY = 'KEYS_ONLY',
}

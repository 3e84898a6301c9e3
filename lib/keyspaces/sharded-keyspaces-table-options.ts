import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { ShardCounts } from '../table/index/shard-counts';
import type { ShardingStrategy } from '../table/index/sharded-index-options';
import type { CqlType } from './cql-type';
import type { KeyspacesBilling } from './keyspaces-billing';

/** What a sharded Cassandra table is, whether it is created or imported. */
export interface ShardedKeyspacesTableOptions {
  /** The name of the keyspace: `keyspace.ref` of a `CfnKeyspace`, or that of one that exists. */
  readonly keyspaceName: string;

  /** The name of the table: 1 to 48 letters, digits and underscores, not starting with an underscore. */
  readonly tableName: string;

  /**
   * The columns of the partition key without the shard, such as a date or a tenant: a query names their values. The table's
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

/** Properties of a `ShardedKeyspacesTable`. */
export interface ShardedKeyspacesTableProps extends ShardedKeyspacesTableOptions {
  /**
   * The columns that are no part of the key. CloudFormation has no static columns: add those in CQL, and import the table.
   *
   * @default - the table has only the columns of its key
   */
  readonly regularColumns?: KeyspacesColumn[];

  /**
   * How the table is billed.
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
   * A key of yours to encrypt the table with.
   *
   * @default - a key that AWS owns
   */
  readonly encryptionKey?: kms.IKey;

  /**
   * How long a row lives if its writer says nothing else. Whole seconds, at most 630,720,000, which are 20 years.
   *
   * @default - rows live for ever
   */
  readonly defaultTimeToLive?: Duration;

  /**
   * Whether writers give the time of a write, which decides which of two writes is the later one. It cannot be turned off
   * again; a table that is replicated to another region needs it.
   *
   * @default false
   */
  readonly clientSideTimestamps?: boolean;

  /**
   * A change data capture stream, and what it holds of each change.
   *
   * @default - the table has no change data capture stream
   */
  readonly changeStream?: KeyspacesChangeView;

  /**
   * What becomes of the table when it leaves the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** A column of a Cassandra table. */
export interface KeyspacesColumn {
  /** 1 to 48 letters, digits and underscores, not starting with an underscore. */
  readonly name: string;

  /** What the column holds. */
  readonly cqlType: CqlType;
}

/** The order in which a partition keeps its rows by a clustering column. */
export enum ClusteringOrder {
  /** The least first. */
  ASCENDING = 'ASC',
  /** The greatest first: for what is read from the newest on. */
  DESCENDING = 'DESC',
}

/** A column by which the rows of a partition are sorted, and told apart. */
export interface KeyspacesClusteringColumn extends KeyspacesColumn {
  /**
   * The order of the rows. Queries can have its reverse too.
   *
   * @default ClusteringOrder.ASCENDING
   */
  readonly order?: ClusteringOrder;
}

/** What the change data capture stream of a table holds of each change. */
export enum KeyspacesChangeView {
  /** The row as it is after the change. */
  NEW_IMAGE = 'NEW_IMAGE',
  /** The row as it was before the change. */
  OLD_IMAGE = 'OLD_IMAGE',
  /** The row before and after the change. */
  NEW_AND_OLD_IMAGES = 'NEW_AND_OLD_IMAGES',
  /** The key of the row alone. */
  KEYS_ONLY = 'KEYS_ONLY',
}

import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { KeyspacesBilling } from './keyspaces-billing';
import type { KeyspacesChangeView } from './keyspaces-change-view';
import type { KeyspacesColumn } from './keyspaces-column';
import type { ShardedKeyspacesTableOptions } from './sharded-keyspaces-table-options';

/** Properties of a `ShardedKeyspacesTable`. */
export interface ShardedKeyspacesTableProps extends ShardedKeyspacesTableOptions {
  /**
   * The columns that are no part of the key. CloudFormation has no static columns: add those in CQL, and import the table.
   *
   * @default - none
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
   * @default - for ever
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
   * @default - no stream
   */
  readonly changeStream?: KeyspacesChangeView;

  /**
   * What becomes of the table when it leaves the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

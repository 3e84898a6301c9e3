import type * as kms from 'aws-cdk-lib/aws-kms';
import type { ShardedKeyspacesTableOptions } from './sharded-keyspaces-table-options';

/** A sharded Cassandra table that exists, in the account and region of the stack. */
export interface ShardedKeyspacesTableAttributes extends ShardedKeyspacesTableOptions {
  /**
   * The names of the columns that are no part of the key, regular and static.
   *
   * @default - none: queries return key columns alone
   */
  readonly columnNames?: string[];

  /**
   * The key of yours that the table is encrypted with.
   *
   * @default - a key that AWS owns
   */
  readonly encryptionKey?: kms.IKey;
}

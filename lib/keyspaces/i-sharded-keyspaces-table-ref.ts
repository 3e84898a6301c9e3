import type { IResource } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';

/** What identifies a sharded Cassandra table, and all that permissions on it need to know. */
export interface IShardedKeyspacesTableRef extends IResource {
  /** The name of the keyspace. */
  readonly keyspaceName: string;

  /** The name of the table. */
  readonly tableName: string;

  /** The ARN of the table: `arn:aws:cassandra:region:account:/keyspace/<keyspace>/table/<table>`. */
  readonly tableArn: string;

  /** The key of yours that the table is encrypted with, if it is one. */
  readonly encryptionKey?: kms.IKey;
}

import * as iam from 'aws-cdk-lib/aws-iam';
import type { IShardedIndexRef } from './i-sharded-index-ref';

/**
 * The least permissions that a fan-out query needs on a sharded index.
 *
 * `TableV2.grantReadData` also allows scans and reads of the table, its streams and all its indexes; a query needs
 * none of them.
 */
export class ShardedIndexQueryGrants {
  /**
   * Permissions on one index.
   *
   * @param index the index to query
   */
  public static fromIndex(index: IShardedIndexRef): ShardedIndexQueryGrants {
    return new ShardedIndexQueryGrants(index);
  }

  private constructor(private readonly index: IShardedIndexRef) {}

  /**
   * Allows `dynamodb:Query` on exactly this index, and `kms:Decrypt` on the table's customer-managed key if it has one.
   *
   * The permission is added to the grantee. A grantee of another account also needs a resource policy on the table.
   *
   * @param grantee the role, function or other principal that queries
   */
  public query(grantee: iam.IGrantable): iam.Grant {
    const onIndex = iam.Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [this.index.indexArn],
    });
    const onKey = this.index.table.encryptionKey?.grant(grantee, 'kms:Decrypt');
    return onKey ? onIndex.combine(onKey) : onIndex;
  }
}

import * as iam from 'aws-cdk-lib/aws-iam';
import type { IShardedIndexRef } from './i-sharded-index-ref';

/**
 * The least permissions that queries of a sharded index need, and writers of its items, which are the items of its table.
 *
 * The grants of `TableV2` allow more: `readData` also scans and reads of the table, its streams and all its indexes;
 * `writeData` also `DeleteItem`, `BatchWriteItem`, which deletes as well, and `DescribeTable`. Grant them besides if an
 * application uses them.
 */
export class ShardedIndexGrants {
  /**
   * Permissions on one index.
   *
   * @param index the index to query, or whose items are written
   */
  public static fromIndex(index: IShardedIndexRef): ShardedIndexGrants {
    return new ShardedIndexGrants(index);
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

  /**
   * Allows `dynamodb:PutItem` and `dynamodb:UpdateItem` on exactly this table, also within transactions, and on the
   * table's customer-managed key, if it has one, what writing takes.
   *
   * The permission is added to the grantee. A grantee of another account also needs a resource policy on the table.
   *
   * @param grantee the role, function or other principal that writes
   */
  public write(grantee: iam.IGrantable): iam.Grant {
    const { tableArn, encryptionKey } = this.index.table;
    const onTable = iam.Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
      resourceArns: [tableArn],
    });
    const onKey = encryptionKey?.grantEncryptDecrypt(grantee);
    return onKey ? onTable.combine(onKey) : onTable;
  }
}

import * as iam from 'aws-cdk-lib/aws-iam';
import type { IShardedIndexRef } from './i-sharded-index-ref';

/**
 * The least permissions that an application needs to write the items of a sharded index, which are the items of its
 * table.
 *
 * `TableV2.grantWriteData` also allows `DeleteItem`, `BatchWriteItem`, which deletes as well, and `DescribeTable`. Grant
 * them besides if the application uses them.
 */
export class ShardedIndexWriteGrants {
  /**
   * Permissions on the table of one index.
   *
   * @param index the index whose items are written
   */
  public static fromIndex(index: IShardedIndexRef): ShardedIndexWriteGrants {
    return new ShardedIndexWriteGrants(index);
  }

  private constructor(private readonly index: IShardedIndexRef) {}

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

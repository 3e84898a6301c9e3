import type * as iam from 'aws-cdk-lib/aws-iam';
import { TABLE_WRITE_KEY_ACTIONS } from '../kms-actions';
import { grantOnTable } from './grant-on-table';
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
   * The permission is added to the grantee, and for a grantee of another account to the table's resource policy as well.
   * Where neither is possible, synthesis warns; the id is `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * @param grantee the role, function or other principal that queries
   */
  public query(grantee: iam.IGrantable): iam.Grant {
    return this.grant(grantee, ['dynamodb:Query'], this.index.indexArn, ['kms:Decrypt']);
  }

  /**
   * Allows `dynamodb:PutItem` and `dynamodb:UpdateItem` on exactly this table, also within transactions, and on the
   * table's customer-managed key, if it has one, what writing takes.
   *
   * The permission is added to the grantee, and for a grantee of another account to the table's resource policy as well.
   * Where neither is possible, synthesis warns; the id is `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * @param grantee the role, function or other principal that writes
   */
  public write(grantee: iam.IGrantable): iam.Grant {
    const actions = ['dynamodb:PutItem', 'dynamodb:UpdateItem'];
    return this.grant(grantee, actions, this.index.table.tableArn, TABLE_WRITE_KEY_ACTIONS);
  }

  /**
   * Allows `dynamodb:Scan`, `dynamodb:GetItem` and `dynamodb:UpdateItem` on exactly this table, which `findStrays` and
   * `reshardItems` need, and on the table's customer-managed key, if it has one, what writing takes.
   *
   * The permission is added to the grantee, and for a grantee of another account to the table's resource policy as well.
   * Where neither is possible, synthesis warns; the id is `cdk-even-shards:ShardedIndex.grantWithoutEffect`.
   *
   * @param grantee the role, function or other principal that looks for strays and moves them
   */
  public reshard(grantee: iam.IGrantable): iam.Grant {
    const actions = ['dynamodb:Scan', 'dynamodb:GetItem', 'dynamodb:UpdateItem'];
    return this.grant(grantee, actions, this.index.table.tableArn, TABLE_WRITE_KEY_ACTIONS);
  }

  private grant(grantee: iam.IGrantable, actions: string[], resourceArn: string, keyActions: string[]): iam.Grant {
    const { table, indexName } = this.index;
    const permission = { grantee, actions, resourceArn, keyActions };
    return grantOnTable(table, permission, { construct: 'ShardedIndex', name: indexName });
  }
}

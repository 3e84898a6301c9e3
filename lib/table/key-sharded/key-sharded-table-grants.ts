import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import { TABLE_WRITE_KEY_ACTIONS } from '../../construct/grant-on-key';
import { grantOnTable } from '../../construct/grant-on-table';

/**
 * The minimum permissions on a table that is sharded by its own key. They do not include permissions on the indexes of the table.
 *
 * The grants of `TableV2` allow more. `readData` also allows scans and reads of the streams and all indexes of the table.
 * `writeData` also allows batches and `DescribeTable`. If an application uses these actions, also call the grants of `TableV2`.
 *
 * A permission is added to the grantee. For a grantee of another account, it is also added to the resource policy of the table.
 * If neither is possible, synthesis warns with the id `cdk-even-shards:KeyShardedTable.grantWithoutEffect`.
 *
 * The property `shardGrants` of a table has these permissions.
 */
export class KeyShardedTableGrants {
  /** @internal */
  public static _of(table: dynamodb.ITableV2): KeyShardedTableGrants {
    return new KeyShardedTableGrants(table);
  }

  private constructor(private readonly table: dynamodb.ITableV2) {}

  /**
   * Allows `dynamodb:Query`, for `fanOutQuery`.
   *
   * @param grantee the role, function or other principal that queries
   */
  public query(grantee: iam.IGrantable): iam.Grant {
    return this.grant(grantee, ['dynamodb:Query'], ['kms:Decrypt']);
  }

  /**
   * Allows `dynamodb:GetItem`, also within transactions, for `shardKey` and `transactGet`.
   *
   * @param grantee the role, function or other principal that gets single items
   */
  public item(grantee: iam.IGrantable): iam.Grant {
    return this.grant(grantee, ['dynamodb:GetItem'], ['kms:Decrypt']);
  }

  /**
   * Allows `dynamodb:PutItem`, `UpdateItem`, `DeleteItem` and `ConditionCheckItem`, also within transactions. `transactPut`
   * needs `DeleteItem` and `ConditionCheckItem`: it deletes an item at its earlier places, or checks that the item is not at
   * these places.
   *
   * @param grantee the role, function or other principal that writes
   */
  public write(grantee: iam.IGrantable): iam.Grant {
    const actions = ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'].map((action) => `dynamodb:${action}`);
    return this.grant(grantee, actions, TABLE_WRITE_KEY_ACTIONS);
  }

  /**
   * Allows `dynamodb:Scan`, and getting, putting, deleting and checking single items, for `findStrays` and `reshardItems`.
   *
   * @param grantee the role, function or other principal that finds and moves items
   */
  public reshard(grantee: iam.IGrantable): iam.Grant {
    const actions = ['Scan', 'GetItem', 'PutItem', 'DeleteItem', 'ConditionCheckItem'].map(
      (each) => `dynamodb:${each}`,
    );
    return this.grant(grantee, actions, TABLE_WRITE_KEY_ACTIONS);
  }

  private grant(grantee: iam.IGrantable, actions: string[], keyActions: string[]): iam.Grant {
    const { table } = this;
    const permission = { grantee, actions, resourceArn: table.tableArn, keyActions };
    return grantOnTable(table, permission, { construct: 'KeyShardedTable', name: `the table ${table.node.id}` });
  }
}

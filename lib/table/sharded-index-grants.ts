import { Annotations, Token, TokenComparison } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { TABLE_WRITE_KEY_ACTIONS } from '../kms-actions';
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
    const { table } = this.index;
    const statement = { grantee, actions, resourceArns: [resourceArn] };
    // A policy of a table that names the table would be a circle, hence '*', as CDK's own grants have it.
    const onTable =
      table instanceof dynamodb.TableV2
        ? iam.Grant.addToPrincipalOrResource({ ...statement, resource: table, resourceSelfArns: ['*'] })
        : iam.Grant.addToPrincipal(statement);
    if (!onTable.success || isForeign(grantee, table)) warnOfNothing(grantee, this.index, actions);
    const onKey = table.encryptionKey?.grant(grantee, ...keyActions);
    return onKey ? onTable.combine(onKey) : onTable;
  }
}

/** Of another account than an imported table, whose resource policy is not this app's to change. */
function isForeign({ grantPrincipal }: iam.IGrantable, table: dynamodb.ITableV2): boolean {
  const { principalAccount } = grantPrincipal;
  if (principalAccount === undefined || table instanceof dynamodb.TableV2) return false;
  return Token.compareStrings(principalAccount, table.env.account) === TokenComparison.DIFFERENT;
}

function warnOfNothing(grantee: iam.IGrantable, { table, indexName }: IShardedIndexRef, actions: string[]): void {
  Annotations.of(table).addWarningV2(
    'cdk-even-shards:ShardedIndex.grantWithoutEffect',
    `${actions.join(' and ')} could not be allowed on ${indexName} to ${grantee.grantPrincipal}: allow it in the resource ` +
      'policy of the table, where the table is defined',
  );
}

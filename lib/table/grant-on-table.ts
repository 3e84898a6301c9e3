import { Annotations, Token, TokenComparison } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { grantOnKey } from '../construct/kept-table';

/** A permission on a table, or on one of its indexes. */
export interface TablePermission {
  readonly grantee: iam.IGrantable;
  readonly actions: string[];
  readonly resourceArn: string;
  /** The actions on the customer-managed key of the table, if it has one. */
  readonly keyActions: string[];
  /** The conditions of the permission on the table. */
  readonly conditions?: Record<string, Record<string, unknown>>;
}

/** The names in a warning: the construct that grants, and the resource of the permission. */
interface Granting {
  readonly construct: 'ShardedIndex' | 'KeyShardedTable';
  readonly name: string;
}

/**
 * Adds a permission to the grantee. For a grantee of another account, also adds the permission to the resource policy
 * of the table. Warns if neither is possible.
 */
export function grantOnTable(table: dynamodb.ITableV2, permission: TablePermission, granting: Granting): iam.Grant {
  const { grantee, actions, resourceArn, keyActions, conditions } = permission;
  const statement = { grantee, actions, resourceArns: [resourceArn], ...(conditions && { conditions }) };
  // A policy that names its own table would be a circular reference, so the resource is '*', as in the grants of CDK.
  const onTable =
    table instanceof dynamodb.TableV2
      ? iam.Grant.addToPrincipalOrResource({ ...statement, resource: table, resourceSelfArns: ['*'] })
      : iam.Grant.addToPrincipal(statement);
  if (!onTable.success || isInOtherAccount(grantee, table)) warnWithoutEffect(table, permission, granting);
  const onKey = table.encryptionKey && grantOnKey(table.encryptionKey, grantee, keyActions);
  return onKey ? onTable.combine(onKey) : onTable;
}

/**
 * Whether the grantee is in another account than an imported table. This app cannot change the resource policy of an imported
 * table.
 */
function isInOtherAccount({ grantPrincipal }: iam.IGrantable, table: dynamodb.ITableV2): boolean {
  const { principalAccount } = grantPrincipal;
  if (principalAccount === undefined || table instanceof dynamodb.TableV2) return false;
  return Token.compareStrings(principalAccount, table.env.account) === TokenComparison.DIFFERENT;
}

function warnWithoutEffect(
  table: dynamodb.ITableV2,
  { grantee, actions }: TablePermission,
  { construct, name }: Granting,
): void {
  Annotations.of(table).addWarningV2(
    `cdk-even-shards:${construct}.grantWithoutEffect`,
    `${actions.join(' and ')} could not be allowed on ${name} to ${grantee.grantPrincipal}: add the permission to the resource ` +
      'policy of the table, where the table is defined',
  );
}

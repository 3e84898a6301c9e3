import { Annotations, Token, TokenComparison } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { grantOnKey } from '../construct/kept-table';

/** What is allowed on a table, or on an index of it. */
export interface TablePermission {
  readonly grantee: iam.IGrantable;
  readonly actions: string[];
  readonly resourceArn: string;
  /** What is allowed on the customer-managed key of the table, if it has one. */
  readonly keyActions: string[];
  /** Under what conditions it is allowed on the table. */
  readonly conditions?: Record<string, Record<string, unknown>>;
}

/** What a warning calls the construct that grants, and what the permission is on. */
interface Granting {
  readonly construct: 'ShardedIndex' | 'KeyShardedTable';
  readonly name: string;
}

/**
 * Adds a permission to the grantee, and for a grantee of another account to the resource policy of the table as well. Warns
 * where neither is possible.
 */
export function grantOnTable(table: dynamodb.ITableV2, permission: TablePermission, granting: Granting): iam.Grant {
  const { grantee, actions, resourceArn, keyActions, conditions } = permission;
  const statement = { grantee, actions, resourceArns: [resourceArn], ...(conditions && { conditions }) };
  // A policy of a table that names the table would be a circle, hence '*', as CDK's own grants have it.
  const onTable =
    table instanceof dynamodb.TableV2
      ? iam.Grant.addToPrincipalOrResource({ ...statement, resource: table, resourceSelfArns: ['*'] })
      : iam.Grant.addToPrincipal(statement);
  if (!onTable.success || isForeign(grantee, table)) warnOfNothing(table, permission, granting);
  const onKey = table.encryptionKey && grantOnKey(table.encryptionKey, grantee, keyActions);
  return onKey ? onTable.combine(onKey) : onTable;
}

/** Of another account than an imported table, whose resource policy is not this app's to change. */
function isForeign({ grantPrincipal }: iam.IGrantable, table: dynamodb.ITableV2): boolean {
  const { principalAccount } = grantPrincipal;
  if (principalAccount === undefined || table instanceof dynamodb.TableV2) return false;
  return Token.compareStrings(principalAccount, table.env.account) === TokenComparison.DIFFERENT;
}

function warnOfNothing(
  table: dynamodb.ITableV2,
  { grantee, actions }: TablePermission,
  { construct, name }: Granting,
): void {
  Annotations.of(table).addWarningV2(
    `cdk-even-shards:${construct}.grantWithoutEffect`,
    `${actions.join(' and ')} could not be allowed on ${name} to ${grantee.grantPrincipal}: allow it in the resource ` +
      'policy of the table, where the table is defined',
  );
}

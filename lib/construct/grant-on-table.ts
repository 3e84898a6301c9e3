import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { grantOnKey } from './grant-on-key';
import { warnIfWithoutEffect } from './grant-without-effect';

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
  readonly construct: 'ShardedIndex' | 'KeyShardedTable' | 'OrderedStreamConsumer';
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
  const hasOwnPolicy = table instanceof dynamodb.TableV2;
  const onTable = hasOwnPolicy
    ? iam.Grant.addToPrincipalOrResource({ ...statement, resource: table, resourceSelfArns: ['*'] })
    : iam.Grant.addToPrincipal(statement);
  const remedy = 'allow it in the resource policy of the table, where the table is defined';
  warnIfWithoutEffect(table, onTable, { ...granting, grantee, actions, hasOwnPolicy, remedy });
  const onKey = table.encryptionKey && grantOnKey(table.encryptionKey, grantee, keyActions, granting.construct);
  return onKey ? onTable.combine(onKey) : onTable;
}

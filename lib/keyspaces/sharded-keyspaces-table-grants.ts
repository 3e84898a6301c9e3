import { type IResource, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { grantOnKey } from '../construct/grant-on-key';
import { warnIfWithoutEffect } from '../construct/grant-without-effect';

/** The table that the permissions are for. */
interface GrantedTable extends IResource {
  readonly tableArn: string;
  readonly encryptionKey?: kms.IKey;
}

/**
 * The system tables that a driver reads when it connects, and when it reads the columns of a table. Many policies allow `system*`
 * for this purpose, but these tables are enough.
 * Source: the drivers' control connections, and the Amazon Keyspaces developer guide, "System keyspaces".
 */
const DRIVER_TABLES = {
  system: ['local', 'peers', 'peers_v2'],
  system_schema: ['columns', 'keyspaces', 'tables', 'types'],
  system_schema_mcs: ['columns', 'keyspaces', 'tables', 'types'],
} as const;

/**
 * Grants the readers and writers of a sharded table only the permissions that they need. Use the property `grants` of
 * a table.
 *
 * A table of Amazon Keyspaces has no resource policy. For a grantee of another account, synthesis warns with the id
 * `cdk-even-shards:ShardedKeyspacesTable.grantWithoutEffect`.
 */
export class ShardedKeyspacesTableGrants {
  /** @internal */
  public static _of(table: GrantedTable): ShardedKeyspacesTableGrants {
    return new ShardedKeyspacesTableGrants(table);
  }

  private constructor(private readonly table: GrantedTable) {}

  /**
   * Allows `cassandra:Select` on this table only and on the system tables that drivers read. Allows `kms:Decrypt` on the
   * customer-managed key of the table, if it has one.
   *
   * @param grantee the role, function or other principal that reads
   */
  public selectRows(grantee: iam.IGrantable): iam.Grant {
    return this.onTable(grantee, 'cassandra:Select', ['kms:Decrypt']);
  }

  /**
   * Allows `cassandra:Modify` on this table only, and `cassandra:Select` on the system tables that drivers read. Allows the actions that
   * writes need on the customer-managed key of the table, if it has one.
   *
   * @param grantee the role, function or other principal that writes
   */
  public modifyRows(grantee: iam.IGrantable): iam.Grant {
    return this.onTable(grantee, 'cassandra:Modify', ['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey']);
  }

  private onTable(grantee: iam.IGrantable, action: string, keyActions: string[]): iam.Grant {
    const { tableArn, encryptionKey } = this.table;
    const grant = iam.Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [tableArn] }).combine(
      iam.Grant.addToPrincipal({
        grantee,
        actions: ['cassandra:Select'],
        resourceArns: Object.entries(DRIVER_TABLES).flatMap(([keyspace, tables]) =>
          tables.map((table) => keyspacesTableArn(Stack.of(this.table), keyspace, table)),
        ),
      }),
    );
    const [construct, name] = ['ShardedKeyspacesTable', `the table ${this.table.node.id}`];
    warnIfWithoutEffect(this.table, grant, { grantee, actions: [action], construct, name });
    const onKey = encryptionKey && grantOnKey(encryptionKey, grantee, keyActions, construct);
    return onKey ? grant.combine(onKey) : grant;
  }
}

/** Source: the service authorization reference, Amazon Keyspaces: resource types. */
export function keyspacesTableArn(stack: Stack, keyspaceName: string, tableName: string): string {
  return stack.formatArn({
    service: 'cassandra',
    resource: '/keyspace',
    resourceName: `${keyspaceName}/table/${tableName}`,
  });
}

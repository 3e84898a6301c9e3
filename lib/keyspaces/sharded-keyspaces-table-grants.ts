import { type IResource, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { grantOnKey } from '../construct/kept-table';

/** What permissions on a table need to know of it. */
interface GrantedTable extends IResource {
  readonly tableArn: string;
  readonly encryptionKey?: kms.IKey;
}

/**
 * The tables that a driver reads of its own accord when it connects, and when it looks up a table's columns.
 * Source: the drivers' control connections, and the Amazon Keyspaces developer guide, "System keyspaces". They are why a
 * wildcard on `system*` is seen so often; these are all there are to read.
 */
const DRIVER_TABLES = {
  system: ['local', 'peers', 'peers_v2'],
  system_schema: ['columns', 'keyspaces', 'tables', 'types'],
  system_schema_mcs: ['columns', 'keyspaces', 'tables', 'types'],
} as const;

/** The least permissions that work with a sharded table needs. A table has them as its `grants`. */
export class ShardedKeyspacesTableGrants {
  /** @internal */
  public static _of(table: GrantedTable): ShardedKeyspacesTableGrants {
    return new ShardedKeyspacesTableGrants(table);
  }

  private constructor(private readonly table: GrantedTable) {}

  /**
   * Allows `cassandra:Select` on exactly this table and on the system tables that drivers read, and `kms:Decrypt` on the
   * table's key if it is one of yours.
   *
   * @param grantee the role, function or other principal that reads
   */
  public selectRows(grantee: iam.IGrantable): iam.Grant {
    return this.onTable(grantee, 'cassandra:Select', ['kms:Decrypt']);
  }

  /**
   * Allows `cassandra:Modify` on exactly this table, `cassandra:Select` on the system tables that drivers read, and what
   * writing takes on the table's key if it is one of yours.
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
    const onKey = encryptionKey && grantOnKey(encryptionKey, grantee, keyActions);
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

import * as iam from 'aws-cdk-lib/aws-iam';
import type { HashKeyRegistry } from './hash-key-registry';

/**
 * The least permissions that callers of a hash key registry need.
 */
export class HashKeyRegistryGrants {
  /**
   * Permissions on one registry.
   *
   * @param registry the registry to ask
   */
  public static fromRegistry(registry: HashKeyRegistry): HashKeyRegistryGrants {
    return new HashKeyRegistryGrants(registry);
  }

  private constructor(private readonly registry: HashKeyRegistry) {}

  /**
   * Allows `lambda:InvokeFunction` on exactly the registry's function. A policy cannot tell its actions apart: whoever may
   * allocate may also release and rebalance.
   *
   * @param grantee the role, function or other principal that allocates
   */
  public allocate(grantee: iam.IGrantable): iam.Grant {
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ['lambda:InvokeFunction'],
      resourceArns: [this.registry.function.functionArn],
    });
  }

  /**
   * Allows `dynamodb:GetItem` on exactly the registry's table, and `kms:Decrypt` on its customer-managed key if it has
   * one: enough for `readOwners` of `cdk-even-shards/core`, and to change nothing.
   *
   * @param grantee the role, function or other principal that reads
   */
  public read(grantee: iam.IGrantable): iam.Grant {
    return this.onTable(grantee, ['dynamodb:GetItem'], ['kms:Decrypt']);
  }

  /** @internal The registry's own function. */
  public _serve(grantee: iam.IGrantable): void {
    const onKey = ['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'];
    this.onTable(grantee, ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Scan'], onKey);
    this.registry.stream.grant(grantee, 'kinesis:ListShards');
  }

  private onTable(grantee: iam.IGrantable, actions: string[], keyActions: string[]): iam.Grant {
    const { table } = this.registry;
    const onTable = iam.Grant.addToPrincipal({ grantee, actions, resourceArns: [table.tableArn] });
    const onKey = table.encryptionKey?.grant(grantee, ...keyActions);
    return onKey ? onTable.combine(onKey) : onTable;
  }
}

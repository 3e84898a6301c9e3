import * as iam from 'aws-cdk-lib/aws-iam';
import type { IHashKeyRegistryRef } from './i-hash-key-registry-ref';

/**
 * The least permissions that callers of a hash key registry need.
 */
export class HashKeyRegistryGrants {
  /**
   * Permissions on one registry.
   *
   * @param registry the registry to ask
   */
  public static fromRegistry(registry: IHashKeyRegistryRef): HashKeyRegistryGrants {
    return new HashKeyRegistryGrants(registry);
  }

  private constructor(private readonly registry: IHashKeyRegistryRef) {}

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
      resourceArns: [this.registry.functionArn],
    });
  }

  /**
   * Allows `dynamodb:GetItem` on exactly the registry's table, and `kms:Decrypt` on its customer-managed key if it has
   * one: enough for `readOwners` of `cdk-even-shards/core`, and to change nothing.
   *
   * @param grantee the role, function or other principal that reads
   */
  public read(grantee: iam.IGrantable): iam.Grant {
    const { tableArn, encryptionKey } = this.registry;
    const onTable = iam.Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:GetItem'],
      resourceArns: [tableArn],
    });
    const onKey = encryptionKey?.grant(grantee, 'kms:Decrypt');
    return onKey ? onTable.combine(onKey) : onTable;
  }
}

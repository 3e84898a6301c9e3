import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { ALLOCATE_ALIAS, QUERY_ALIAS } from '../../core/registry/registry-aliases';

/** What identifies a hash key registry, and all that permissions on it need to know. */
export interface IHashKeyRegistryRef {
  /** The ARN of the function that answers requests. */
  readonly functionArn: string;

  /** The ARN of the table that has the owners. Change the table through the function alone. */
  readonly tableArn: string;

  /** The customer-managed key that the table is encrypted with, if it has one. */
  readonly encryptionKey?: kms.IKey;
}

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
   * Allows `lambda:InvokeFunction` on exactly the alias `query` of the registry's function, which takes the actions `get`,
   * `list` and `plan`, and changes nothing.
   *
   * @param grantee the role, function or other principal that looks owners up
   */
  public query(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee, `${this.registry.functionArn}:${QUERY_ALIAS}`);
  }

  /**
   * Allows `lambda:InvokeFunction` on exactly the alias `allocate` of the registry's function, which takes the actions
   * `allocate` and `get`: who has it can neither release nor move an owner.
   *
   * @param grantee the role, function or other principal that allocates
   */
  public allocate(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee, `${this.registry.functionArn}:${ALLOCATE_ALIAS}`);
  }

  /**
   * Allows `lambda:InvokeFunction` on exactly the registry's function itself, which takes every action: `release`,
   * `rebalance` and `move`, too.
   *
   * @param grantee the role, function or other principal that administers the owners
   */
  public administer(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee, this.registry.functionArn);
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

  private invoke(grantee: iam.IGrantable, resourceArn: string): iam.Grant {
    return iam.Grant.addToPrincipal({ grantee, actions: ['lambda:InvokeFunction'], resourceArns: [resourceArn] });
  }
}

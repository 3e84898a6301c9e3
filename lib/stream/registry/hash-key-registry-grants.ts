import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { ALLOCATE_ALIAS, QUERY_ALIAS } from '../../core/registry/registry-aliases';

/** What permissions on a registry need to know of it. */
interface GrantedRegistry {
  readonly functionArn: string;
  readonly tableArn: string;
  readonly encryptionKey?: kms.IKey;
}

/** The least permissions that callers of a hash key registry need. A registry has them as its `grants`. */
export class HashKeyRegistryGrants {
  /** @internal */
  public static _of(registry: GrantedRegistry): HashKeyRegistryGrants {
    return new HashKeyRegistryGrants(registry);
  }

  private constructor(private readonly registry: GrantedRegistry) {}

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
   * one: enough for `readOwners` of `cdk-even-shards/registry`, and to change nothing.
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

import { createHash } from 'node:crypto';
import { type IResource, Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { grantOnKey } from '../../construct/grant-on-key';
import { isInOtherAccount, warnIfWithoutEffect } from '../../construct/grant-without-effect';
import { ALLOCATE_ALIAS, QUERY_ALIAS } from '../../core/registry/registry-contract';

/** The ARNs of a registry, to which the grants allow access. */
interface GrantedRegistry extends IResource {
  readonly functionArn: string;
  readonly tableArn: string;
  readonly encryptionKey?: kms.IKey;
}

/**
 * The table and the function of a registry of this app. Their resource policies can grant access to other accounts.
 * `invoked` returns the function, or its alias with the given name.
 */
interface OwnResources {
  readonly table: dynamodb.TableV2;
  readonly invoked: (alias?: string) => lambda.IFunction;
}

/**
 * Grants the least permissions that callers of a hash key registry need. The property `grants` of a registry has these
 * permissions.
 *
 * Each method adds a permission to the grantee. For a grantee of another account, the method also adds the permission
 * to the resource policy of the function or the table. This app cannot change the resource policies of an imported
 * registry, so synthesis then warns (`cdk-even-shards:HashKeyRegistry.grantWithoutEffect`).
 */
export class HashKeyRegistryGrants {
  /** @internal */
  public static _of(registry: GrantedRegistry, own?: OwnResources): HashKeyRegistryGrants {
    return new HashKeyRegistryGrants(registry, own);
  }

  private constructor(
    private readonly registry: GrantedRegistry,
    private readonly own?: OwnResources,
  ) {}

  /**
   * Allows `lambda:InvokeFunction` only on the alias `query` of the registry's function. This alias accepts the actions
   * `get`, `list` and `plan`, which change nothing.
   *
   * @param grantee the role, function or other principal that reads the keys of owners
   */
  public query(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee, QUERY_ALIAS);
  }

  /**
   * Allows `lambda:InvokeFunction` only on the alias `allocate` of the registry's function. This alias accepts the
   * actions `allocate` and `get`. The grantee can neither release nor move an owner.
   *
   * @param grantee the role, function or other principal that allocates keys
   */
  public allocate(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee, ALLOCATE_ALIAS);
  }

  /**
   * Allows `lambda:InvokeFunction` on the registry's function itself. The function accepts every action, including
   * `release`, `rebalance` and `move`.
   *
   * @param grantee the role, function or other principal that manages the owners
   */
  public administer(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee);
  }

  /**
   * Allows `dynamodb:GetItem` on the registry's table, and `kms:Decrypt` on the table's customer-managed key if there
   * is one. `readOwners` of `cdk-even-shards/registry` needs these permissions. The grantee cannot change the table.
   *
   * @param grantee the role, function or other principal that reads the table
   */
  public read(grantee: iam.IGrantable): iam.Grant {
    const { tableArn, encryptionKey } = this.registry;
    const permission = { grantee, actions: ['dynamodb:GetItem'], resourceArns: [tableArn] };
    const table = isInOtherAccount(grantee, this.registry) ? this.own?.table : undefined;
    // '*' because a table's own policy cannot refer to the table (a circular dependency). CDK's own grants do the same.
    const onTable =
      table === undefined
        ? iam.Grant.addToPrincipal(permission)
        : iam.Grant.addToPrincipalOrResource({ ...permission, resource: table, resourceSelfArns: ['*'] });
    this.warnIfWithoutEffect(onTable, grantee, permission.actions);
    const onKey = encryptionKey && grantOnKey(encryptionKey, grantee, ['kms:Decrypt'], 'HashKeyRegistry');
    return onKey ? onTable.combine(onKey) : onTable;
  }

  private invoke(grantee: iam.IGrantable, alias?: string): iam.Grant {
    const { functionArn } = this.registry;
    const actions = ['lambda:InvokeFunction'];
    const resourceArns = [alias === undefined ? functionArn : `${functionArn}:${alias}`];
    const isForeign = isInOtherAccount(grantee, this.registry);
    if (isForeign && this.own !== undefined) permit(this.own.invoked(alias), grantee.grantPrincipal);
    const granted = iam.Grant.addToPrincipal({ grantee, actions, resourceArns });
    if (this.own === undefined || !isForeign) this.warnIfWithoutEffect(granted, grantee, actions);
    return granted;
  }

  private warnIfWithoutEffect(grant: iam.Grant, grantee: iam.IGrantable, actions: readonly string[]): void {
    warnIfWithoutEffect(this.registry, grant, {
      grantee,
      actions,
      construct: 'HashKeyRegistry',
      name: 'the registry',
      hasOwnPolicy: this.own !== undefined,
      remedy: 'allow it in the app that defines the registry',
    });
  }
}

/** Adds a permission to the function's resource policy, once for each principal of another account. */
function permit(invoked: lambda.IFunction, principal: iam.IPrincipal): void {
  const who = JSON.stringify(Stack.of(invoked).resolve(principal.policyFragment.principalJson));
  const id = `Invoke${createHash('sha256').update(who).digest('hex').slice(0, 8)}`;
  if (invoked.node.tryFindChild(id) === undefined) {
    invoked.addPermission(id, { principal, action: 'lambda:InvokeFunction' });
  }
}

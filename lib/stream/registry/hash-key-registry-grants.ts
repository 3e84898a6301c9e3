import { createHash } from 'node:crypto';
import { Annotations, type IResource, Stack, Token, TokenComparison } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { grantOnKey } from '../../construct/kept-table';
import { ALLOCATE_ALIAS, QUERY_ALIAS } from '../../core/registry/registry-contract';

/** What permissions on a registry need to know of it. */
interface GrantedRegistry extends IResource {
  readonly functionArn: string;
  readonly tableArn: string;
  readonly encryptionKey?: kms.IKey;
}

/** What a registry of this app has besides: its table, and its function by an alias or by none. Both have policies for other accounts. */
interface OwnResources {
  readonly table: dynamodb.TableV2;
  readonly invoked: (alias?: string) => lambda.IFunction;
}

/**
 * The least permissions that callers of a hash key registry need. A registry has them as its `grants`.
 *
 * A permission is added to the grantee, and for a grantee of another account to the policy of the function or the table as well. Of
 * an imported registry, this app cannot change those: synthesis warns; the id is `cdk-even-shards:HashKeyRegistry.grantWithoutEffect`.
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
   * Allows `lambda:InvokeFunction` on exactly the alias `query` of the registry's function, which takes the actions `get`,
   * `list` and `plan`, and changes nothing.
   *
   * @param grantee the role, function or other principal that looks owners up
   */
  public query(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee, QUERY_ALIAS);
  }

  /**
   * Allows `lambda:InvokeFunction` on exactly the alias `allocate` of the registry's function, which takes the actions
   * `allocate` and `get`. A grantee can neither release nor move an owner.
   *
   * @param grantee the role, function or other principal that allocates
   */
  public allocate(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee, ALLOCATE_ALIAS);
  }

  /**
   * Allows `lambda:InvokeFunction` on exactly the registry's function itself, which takes every action: `release`,
   * `rebalance` and `move`, too.
   *
   * @param grantee the role, function or other principal that administers the owners
   */
  public administer(grantee: iam.IGrantable): iam.Grant {
    return this.invoke(grantee);
  }

  /**
   * Allows `dynamodb:GetItem` on exactly the registry's table, and `kms:Decrypt` on its customer-managed key if it has
   * one: enough for `readOwners` of `cdk-even-shards/registry`, and to change nothing.
   *
   * @param grantee the role, function or other principal that reads
   */
  public read(grantee: iam.IGrantable): iam.Grant {
    const { tableArn, encryptionKey } = this.registry;
    const permission = { grantee, actions: ['dynamodb:GetItem'], resourceArns: [tableArn] };
    const table = this.isForeign(grantee) ? this.own?.table : undefined;
    // A policy of a table that names the table would be a circle, hence '*', as CDK's own grants have it.
    const onTable =
      table === undefined
        ? iam.Grant.addToPrincipal(permission)
        : iam.Grant.addToPrincipalOrResource({ ...permission, resource: table, resourceSelfArns: ['*'] });
    if (this.own === undefined && this.isForeign(grantee)) this.warnOfNothing(grantee, permission.actions);
    const onKey = encryptionKey && grantOnKey(encryptionKey, grantee, ['kms:Decrypt']);
    return onKey ? onTable.combine(onKey) : onTable;
  }

  private invoke(grantee: iam.IGrantable, alias?: string): iam.Grant {
    const { functionArn } = this.registry;
    const actions = ['lambda:InvokeFunction'];
    const resourceArns = [alias === undefined ? functionArn : `${functionArn}:${alias}`];
    if (this.isForeign(grantee)) {
      if (this.own === undefined) this.warnOfNothing(grantee, actions);
      else permit(this.own.invoked(alias), grantee.grantPrincipal);
    }
    return iam.Grant.addToPrincipal({ grantee, actions, resourceArns });
  }

  private isForeign({ grantPrincipal: { principalAccount } }: iam.IGrantable): boolean {
    if (principalAccount === undefined) return false;
    return Token.compareStrings(principalAccount, this.registry.env.account) === TokenComparison.DIFFERENT;
  }

  private warnOfNothing({ grantPrincipal }: iam.IGrantable, actions: readonly string[]): void {
    Annotations.of(this.registry).addWarningV2(
      'cdk-even-shards:HashKeyRegistry.grantWithoutEffect',
      `${actions.join(' and ')} could not be allowed on the registry to ${grantPrincipal}, which is of another account: allow it ` +
        'in the app that has the registry',
    );
  }
}

/** Lets a principal of another account invoke a function, once for each principal. */
function permit(invoked: lambda.IFunction, principal: iam.IPrincipal): void {
  const who = JSON.stringify(Stack.of(invoked).resolve(principal.policyFragment.principalJson));
  const id = `Invoke${createHash('sha256').update(who).digest('hex').slice(0, 8)}`;
  if (invoked.node.tryFindChild(id) === undefined) {
    invoked.addPermission(id, { principal, action: 'lambda:InvokeFunction' });
  }
}

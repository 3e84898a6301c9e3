import { Annotations, type IResource, Token, TokenComparison } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';

/** A permission on a resource, in the words of a warning. */
interface Permission {
  readonly grantee: iam.IGrantable;
  readonly actions: readonly string[];
  /** The class that grants. The id of the warning begins with its name. */
  readonly construct: string;
  /** The resource in the warning, such as "the table Jobs". */
  readonly name: string;
  /** Whether this app can change the policy of the resource. */
  readonly hasOwnPolicy?: boolean;
  /**
   * The advice at the end of the warning.
   *
   * @default - to use a role of the account of the resource, because the resource has no policy
   */
  readonly remedy?: string;
}

/** Whether the grantee is certainly in another account than the resource. */
export function isInOtherAccount({ grantPrincipal }: iam.IGrantable, { env }: Pick<IResource, 'env'>): boolean {
  const { principalAccount } = grantPrincipal;
  if (principalAccount === undefined) return false;
  return differ(principalAccount, env.account);
}

/**
 * Whether the grantee is an imported role that its own stack cannot change, because the role is in another account. The grants
 * of CDK report success for such a role.
 */
function isOutOfReach({ grantPrincipal }: iam.IGrantable): boolean {
  const { env, stack }: Partial<IResource> = Object(grantPrincipal);
  return env !== undefined && stack !== undefined && differ(env.account, stack.account);
}

function differ(account: string, other: string): boolean {
  return Token.compareStrings(account, other) === TokenComparison.DIFFERENT;
}

/**
 * Warns if a grant has no effect. CDK could not add the permission to the grantee, or the grantee is in another account
 * and this app cannot add the permission to the policy of the resource.
 */
export function warnIfWithoutEffect(
  resource: Pick<IResource, 'env' | 'node'>,
  grant: iam.Grant,
  { grantee, actions, construct, name, hasOwnPolicy = false, remedy = USE_A_ROLE }: Permission,
): iam.Grant {
  const needsPolicy = isInOtherAccount(grantee, resource) || isOutOfReach(grantee);
  if (grant.success && (hasOwnPolicy || !needsPolicy)) return grant;
  Annotations.of(resource).addWarningV2(
    `cdk-even-shards:${construct}.grantWithoutEffect`,
    `cannot allow ${actions.join(' and ')} on ${name} for ${grantee.grantPrincipal}: ${remedy}`,
  );
  return grant;
}

const USE_A_ROLE = 'allow it for a role of the account of the resource, and let the grantee assume this role';

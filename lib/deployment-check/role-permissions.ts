import { listOf, type Properties } from '../cloudformation/template';
import { referredKeys, resourceKey, type StackVersion } from './compared-stacks';

/** A resource of an `Allow` statement: a resource of the app, or one of its indexes. */
interface Permission {
  readonly actions: readonly string[];
  /** The keys of the resources to which the ARN refers. */
  readonly keys: readonly string[];
  /** The name of the index in the ARN, or `*`. */
  readonly index?: string | undefined;
}

/** The permissions of the functions and other roles of an app, from the policies of the roles. */
export class RolePermissions {
  private readonly ofRoles = new Map<string, readonly Permission[]>();
  private readonly rolesOfFunctions = new Map<string, readonly string[]>();

  constructor(versions: readonly StackVersion[]) {
    for (const version of versions) for (const logicalId of version.resources.keys()) this.add(version, logicalId);
  }

  /**
   * The keys of the functions whose roles allow one of the actions on a table or on one of its indexes. A role without a
   * function is in the result itself.
   *
   * @param table the key of the table
   * @param isOf whether the permission is on the right part: gets the name of the index, `*` for all indexes, or undefined
   *   for the table itself
   */
  holdersOf(actions: readonly string[], table: string, isOf: (index: string | undefined) => boolean): string[] {
    const allows = ({ actions: allowed, keys, index }: Permission) =>
      keys.includes(table) && isOf(index) && actions.some((action) => allowed.some((each) => isCovered(action, each)));
    const roles = [...this.ofRoles].flatMap(([role, permissions]) => (permissions.some(allows) ? [role] : []));
    const holders = roles.flatMap((role) => {
      const functions = [...this.rolesOfFunctions].flatMap(([key, own]) => (own.includes(role) ? [key] : []));
      return functions.length === 0 ? [role] : functions;
    });
    return [...new Set(holders)];
  }

  private add({ scope, resources }: StackVersion, logicalId: string): void {
    const { Type } = resources.get(logicalId)!;
    const key = resourceKey({ stack: scope.stack.id, logicalId });
    const declared = scope.declared(logicalId);
    if (Type === 'AWS::Lambda::Function') this.rolesOfFunctions.set(key, referredKeys(declared.Role, scope));
    const isPolicy = Type === 'AWS::IAM::Policy' || Type === 'AWS::IAM::ManagedPolicy';
    const policies = isPolicy ? [declared] : Type === 'AWS::IAM::Role' ? listOf<Properties>(declared.Policies) : [];
    const permissions = policies.flatMap(({ PolicyDocument }) =>
      [Object(PolicyDocument).Statement].flat().flatMap((statement): Permission[] => {
        const { Effect, Action, Resource } = Object(statement);
        if (Effect !== 'Allow') return [];
        const actions = [Action].flat().map(String);
        return [Resource].flat().map((arn) => ({ actions, keys: referredKeys(arn, scope), index: indexIn(arn) }));
      }),
    );
    for (const role of isPolicy ? referredKeys(declared.Roles, scope) : [key]) {
      this.ofRoles.set(role, [...(this.ofRoles.get(role) ?? []), ...permissions]);
    }
  }
}

/** The name of the index in an ARN, whose parts can be intrinsic functions. */
function indexIn(arn: unknown): string | undefined {
  return [...(JSON.stringify(arn) ?? '').matchAll(/\/index\/([\w.*-]+)/g)].at(-1)?.[1];
}

/** Whether an action of a policy, with wildcards, covers an action. */
function isCovered(action: string, allowed: string): boolean {
  const pattern = allowed
    .replace(/[^\w:*?]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`, 'i').test(action);
}

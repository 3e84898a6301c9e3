import { textPattern } from '../cloudformation/intrinsics';
import { listOf, type Properties } from '../cloudformation/template';
import { referredKeys, resourceKey, type StackVersion } from './compared-stacks';
import { fixedName } from './kept-resource';

/** A resource in a statement of a policy. */
interface ResourcePattern {
  /** The ARN, with `*` for each part that only AWS knows. */
  readonly arn: string;
  /** The keys of the resources to which the ARN refers. */
  readonly keys: readonly string[];
}

/** A statement of a policy. A request must match all patterns. */
interface Statement {
  readonly isAllowed: boolean;
  readonly actions: readonly string[];
  /** Whether the statement has `NotAction` instead of `Action`. */
  readonly isOtherActions: boolean;
  readonly resources: readonly ResourcePattern[];
  /** Whether the statement has `NotResource` instead of `Resource`. */
  readonly isOtherResources: boolean;
}

/** The actions on DynamoDB tables that policies of AWS allow. Source: the AWS managed policy reference. */
const AWS_POLICIES: Readonly<Record<string, readonly string[]>> = {
  AdministratorAccess: ['*'],
  AmazonDynamoDBFullAccess: ['dynamodb:*'],
  AmazonDynamoDBFullAccess_v2: ['dynamodb:*'],
  AmazonDynamoDBReadOnlyAccess: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'],
  PowerUserAccess: ['*'],
};

/** The permissions of the functions and other roles of an app, from the policies of the roles. */
export class RolePermissions {
  private readonly ofRoles = new Map<string, Statement[]>();
  private readonly rolesOfFunctions = new Map<string, readonly string[]>();
  private readonly namesOfTables = new Map<string, string>();

  constructor(versions: readonly StackVersion[]) {
    const managed = new Map<string, Statement[]>();
    for (const version of versions) {
      for (const [logicalId, { Type }] of version.resources) {
        if (Type === 'AWS::IAM::ManagedPolicy')
          managed.set(keyOf(version, logicalId), statementsOf(version, logicalId));
      }
    }
    for (const version of versions) for (const id of version.resources.keys()) this.add(version, id, managed);
  }

  /**
   * The keys of the functions whose roles allow one of the actions on a table or on one of its indexes. A role without a
   * function is in the result itself. A denied action is not allowed, unless the statement has a condition.
   *
   * @param table the key of the table
   * @param index the name of the index. Undefined for the table itself
   * @param isNamed whether a statement must allow the action on this index and not on every index
   */
  holdersOf(actions: readonly string[], table: string, index?: string, isNamed = false): string[] {
    const isOf = (part: string) => {
      const names = [`\${${table}}`, this.namesOfTables.get(table) ?? []].flat().map((name) => `table/${name}${part}`);
      return (statement: Statement, action: string) => matches(statement, action, table, names);
    };
    const [isOfPart, isOfAnyIndex] = [isOf(index === undefined ? '' : `/index/${index}`), isOf(ANY_OTHER_INDEX)];
    const isHeld = (statements: readonly Statement[], action: string) => {
      const matching = statements.filter((each) => isOfPart(each, action));
      const isSpecific = matching.some((each) => each.isAllowed && !(isNamed && isOfAnyIndex(each, action)));
      return isSpecific && matching.every(({ isAllowed }) => isAllowed);
    };
    const roles = [...this.ofRoles].flatMap(([role, statements]) =>
      actions.some((action) => isHeld(statements, action)) ? [role] : [],
    );
    const holders = roles.flatMap((role) => {
      const functions = [...this.rolesOfFunctions].flatMap(([key, own]) => (own.includes(role) ? [key] : []));
      return functions.length === 0 ? [role] : functions;
    });
    return [...new Set(holders)];
  }

  private add(version: StackVersion, logicalId: string, managed: ReadonlyMap<string, Statement[]>): void {
    const { scope, resources } = version;
    const resource = resources.get(logicalId)!;
    const key = keyOf(version, logicalId);
    const declared = scope.declared(logicalId);
    const refer = (property: string) => referredKeys(declared[property], scope);
    const grant = (roles: readonly string[], statements: readonly Statement[]) => {
      for (const role of roles) this.ofRoles.set(role, [...(this.ofRoles.get(role) ?? []), ...statements]);
    };
    switch (resource.Type) {
      case 'AWS::DynamoDB::GlobalTable':
      case 'AWS::DynamoDB::Table': {
        const name = fixedName(resource);
        if (name !== undefined) this.namesOfTables.set(key, name);
        return;
      }
      case 'AWS::IAM::ManagedPolicy':
      case 'AWS::IAM::Policy':
        grant(refer('Roles'), statementsOf(version, logicalId));
        return;
      case 'AWS::IAM::Role': {
        const own = refer('ManagedPolicyArns').flatMap((policy) => managed.get(policy) ?? []);
        const ofAws = listOf<unknown>(declared.ManagedPolicyArns).flatMap((arn) => {
          const name = textPattern(arn, scope, '*').replace(/^.*:policy\//, '');
          const actions = Object.hasOwn(AWS_POLICIES, name) ? AWS_POLICIES[name]! : [];
          return actions.length === 0 ? [] : [{ ...EVERYTHING, actions }];
        });
        grant([key], [...statementsOf(version, logicalId), ...own, ...ofAws]);
        return;
      }
      case 'AWS::IAM::RolePolicy':
        grant(refer('RoleName'), statementsOf(version, logicalId));
        return;
      case 'AWS::Lambda::Function':
        this.rolesOfFunctions.set(key, refer('Role'));
    }
  }
}

/** The end of the ARN of an index that no template contains, because an index name cannot contain a colon. */
const ANY_OTHER_INDEX = '/index/:';

const EVERYTHING: Statement = {
  isAllowed: true,
  actions: ['*'],
  isOtherActions: false,
  resources: [{ arn: '*', keys: [] }],
  isOtherResources: false,
};

function keyOf({ scope }: StackVersion, logicalId: string): string {
  return resourceKey({ stack: scope.stack.id, logicalId });
}

/** The statements of a policy, or of the policies in a role. */
function statementsOf({ scope }: StackVersion, logicalId: string): Statement[] {
  const declared = scope.declared(logicalId);
  return [declared, ...listOf<Properties>(declared.Policies)].flatMap(({ PolicyDocument }) =>
    [Object(PolicyDocument).Statement ?? []].flat().flatMap((statement): Statement[] => {
      const { Effect, Action, NotAction, Resource, NotResource, Condition } = Object(statement);
      const isAllowed = Effect === 'Allow';
      if (!isAllowed && Condition !== undefined) return [];
      // An unknown part of an ARN can be any text. So it adds permissions, but never removes permissions.
      const unknown = isAllowed === (NotResource === undefined) ? '*' : '\0';
      const arns = [Resource ?? NotResource ?? []].flat();
      return [
        {
          isAllowed,
          actions: [Action ?? NotAction ?? []].flat().map(String),
          isOtherActions: Action === undefined,
          resources: arns.map((arn) => ({ arn: textPattern(arn, scope, unknown), keys: referredKeys(arn, scope) })),
          isOtherResources: Resource === undefined,
        },
      ];
    }),
  );
}

/** @param names the table, or a part of the table, as it can be in the last part of an ARN */
function matches(statement: Statement, action: string, table: string, names: readonly string[]): boolean {
  const isOfAction = statement.actions.some((pattern) => isCovered(action, pattern, 'i'));
  const isOfResource = statement.resources.some(({ arn, keys }) => {
    if (keys.length > 0 && !keys.includes(table)) return false;
    const [prefix = '', , service = '*', , , ...parts] = withNameOfTable(arn).split(':');
    const resource = parts.length === 0 ? '*' : parts.join(':');
    return (
      isCovered('arn', prefix) && isCovered('dynamodb', service) && names.some((name) => isCovered(name, resource))
    );
  });
  return isOfAction !== statement.isOtherActions && isOfResource !== statement.isOtherResources;
}

/** The value of the attribute `Arn` is a text that names the table. */
function withNameOfTable(arn: string): string {
  return arn.replace(/^\$\{([^}]*)\.Arn\}/, 'arn:*:dynamodb:*:*:table/$${$1}');
}

/** Whether a pattern of a policy, with wildcards, covers a text. */
function isCovered(text: string, pattern: string, flags = ''): boolean {
  const expression = pattern
    .replace(/[^\w:*?]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${expression}$`, flags).test(text);
}

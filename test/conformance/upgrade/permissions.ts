import type { Template } from './template';

interface Statement {
  readonly Effect: string;
  readonly Action?: string | readonly string[];
  readonly Resource?: unknown;
  readonly Condition?: unknown;
  readonly NotAction?: unknown;
  readonly NotResource?: unknown;
}

/** One action on one resource. The resource is JSON, because a template has intrinsic functions in place of ARNs. */
interface Permission {
  readonly action: string;
  readonly resource: string;
  readonly condition: string;
}

const POLICY_TYPES = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy', 'AWS::IAM::RolePolicy'];

/** The logical ids of the policies that are resources of their own, and belong to a role. */
export function policiesOf({ Resources }: Template, role: string): string[] {
  const isRole = (value: unknown) => (value as { Ref?: string }).Ref === role;
  return Object.entries(Resources)
    .filter(([, { Type }]) => POLICY_TYPES.includes(Type))
    .filter(([, { Properties = {} }]) => [Properties.Roles ?? [], Properties.RoleName ?? []].flat().some(isRole))
    .map(([id]) => id);
}

/** The permissions of a role in one template that the role does not have in another template, as text. */
export function missingPermissions(before: Template, after: Template, role: string): string[] {
  const [old, now] = [before, after].map((template) => statementsOf(template, role));
  const [allowedBefore, allowed] = [old!, now!].map((statements) =>
    statements.filter(({ Effect }) => Effect === 'Allow').flatMap(permissionsOf),
  );
  const missing = allowedBefore!.filter((permission) => !allowed!.some((each) => includes(each, permission)));
  const denied = now!.filter((statement) => statement.Effect !== 'Allow').map((statement) => JSON.stringify(statement));
  const deniedBefore = new Set(old!.map((statement) => JSON.stringify(statement)));
  return [
    ...missing.map(({ action, resource, condition }) => `${action} on ${resource}${condition && ` if ${condition}`}`),
    ...denied.filter((text) => !deniedBefore.has(text)).map((text) => `what this denies: ${text}`),
    ...managedPoliciesOf(before, role)
      .filter((policy) => !managedPoliciesOf(after, role).includes(policy))
      .map((policy) => `the managed policy ${policy}`),
  ];
}

function statementsOf(template: Template, role: string): Statement[] {
  const { Policies = [] } = (template.Resources[role]!.Properties ?? {}) as {
    Policies?: { PolicyDocument: unknown }[];
  };
  const attached = policiesOf(template, role).map((id) => template.Resources[id]!.Properties!.PolicyDocument);
  return [...Policies.map(({ PolicyDocument }) => PolicyDocument), ...attached].flatMap(
    (document) => (document as { Statement: Statement[] }).Statement,
  );
}

function managedPoliciesOf({ Resources }: Template, role: string): string[] {
  const { ManagedPolicyArns = [] } = (Resources[role]!.Properties ?? {}) as { ManagedPolicyArns?: unknown[] };
  return ManagedPolicyArns.map((policy) => JSON.stringify(policy));
}

function permissionsOf(statement: Statement): Permission[] {
  const { Action, Resource, Condition } = statement;
  if (statement.NotAction !== undefined || statement.NotResource !== undefined) {
    throw new Error('a policy of this package lists its actions and its resources');
  }
  const condition = Condition === undefined ? '' : JSON.stringify(Condition);
  return [Action ?? []]
    .flat()
    .flatMap((action) =>
      [Resource].flat().map((resource) => ({ action, resource: JSON.stringify(resource), condition })),
    );
}

function includes(allowed: Permission, wanted: Permission): boolean {
  const actions = new RegExp(`^${allowed.action.replaceAll('*', '.*')}$`);
  const isResource = allowed.resource === '"*"' || allowed.resource === wanted.resource;
  const isCondition = allowed.condition === '' || allowed.condition === wanted.condition;
  return actions.test(wanted.action) && isResource && isCondition;
}

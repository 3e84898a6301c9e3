import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';

/**
 * Every permission of a template in a line: principal, actions, resource and condition. Logical ids have no hash.
 * Intrinsic functions of CloudFormation are resolved to names.
 */
export function permissionsOf(stack: Stack): string[] {
  const template = Template.fromStack(stack);
  for (const { Type } of Object.values<{ Type: string }>(template.toJSON().Resources ?? {})) {
    if (/Policy$|Permission$/.test(Type) && !READ.includes(Type))
      throw new Error(`permissionsOf does not read ${Type}`);
  }
  const found = (type: string) => Object.entries(template.findResources(type));
  return [
    ...found('AWS::IAM::Role').flatMap(([id, { Properties }]) => [
      ...linesOf(Properties.AssumeRolePolicyDocument, (statement) => `${principalOf(statement)} is`).map(
        (line) => `${line} as ${named(id)}`,
      ),
      ...(Properties.ManagedPolicyArns ?? []).map((arn: unknown) => `${named(id)} has ${textOf(arn)}`),
    ]),
    ...found('AWS::IAM::Policy').flatMap(([, { Properties }]) =>
      linesOf(Properties.PolicyDocument, () => Properties.Roles.map(textOf).join()),
    ),
    ...found('AWS::SQS::QueuePolicy').flatMap(([, { Properties }]) => linesOf(Properties.PolicyDocument, principalOf)),
    ...found('AWS::KMS::Key').flatMap(([id, { Properties }]) =>
      linesOf({ Statement: Properties.KeyPolicy.Statement.filter(isNotOfAccount) }, principalOf).map(
        (line) => `${line} of ${named(id)}`,
      ),
    ),
    ...found('AWS::DynamoDB::GlobalTable').flatMap(([, { Properties }]) =>
      Properties.Replicas.flatMap(({ ResourcePolicy }: { ResourcePolicy?: { PolicyDocument: Document } }) =>
        ResourcePolicy === undefined ? [] : linesOf(ResourcePolicy.PolicyDocument, principalOf),
      ),
    ),
    ...found('AWS::Lambda::Permission').map(
      ([
        ,
        {
          Properties: { Action, FunctionName, Principal, SourceArn },
        },
      ]) => `${textOf(Principal)}: ${Action} on ${textOf(FunctionName)} if ${textOf(SourceArn)}`,
    ),
  ].sort();
}

const READ = ['AWS::IAM::Policy', 'AWS::Lambda::Permission', 'AWS::SQS::QueuePolicy'];

/** Returns false for the default statement of a KMS key policy, which gives the account of the key all permissions. */
function isNotOfAccount({ Action, Principal }: Statement): boolean {
  return Action !== 'kms:*' || !JSON.stringify(Principal).includes(':root');
}

interface Statement {
  Effect: 'Allow' | 'Deny';
  Action: string | string[];
  Resource?: unknown;
  Principal?: unknown;
  Condition?: unknown;
}

interface Document {
  Statement: Statement[];
}

function linesOf({ Statement }: Document, who: (statement: Statement) => string): string[] {
  return Statement.map((statement) => {
    const { Effect, Action, Resource = [], Condition, ...rest } = statement;
    const { Principal: _, Sid: __, ...unknown } = rest as Record<string, unknown>;
    const resources = [Resource].flat().map(textOf).join(', ');
    return [
      `${who(statement)}:${Effect === 'Deny' ? ' not' : ''} ${[Action].flat().join(', ')}`,
      ...(resources === '' ? [] : [`on ${resources}`]),
      ...(Condition === undefined ? [] : [`if ${textOf(Condition)}`]),
      ...Object.keys(unknown).map((field) => `with ${field}`),
    ].join(' ');
  });
}

function principalOf({ Principal }: Statement): string {
  return textOf(typeof Principal === 'object' ? Object.values(Principal!)[0] : Principal);
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  const [[name, argument] = ['', ''], ...others] = Object.entries(value);
  if (others.length === 0) {
    if (name === 'Ref') return named(argument);
    if (name === 'Fn::GetAtt') return `${named(argument[0])}.${argument[1]}`;
    if (name === 'Fn::Join') return argument[1].map(textOf).join(argument[0]);
  }
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${textOf(inner)}`)
    .join(' and ');
}

/** A logical id without its hash. CDK adds a hash to most logical ids. */
function named(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}

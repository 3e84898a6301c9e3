import { type Lookup, type ResourceReference, resolve, scalarText } from '../../../lib/cloudformation/intrinsics';
import { references } from '../../../lib/cloudformation/references';
import { type Names, type StackScope, stackScopes } from '../../../lib/cloudformation/stack-scope';
import type { AssemblyStack } from './cloud-assembly';
import { arnOf, generatedName, LOCAL_ACCOUNT, LOCAL_REGION, NAMED_TYPES } from './emulated-types';

/** A stack of a local run, with the names that the run gives to its resources. */
export type LocalScope = StackScope<AssemblyStack>;

/** The stacks and nested stacks of an app, as a local run deploys them. */
export function localScopes(stacks: readonly AssemblyStack[]): LocalScope[] {
  return stackScopes(stacks, LOCAL_NAMES);
}

export function constructPath({ stack }: LocalScope, logicalId: string): string {
  return stack.constructPaths.get(logicalId) ?? `${stack.name}/${logicalId}`;
}

/** The name of a resource of `NAMED_TYPES`. */
export function physicalName(scope: LocalScope, logicalId: string): Lookup<string> {
  const type = NAMED_TYPES[scope.typeOf(logicalId)!]!;
  const name = resolve(scope.declared(logicalId)[type.nameProperty], scope);
  if ('reason' in name) return name;
  if (name.value === undefined && type.longestName !== undefined) {
    return { value: generatedName(type, scope.stack, logicalId) };
  }
  const text = scalarText(name.value);
  return text === undefined ? { reason: 'a name must be a string' } : { value: text };
}

const LOCAL_NAMES: Names<AssemblyStack> = {
  pseudoParameters: ({ name }) => ({
    'AWS::AccountId': LOCAL_ACCOUNT,
    'AWS::NotificationARNs': [],
    'AWS::Partition': 'aws',
    'AWS::Region': LOCAL_REGION,
    'AWS::StackId': `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/${name}/local`,
    'AWS::StackName': name,
    'AWS::URLSuffix': 'amazonaws.com',
  }),
  valueOf(reference) {
    const { scope, logicalId, attribute } = reference;
    const type = scope.typeOf(logicalId)!;
    if (Object.hasOwn(QUALIFIERS, type)) return qualified(reference, QUALIFIERS[type]!);
    if (type === 'AWS::Kinesis::StreamConsumer') return ofConsumer(reference);
    const notEmulated = { reason: `${logicalId} is an ${type}, which is not emulated` };
    if (!Object.hasOwn(NAMED_TYPES, type)) return notEmulated;
    const { longestName, ref = String, attributes } = NAMED_TYPES[type]!;
    const name = physicalName(scope, logicalId);
    const value = attribute === undefined ? ref : attributes[attribute];
    if ('value' in name && value !== undefined) return { value: value(name.value) };
    if (longestName === undefined) return notEmulated;
    if ('reason' in name) return name;
    const known = Object.keys(attributes).join(' and ');
    return { reason: `a local run knows only the attributes ${known} of an ${type}` };
  },
};

/** The ARN of a consumer, or another of its attributes. In AWS the ARN ends with the time of the registration. */
function ofConsumer({ scope, logicalId, attribute = 'ConsumerARN' }: ResourceReference<LocalScope>): Lookup {
  if (attribute !== 'ConsumerARN') return resolve(scope.declared(logicalId)[attribute], scope);
  const { StreamARN, ConsumerName } = scope.declared(logicalId);
  return resolve({ 'Fn::Join': ['', [StreamARN, '/consumer/', ConsumerName, ':1577836800']] }, scope);
}

/** The qualifier of a version or an alias, which follows the ARN of its function. */
const QUALIFIERS: Readonly<Record<string, (reference: ResourceReference<LocalScope>) => Lookup>> = {
  'AWS::Lambda::Alias': ({ scope, logicalId }) => resolve(scope.declared(logicalId).Name, scope),
  'AWS::Lambda::Version': (reference) => ({ value: versionNumber(reference) }),
};

/** The value of an alias or a version: its ARN, or the number of the version. */
function qualified(
  reference: ResourceReference<LocalScope>,
  qualifierOf: (reference: ResourceReference<LocalScope>) => Lookup,
): Lookup {
  const { scope, logicalId, attribute } = reference;
  const qualifier = qualifierOf(reference);
  if (attribute === 'Version') return qualifier;
  const invoked = resolve(scope.declared(logicalId).FunctionName, scope);
  if ('reason' in invoked || 'reason' in qualifier) return 'reason' in invoked ? invoked : qualifier;
  const functionName = String(invoked.value).replace(/^arn:.*:function:/, '');
  return { value: `${arnOf('AWS::Lambda::Function', functionName)}:${qualifier.value}` };
}

/** Lambda numbers the versions of a function from 1. The order of the template is the order of the numbers here. */
function versionNumber({ scope, logicalId }: ResourceReference<LocalScope>): string {
  const functionOf = (version: string) =>
    references(scope.declared(version).FunctionName, scope)
      .map((each) => `${each.scope.stack.id}/${each.logicalId}`)
      .join();
  const versions = scope.resources
    .filter(([other, { Type }]) => Type === 'AWS::Lambda::Version' && functionOf(other) === functionOf(logicalId))
    .map(([other]) => other);
  return String(versions.indexOf(logicalId) + 1);
}

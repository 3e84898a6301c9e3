import {
  conditionHolds,
  type Lookup,
  resolvedOrReason,
  resolveIntrinsics,
  resolveOutermost,
  resolveSelected,
  type Scope,
  type Selection,
  scalarText,
  UnresolvableIntrinsicError,
} from '../../../lib/cloudformation/intrinsics';
import type { Parameter, Resource } from '../../../lib/cloudformation/template';
import type { AssemblyStack } from './cloud-assembly';
import { arnOf, generatedName, LOCAL_ACCOUNT, LOCAL_REGION, NAMED_TYPES } from './emulated-types';

/**
 * Creates a scope for each stack and nested stack. A scope looks for an export first in its own stage, and then in all
 * stacks.
 */
export function stackScopes(stacks: readonly AssemblyStack[]): StackScope[] {
  const scopes = stacks.map((stack): StackScope => {
    const isNear = (scope: StackScope) => scope.stack.directory === stack.directory;
    return new StackScope(stack, (name) => {
      const all = scopes.flatMap((scope) => scope.withNested);
      return imported(name, [...all.filter(isNear), ...all.filter((scope) => !isNear(scope))]);
    });
  });
  return scopes.flatMap((scope) => scope.withNested);
}

/** The names that the intrinsic functions of one stack can refer to. */
export class StackScope implements Scope {
  private readonly parameters: Readonly<Record<string, Parameter>>;
  private readonly declaredResources: Readonly<Record<string, Resource>>;
  private readonly pseudoParameters: Readonly<Record<string, unknown>>;
  private readonly nested: ReadonlyMap<string, StackScope>;

  constructor(
    readonly stack: AssemblyStack,
    readonly imported: (exportName: string) => Lookup,
    /** The parameters that the parent passes to a nested stack. */
    private readonly passed: (parameter: string) => Lookup | undefined = () => undefined,
  ) {
    this.parameters = stack.template.Parameters ?? {};
    this.declaredResources = stack.template.Resources ?? {};
    this.pseudoParameters = pseudoParameters(stack.name);
    const children = [...stack.nested].map(([logicalId, child]): [string, StackScope] => [
      logicalId,
      new StackScope(child, imported, (parameter) => this.passedTo(logicalId, parameter)),
    ]);
    this.nested = new Map(children);
  }

  /** This stack and its nested stacks whose conditions are true. */
  get withNested(): StackScope[] {
    return [this, ...this.resources.flatMap(([logicalId]) => this.nested.get(logicalId)?.withNested ?? [])];
  }

  /** Whether a resource is a nested stack. The resources of a nested stack have their own scope. */
  isNested(logicalId: string): boolean {
    return this.nested.has(logicalId);
  }

  /** The resources whose condition is not false. A resource with an unknown condition has a `conditionProblem`. */
  get resources(): [logicalId: string, resource: Resource][] {
    return Object.entries(this.declaredResources).filter(([logicalId]) => this.holdsOrReason(logicalId) !== false);
  }

  /** The reason why the condition of a resource is unknown. */
  conditionProblem(logicalId: string): string | undefined {
    const condition = this.holdsOrReason(logicalId);
    return typeof condition === 'string' ? condition : undefined;
  }

  private holdsOrReason(logicalId: string): boolean | string {
    const { Condition } = this.declaredResources[logicalId]!;
    if (Condition === undefined) return true;
    try {
      return conditionHolds(Condition, this, { logicalId, propertyPath: 'Condition' });
    } catch (error) {
      if (error instanceof UnresolvableIntrinsicError) return `its condition ${Condition} is unknown: ${error.reason}`;
      throw error;
    }
  }

  /** The type of a resource. Undefined if no resource has this name. */
  typeOf(logicalId: string): string | undefined {
    return Object.hasOwn(this.declaredResources, logicalId) ? this.declaredResources[logicalId]!.Type : undefined;
  }

  /** The unresolved properties of a resource. */
  declared(logicalId: string): Readonly<Record<string, unknown>> {
    return this.declaredResources[logicalId]!.Properties ?? {};
  }

  /** The metadata of a resource. */
  metadata(logicalId: string): Readonly<Record<string, unknown>> {
    return Object(this.declaredResources[logicalId]!.Metadata);
  }

  /** Resolves the selected properties of a resource. All other properties need not be resolvable. */
  properties(logicalId: string, selection: Readonly<Record<string, Selection>>): Record<string, unknown> {
    const declared = this.declared(logicalId);
    return Object.fromEntries(
      Object.entries(selection).map(([name, part]) => [
        name,
        resolveSelected(declared[name], part, this, { logicalId, propertyPath: name }),
      ]),
    );
  }

  /**
   * The entries of a map within the properties. Each entry is resolved separately, so an unresolvable entry does not
   * affect other entries.
   */
  entries(logicalId: string, ...path: readonly string[]): [name: string, value: Lookup][] {
    const propertyPath = path.join('.');
    const map = path.reduce<unknown>((outer, step) => {
      const declared = (outer as Readonly<Record<string, unknown>> | undefined)?.[step];
      return resolveOutermost(declared, this, { logicalId, propertyPath });
    }, this.declared(logicalId));
    return Object.entries(map ?? {}).map(([name, value]) => {
      const site = { logicalId, propertyPath: `${propertyPath}.${name}` };
      return [name, resolvedOrReason(value, this, site)];
    });
  }

  physicalName(logicalId: string): string {
    const type = NAMED_TYPES[this.declaredResources[logicalId]!.Type]!;
    const name = this.properties(logicalId, { [type.nameProperty]: true })[type.nameProperty];
    if (name === undefined) return generatedName(type, this.stack, logicalId);
    const text = scalarText(name);
    if (text !== undefined) return text;
    throw new UnresolvableIntrinsicError(
      { logicalId, propertyPath: type.nameProperty },
      name,
      'a name must be a string',
    );
  }

  constructPath(logicalId: string): string {
    return this.stack.constructPaths.get(logicalId) ?? `${this.stack.name}/${logicalId}`;
  }

  ref(name: string): Lookup {
    if (Object.hasOwn(this.pseudoParameters, name)) return { value: this.pseudoParameters[name] };
    if (Object.hasOwn(this.parameters, name)) return parameterValue(this.parameters[name]!, this.passed(name));
    if (this.typeOf(name) === 'AWS::Lambda::Alias') return this.aliasArn(name);
    const problem = this.notEmulated(name);
    return problem === undefined ? { value: this.physicalName(name) } : { reason: problem };
  }

  attribute(logicalId: string, attribute: string): Lookup {
    const nested = this.nested.get(logicalId);
    if (nested !== undefined) return nested.output(attribute.replace(/^Outputs\./, ''));
    const problem = this.notEmulated(logicalId);
    if (problem !== undefined) return { reason: problem };
    const { Type } = this.declaredResources[logicalId]!;
    const type = NAMED_TYPES[Type]!;
    if (Object.hasOwn(type.attributes, attribute)) {
      return { value: type.attributes[attribute]!(arnOf(type, this.physicalName(logicalId))) };
    }
    return {
      reason: `a local run knows only the attributes ${Object.keys(type.attributes).join(' and ')} of an ${Type}`,
    };
  }

  condition(name: string): Lookup {
    const { Conditions = {} } = this.stack.template;
    return Object.hasOwn(Conditions, name) ? { value: Conditions[name] } : { reason: `there is no condition ${name}` };
  }

  mapped(map: string, topLevelKey: string, secondLevelKey: string): Lookup {
    const value = [map, topLevelKey, secondLevelKey].reduce<unknown>(
      (outer, key) => (Object.hasOwn(Object(outer), key) ? (outer as Record<string, unknown>)[key] : undefined),
      this.stack.template.Mappings,
    );
    return value === undefined ? { reason: `the mapping ${map} has no such entry` } : { value };
  }

  private output(name: string): Lookup {
    const { Outputs = {} } = this.stack.template;
    const site = { logicalId: name, propertyPath: 'Value' };
    return Object.hasOwn(Outputs, name)
      ? resolvedOrReason(Outputs[name]!.Value, this, site)
      : { reason: `the nested stack has no output ${name}` };
  }

  private passedTo(logicalId: string, parameter: string): Lookup | undefined {
    return new Map(this.entries(logicalId, 'Parameters')).get(parameter);
  }

  /** The ARN of an alias is the ARN of its function followed by the name of the alias. */
  private aliasArn(logicalId: string): Lookup {
    const { FunctionName, Name } = Object.fromEntries(this.entries(logicalId));
    if (FunctionName === undefined || 'reason' in FunctionName) return FunctionName ?? { reason: 'it has no function' };
    const functionName = String(FunctionName.value).replace(/^arn:.*:function:/, '');
    const name = Name !== undefined && 'value' in Name ? Name.value : '';
    return { value: `${arnOf(NAMED_TYPES['AWS::Lambda::Function']!, functionName)}:${name}` };
  }

  private notEmulated(logicalId: string): string | undefined {
    if (!Object.hasOwn(this.declaredResources, logicalId)) return `the template has no ${logicalId}`;
    const { Type } = this.declaredResources[logicalId]!;
    return Object.hasOwn(NAMED_TYPES, Type) ? undefined : `${logicalId} is an ${Type}, which is not emulated`;
  }
}

function pseudoParameters(stackName: string): Record<string, unknown> {
  return {
    'AWS::AccountId': LOCAL_ACCOUNT,
    'AWS::NotificationARNs': [],
    'AWS::Partition': 'aws',
    'AWS::Region': LOCAL_REGION,
    'AWS::StackId': `arn:aws:cloudformation:${LOCAL_REGION}:${LOCAL_ACCOUNT}:stack/${stackName}/local`,
    'AWS::StackName': stackName,
    'AWS::URLSuffix': 'amazonaws.com',
  };
}

function parameterValue({ Type, Default }: Parameter, passed: Lookup = { value: Default }): Lookup {
  if ('reason' in passed) return passed;
  if (Type.startsWith('AWS::SSM::Parameter::Value'))
    return { reason: 'its value is in Parameter Store, which is not emulated' };
  if (passed.value === undefined) return { reason: 'the parameter has no default' };
  const isList = Type === 'CommaDelimitedList' || Type.startsWith('List<');
  if (!isList || Array.isArray(passed.value)) return passed;
  const text = scalarText(passed.value);
  return text === undefined
    ? { reason: 'the parameter is not a list' }
    : { value: text.split(',').map((item) => item.trim()) };
}

function imported(exportName: string, scopes: readonly StackScope[]): Lookup {
  for (const scope of scopes) {
    for (const [logicalId, output] of Object.entries(scope.stack.template.Outputs ?? {})) {
      if (output.Export === undefined) continue;
      const name = resolveIntrinsics(output.Export.Name, scope, { logicalId, propertyPath: 'Export.Name' });
      if (name === exportName)
        return { value: resolveIntrinsics(output.Value, scope, { logicalId, propertyPath: 'Value' }) };
    }
  }
  return { reason: `no stack of the assembly exports ${exportName}` };
}

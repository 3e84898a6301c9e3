import {
  evaluateCondition,
  type Lookup,
  nameText,
  type ResourceReference,
  resolveEntries,
  resolveSelected,
  type Scope,
  type Selection,
  type Target,
} from './intrinsics';
import { type Output, ownResource, type Properties, type Resource, type Template } from './template';

/** A stack of an app, with its template. */
export interface StackTemplate {
  /** Unique in the app. */
  readonly id: string;
  /** The CloudFormation stack name. Stacks of different stages can have the same name. */
  readonly name: string;
  /** The stage of the stack, as any text. */
  readonly directory?: string;
  /** Absent if the Region is known only at deployment. */
  readonly region?: string;
  readonly template: Template;
  /** The nested stacks, by the logical ids of their resources. */
  readonly nested: ReadonlyMap<string, StackTemplate>;
}

/** The values that AWS gives to the names of a stack. */
export interface Names<S extends StackTemplate> {
  /** The values of pseudo parameters such as `AWS::Region`. */
  pseudoParameters(stack: S): Readonly<Record<string, unknown>>;
  /** The value of `Ref` or `Fn::GetAtt` for a resource. */
  valueOf(reference: ResourceReference<StackScope<S>>): Lookup;
}

/** A value that a stack publishes for other stacks. */
export interface PublishedValue {
  readonly kind: 'export' | 'cross-Region export' | 'output' | 'parameter';
  readonly name: string;
  readonly value: unknown;
  readonly scope: Scope;
}

/** The scopes of all stacks and nested stacks whose condition is not false. */
export function stackScopes<S extends StackTemplate>(stacks: readonly S[], names: Names<S>): StackScope<S>[] {
  const scopes: StackScope<S>[] = [];
  for (const stack of stacks) scopes.push(new StackScope(stack, { scopes, names }));
  return scopes.flatMap((scope) => scope.withNested);
}

/** All stacks of the app. */
interface AppOf<S extends StackTemplate> {
  readonly scopes: readonly StackScope<S>[];
  readonly names: Names<S>;
}

/** The names that the intrinsic functions of one stack can refer to. */
export class StackScope<S extends StackTemplate = StackTemplate> implements Scope {
  private readonly nested: ReadonlyMap<string, StackScope<S>>;
  private readonly conditions = new Map<string, Lookup<boolean>>();
  private publishedValues: Map<string, PublishedValue> | undefined;

  constructor(
    readonly stack: S,
    private readonly app: AppOf<S>,
    /** The stack that creates this nested stack, and the logical id of the nested stack there. */
    private readonly parent?: { readonly scope: StackScope<S>; readonly logicalId: string },
  ) {
    this.nested = new Map(
      [...stack.nested].map(([logicalId, child]) => [
        logicalId,
        new StackScope(child as S, app, { scope: this, logicalId }),
      ]),
    );
  }

  /** This stack and its nested stacks whose conditions are not false. */
  get withNested(): StackScope<S>[] {
    return [this, ...this.resources.flatMap(([logicalId]) => this.nested.get(logicalId)?.withNested ?? [])];
  }

  /** Whether a resource is a nested stack. The resources of a nested stack have their own scope. */
  isNested(logicalId: string): boolean {
    return this.nested.has(logicalId);
  }

  /** The resources whose condition is not false. A resource with an unknown condition has a `conditionProblem`. */
  get resources(): [logicalId: string, resource: Resource][] {
    return Object.entries(this.stack.template.Resources ?? {}).filter(([, resource]) => this.isThere(resource));
  }

  /** The reason why the condition of a resource is unknown. */
  conditionProblem(logicalId: string): string | undefined {
    const { Condition } = this.resource(logicalId) ?? {};
    const holds = Condition === undefined ? { value: true } : this.condition(Condition);
    return 'reason' in holds ? `its condition ${Condition} is unknown: ${holds.reason}` : undefined;
  }

  resource(logicalId: string): Resource | undefined {
    return ownResource(this.stack.template, logicalId);
  }

  /** The type of a resource. Undefined if no resource has this name. */
  typeOf(logicalId: string): string | undefined {
    return this.resource(logicalId)?.Type;
  }

  /** The unresolved properties of a resource. */
  declared(logicalId: string): Properties {
    return this.resource(logicalId)?.Properties ?? {};
  }

  /** The metadata of a resource. */
  metadata(logicalId: string): Properties {
    return Object(this.resource(logicalId)?.Metadata);
  }

  /** Resolves the selected properties of a resource. All other properties need not be resolvable. */
  properties(logicalId: string, selection: { readonly [name: string]: Selection }): Lookup<Record<string, unknown>> {
    return resolveSelected(this.declared(logicalId), selection, this) as Lookup<Record<string, unknown>>;
  }

  /** Resolves each entry of a map within the properties. An unknown entry does not affect other entries. */
  entries(logicalId: string, ...path: readonly string[]): Lookup<[name: string, value: Lookup][]> {
    return resolveEntries(this.declared(logicalId), path, this);
  }

  ref(name: string): Target {
    const pseudoParameters = this.app.names.pseudoParameters(this.stack);
    if (name === 'AWS::NoValue' || Object.hasOwn(pseudoParameters, name)) {
      return { value: pseudoParameters[name], scope: this };
    }
    const { Parameters = {} } = this.stack.template;
    return Object.hasOwn(Parameters, name) ? this.parameter(name) : this.resourceTarget(name);
  }

  attribute(logicalId: string, attribute: string): Target {
    const nested = this.nested.get(logicalId);
    if (nested !== undefined) return nested.output(attribute.replace(/^Outputs\./, ''));
    const { Type, Properties } = this.resource(logicalId) ?? {};
    if (Type === 'AWS::SSM::Parameter' && attribute === 'Value') return { value: Properties?.Value, scope: this };
    // The CDK reads the values of a stack in another Region with this custom resource.
    if (Type !== 'Custom::CrossRegionExportReader') return this.resourceTarget(logicalId, attribute);
    const value = Object(Object(Properties?.ReaderProps).imports)[attribute];
    return value === undefined ? { reason: `${logicalId} does not read ${attribute}` } : { value, scope: this };
  }

  exported(name: string): Target {
    return this.firstPublished(['export'], name) ?? { reason: `no stack of the app exports ${name}` };
  }

  stackOutput(stackName: string, output: string, region = this.stack.region): Target {
    const name = stackName.replace(/^arn:.*:stack\/([^/]+).*$/, '$1');
    const found = this.nearestFirst().find(({ stack }) => {
      const isOfRegion = [region, undefined].includes(stack.region) || region === undefined;
      return stack.name === name && isOfRegion;
    });
    return found?.published.get(`output ${output}`) ?? { reason: `the app has no output ${output} of a stack ${name}` };
  }

  storedParameter(name: string): Target {
    return (
      this.firstPublished(['parameter', 'cross-Region export'], name) ?? {
        reason: `only Systems Manager knows the parameter ${name}`,
      }
    );
  }

  condition(name: string): Lookup<boolean> {
    const { Conditions = {} } = this.stack.template;
    if (!Object.hasOwn(Conditions, name)) return { reason: `there is no condition ${name}` };
    const known = this.conditions.get(name);
    if (known !== undefined) return known;
    this.conditions.set(name, { reason: `the condition ${name} refers to itself` });
    const result = evaluateCondition(Conditions[name], this);
    this.conditions.set(name, result);
    return result;
  }

  mapped(map: string, keys: readonly string[]): Lookup {
    const value = [map, ...keys].reduce<unknown>(
      (outer, key) => (Object.hasOwn(Object(outer), key) ? (outer as Record<string, unknown>)[key] : undefined),
      this.stack.template.Mappings,
    );
    return value === undefined ? { reason: `the mapping ${map} has no such entry` } : { value };
  }

  valueOf({ logicalId, attribute }: ResourceReference): Lookup {
    return this.app.names.valueOf({ scope: this, logicalId, ...(attribute !== undefined && { attribute }) });
  }

  /** The outputs whose condition is not false. */
  get outputs(): [name: string, output: Output][] {
    return Object.entries(this.stack.template.Outputs ?? {}).filter(([, output]) => this.isThere(output));
  }

  private isThere({ Condition }: { readonly Condition?: string }): boolean {
    const holds = Condition === undefined ? { value: true } : this.condition(Condition);
    return 'reason' in holds || holds.value;
  }

  /** The outputs, the exports, and the parameters in Systems Manager, by their kinds and names. */
  get published(): ReadonlyMap<string, PublishedValue> {
    if (this.publishedValues !== undefined) return this.publishedValues;
    this.publishedValues = new Map();
    for (const [name, { Export, Value }] of this.outputs) {
      this.publish('output', name, Value);
      if (Export !== undefined) this.publish('export', nameText(Export.Name, this), Value);
    }
    for (const [, { Type, Properties = {} }] of this.resources) {
      if (Type === 'AWS::SSM::Parameter') this.publish('parameter', nameText(Properties.Name, this), Properties.Value);
      // The CDK stores the values for a stack in another Region with this custom resource.
      if (Type !== 'Custom::CrossRegionExportWriter') continue;
      const { exports } = Object(Properties.WriterProps);
      for (const [name, value] of Object.entries(Object(exports))) this.publish('cross-Region export', name, value);
    }
    return this.publishedValues;
  }

  private output(name: string): Target {
    const found = this.outputs.find(([output]) => output === name);
    if (found === undefined) return { reason: `the stack ${this.stack.name} has no output ${name}` };
    return { value: found[1].Value, scope: this };
  }

  private parameter(name: string): Target {
    const { Type, Default } = this.stack.template.Parameters![name]!;
    const { scope, logicalId } = this.parent ?? {};
    const passed = scope && Object(scope.declared(logicalId!).Parameters);
    const own = passed !== undefined && Object.hasOwn(passed, name) ? { value: passed[name], scope } : undefined;
    const { value, scope: scopeOfValue = this } = own ?? { value: Default };
    if (value === undefined) return { reason: `the parameter ${name} has no default` };
    if (!Type.startsWith('AWS::SSM::Parameter::Value')) return { value, scope: scopeOfValue, type: Type };
    return { value: `{{resolve:ssm:${nameText(value, scopeOfValue)}}}`, scope: this, type: Type };
  }

  private resourceTarget(logicalId: string, attribute?: string): Target {
    if (this.resource(logicalId) === undefined) return { reason: `the template has no ${logicalId}` };
    return { scope: this, logicalId, ...(attribute !== undefined && { attribute }) };
  }

  /** All stacks of the app. The stacks of the own stage are first. */
  private nearestFirst(): StackScope<S>[] {
    const all = this.app.scopes.flatMap((scope) => scope.withNested);
    const isNear = ({ stack }: StackScope<S>) => stack.directory === this.stack.directory;
    return [...all.filter(isNear), ...all.filter((scope) => !isNear(scope))];
  }

  private firstPublished(kinds: readonly PublishedValue['kind'][], name: string): Target | undefined {
    const values = this.nearestFirst().flatMap(({ published }) =>
      kinds.map((kind) => published.get(`${kind} ${name}`)),
    );
    return values.find((value) => value !== undefined);
  }

  private publish(kind: PublishedValue['kind'], name: string, value: unknown): void {
    this.publishedValues!.set(`${kind} ${name}`, { kind, name, value, scope: this });
  }
}

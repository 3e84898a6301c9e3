import { isObject } from '../core/kernel/checks';
import { describeValue } from '../core/kernel/errors';

/** A value, or the reason why it is unknown. */
export type Lookup<T = unknown> = { readonly value: T } | { readonly reason: string };

/** A value in the template of the stack `scope`, which can contain intrinsic functions. */
interface TemplateValue {
  readonly value: unknown;
  readonly scope: Scope;
  /** The type of the parameter that has the value. */
  readonly type?: string;
}

/** A resource of the stack `scope`, or one of its attributes. */
export interface ResourceReference<S extends Scope = Scope> {
  readonly scope: S;
  readonly logicalId: string;
  /** The attribute in `Fn::GetAtt`. Absent for `Ref`. */
  readonly attribute?: string;
}

/** The value or the resource of a name in a template. */
export type Target<S extends Scope = Scope> = TemplateValue | ResourceReference<S> | { readonly reason: string };

/** The names that intrinsic functions of one stack can refer to. */
export interface Scope {
  ref(name: string): Target;
  attribute(logicalId: string, attribute: string): Target;
  exported(name: string): Target;
  /** An output of a stack of the app. Without a Region, the stack is in the Region of this stack. */
  stackOutput(stackName: string, output: string, region: string | undefined): Target;
  /** A parameter of Systems Manager. */
  storedParameter(name: string): Target;
  /** The value in a mapping, by its two keys. */
  mapped(map: string, keys: readonly string[]): Lookup;
  condition(name: string): Lookup<boolean>;
  /** The value of `Ref` or `Fn::GetAtt` for a resource of this stack. */
  valueOf(reference: ResourceReference): Lookup;
}

/**
 * Resolves a value of a template: replaces every intrinsic function with its value.
 *
 * `AWS::NoValue` becomes `undefined`: the result omits a property or a list element with this value.
 */
export function resolve(value: unknown, scope: Scope): Lookup {
  return attempt(() => evaluate(value, { scope, path: '' }));
}

/**
 * The parts of a value to resolve. `true` selects the whole value. An object selects fields by name, also in each
 * object of a list.
 */
export type Selection = true | { readonly [name: string]: Selection };

/**
 * Resolves the selected parts of a value. The result omits all other parts, so the other parts need not be resolvable.
 * A reason begins with the path of the unknown part.
 */
export function resolveSelected(value: unknown, selection: Selection, scope: Scope): Lookup {
  return attempt(
    () => selected(value, selection, { scope, path: '' }),
    ({ path, reason }) => `${path || 'the resource'} is unknown: ${reason}`,
  );
}

/** Resolves each entry of the map at a path of a value. An unknown entry does not affect other entries. */
export function resolveEntries(
  value: unknown,
  path: readonly string[],
  scope: Scope,
): Lookup<[name: string, value: Lookup][]> {
  return attempt(
    () => {
      const map = path.reduce<unknown>(
        (outer, step) => outermost(Object(outer)[step], { scope, path: path.join('.') }),
        outermost(value, { scope, path: '' }),
      );
      return Object.entries(Object(map)).map(([name, entry]) => [name, resolve(entry, scope)]);
    },
    ({ reason }) => `${path.join('.') || 'the resource'} is unknown: ${reason}`,
  );
}

/** Resolves a value as `resolve` does, but keeps the intrinsic functions whose values are unknown. */
export function resolveKnown(value: unknown, scope: Scope): unknown {
  const whole = resolve(value, scope);
  if ('value' in whole) return whole.value;
  return attemptOr(value, () => inDepth(value, (item) => resolveKnown(item, scope)));
}

/** Evaluates the expression of a condition. */
export function evaluateCondition(expression: unknown, scope: Scope): Lookup<boolean> {
  return attempt(() => condition(expression, { scope, path: '' }));
}

/** The text of a name for comparisons, even if a part of the name is unknown. */
export function nameText(name: unknown, scope: Scope): string {
  const known = resolveKnown(name, scope);
  return scalarText(known) ?? JSON.stringify(known) ?? '';
}

/** The text of a value, in which `unknown` stands for each part that is unknown. */
export function textPattern(value: unknown, scope: Scope, unknown: string): string {
  const result = attempt(() => evaluate(value, { scope, path: '', unknown }));
  return ('value' in result ? scalarText(result.value) : undefined) ?? unknown;
}

/** The names in an intrinsic function that refer to a resource or to a value of another place. */
export function targetsOf(value: unknown, scope: Scope): Target[] {
  if (typeof value === 'string') {
    return [...value.matchAll(STORED_PARAMETER)].map(([, name]) => scope.storedParameter(name!));
  }
  const name = intrinsicName(value);
  if (name === undefined) return [];
  const argument = (value as Record<string, unknown>)[name];
  if (name === 'Fn::Sub') {
    const [text, variables] = [argument].flat();
    return placeholders(text).flatMap((each) => (Object.hasOwn(Object(variables), each) ? [] : named(each, scope)));
  }
  return Object.hasOwn(TARGETS, name) ? [TARGETS[name]!(argument, scope)] : [];
}

/**
 * Converts a string, a number or a boolean to a string, because CloudFormation accepts each of these types in place of
 * another. Returns undefined for any other value.
 */
export function scalarText(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/** The stack of a value, and its path from the place that needs it. */
interface Site {
  readonly scope: Scope;
  readonly path: string;
  /** A text in place of each intrinsic function whose value is unknown. @default the evaluation ends */
  readonly unknown?: string;
}

/** Ends the evaluation of a value. This error never leaves this file. */
class UnknownValue extends Error {
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(reason);
  }
}

function attempt<T>(work: () => T, reasonOf = ({ reason }: UnknownValue) => reason): Lookup<T> {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof UnknownValue) return { reason: reasonOf(error) };
    throw error;
  }
}

function orUnknown(site: Site, work: () => unknown): unknown {
  if (site.unknown === undefined) return work();
  const result = attempt(work);
  return 'value' in result ? result.value : site.unknown;
}

function attemptOr<T>(fallback: T, work: () => T): T {
  const result = attempt(() => nested({ path: '' }, work));
  return 'value' in result ? result.value : fallback;
}

/**
 * The maximum depth of nested intrinsic functions, across names, conditions and stacks. Real templates need a few
 * levels.
 */
const MAX_DEPTH = 100;

/** The current depth. A single counter is enough, because values are resolved synchronously. */
let depth = 0;

function nested<T>(site: Pick<Site, 'path'>, work: () => T): T {
  if (depth === MAX_DEPTH) return fail(site, 'it refers to itself, or is nested too deeply');
  depth += 1;
  try {
    return work();
  } finally {
    depth -= 1;
  }
}

function evaluate(value: unknown, site: Site): unknown {
  if (typeof value === 'string') return orUnknown(site, () => withoutDynamicReferences(value, site));
  if (!isObject(value)) return value;
  return nested(site, () => {
    const name = intrinsicName(value);
    if (name === undefined) return inDepth(value, (item, step) => evaluate(item, inside(site, step)));
    const evaluator = Object.hasOwn(EVALUATORS, name) ? EVALUATORS[name] : undefined;
    if (evaluator === undefined) return fail(site, `only CloudFormation evaluates ${name}`);
    const result = orUnknown(site, () => evaluator(value[name], site));
    return typeof result === 'string' ? withoutDynamicReferences(result, site) : result;
  });
}

/** Replaces each item of a list and each field of an object. Omits items and fields without a value. */
function inDepth(value: unknown, replace: (item: unknown, step: string) => unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => replace(item, `[${index}]`)).filter(isPresent);
  const entries = Object.entries(value).map(([key, item]) => [key, replace(item, `.${key}`)] as const);
  return Object.fromEntries(entries.filter(([, item]) => isPresent(item)));
}

function selected(value: unknown, selection: Selection, site: Site): unknown {
  if (selection === true) return evaluate(value, site);
  const whole = outermost(value, site);
  if (Array.isArray(whole)) return inDepth(whole, (item, step) => selected(item, selection, inside(site, step)));
  if (!isObject(whole)) return whole;
  const parts = Object.fromEntries(Object.keys(selection).map((name) => [name, whole[name]]));
  return inDepth(parts, (item, step) => selected(item, selection[step.slice(1)]!, inside(site, step)));
}

/**
 * Resolves only the outermost intrinsic functions of a value. For example, `Fn::If` returns the branch as it is in the
 * template.
 */
function outermost(value: unknown, site: Site): unknown {
  const name = intrinsicName(value);
  if (name === undefined) return value;
  if (name !== 'Fn::If') return evaluate(value, site);
  return nested(site, () => outermost(chosenBranch((value as Record<string, unknown>)[name], site), site));
}

const TARGETS: Readonly<Record<string, (argument: unknown, scope: Scope) => Target>> = {
  Ref: (argument, scope) => scope.ref(String(argument)),
  'Fn::GetAtt': (argument, scope) => {
    const [logicalId, ...attribute] = typeof argument === 'string' ? argument.split('.') : [argument].flat();
    return scope.attribute(nameText(logicalId, scope), attribute.map((part) => nameText(part, scope)).join('.'));
  },
  'Fn::ImportValue': (argument, scope) => scope.exported(nameText(argument, scope)),
  'Fn::GetStackOutput': (argument, scope) => {
    const { StackName, OutputName, Region } = Object(argument);
    const region = Region === undefined ? undefined : nameText(Region, scope);
    return scope.stackOutput(nameText(StackName, scope), nameText(OutputName, scope), region);
  },
};

type Evaluator = (argument: unknown, site: Site) => unknown;

const EVALUATORS: Readonly<Record<string, Evaluator>> = {
  ...Object.fromEntries(
    Object.entries(TARGETS).map(([name, target]): [string, Evaluator] => [
      name,
      (argument, site) => valueAt(target(argument, site.scope), site),
    ]),
  ),
  'Fn::Base64': (argument, site) => Buffer.from(text(evaluate(argument, site), site)).toString('base64'),
  'Fn::Join': (argument, site) => {
    const [delimiter, parts] = list(argument, site);
    return texts(evaluate(parts, site), site).join(text(delimiter, site));
  },
  'Fn::Split': (argument, site) => {
    const [delimiter, source] = list(argument, site);
    return text(evaluate(source, site), site).split(text(delimiter, site));
  },
  'Fn::Select': (argument, site) => {
    const [index, items] = list(argument, site);
    const position = text(evaluate(index, site), site);
    const item = list(outermost(items, site), site)[Number(position)];
    return evaluate(item, site) ?? fail(site, `the list has no element ${position}`);
  },
  'Fn::Length': (argument, site) => list(evaluate(argument, site), site).length,
  'Fn::ToJsonString': (argument, site) => JSON.stringify(evaluate(argument, site)),
  'Fn::Sub': (argument, site) => {
    const [template, variables] = typeof argument === 'string' ? [argument, {}] : list(argument, site);
    return substitute(text(template, site), Object(variables), site);
  },
  'Fn::If': (argument, site) => evaluate(chosenBranch(argument, site), site),
  'Fn::FindInMap': (argument, site) => {
    const [map, topLevelKey, secondLevelKey, options] = list(argument, site);
    const [name, ...keys] = texts(evaluate([map, topLevelKey, secondLevelKey], site), site);
    const lookup = site.scope.mapped(name!, keys);
    const { DefaultValue } = Object(options);
    return 'reason' in lookup && DefaultValue !== undefined ? evaluate(DefaultValue, site) : found(lookup, site);
  },
  'Fn::Transform': (argument, site) => fail(site, `only CloudFormation runs the macro ${Object(argument).Name}`),
};

const CONDITIONS: Readonly<Record<string, (argument: unknown, site: Site) => boolean>> = {
  Condition: (argument, site) => conditionNamed(argument, site),
  'Fn::Equals': (argument, site) => {
    const [left, right] = list(argument, site).map((item) => comparable(evaluate(item, site)));
    return left === right;
  },
  'Fn::And': (argument, site) => decided(argument, false, site),
  'Fn::Or': (argument, site) => decided(argument, true, site),
  'Fn::Not': (argument, site) => !condition(list(argument, site)[0], site),
};

/** An operand with the deciding value decides, even if other operands are unknown. */
function decided(argument: unknown, deciding: boolean, site: Site): boolean {
  const operands = list(argument, site).map((operand) => attempt(() => condition(operand, site)));
  if (operands.some((operand) => 'value' in operand && operand.value === deciding)) return deciding;
  for (const operand of operands) found(operand, site);
  return !deciding;
}

/** A value as a string, for comparisons. Two lists are equal if their items are equal. */
function comparable(value: unknown): string | undefined {
  return scalarText(value) ?? JSON.stringify(value);
}

function condition(expression: unknown, site: Site): boolean {
  const [name = '', ...others] = isObject(expression) ? Object.keys(expression) : [];
  if (others.length > 0 || !Object.hasOwn(CONDITIONS, name)) {
    return fail(site, `${describeValue(expression)} is not a condition`);
  }
  return nested(site, () => CONDITIONS[name]!((expression as Record<string, unknown>)[name], site));
}

function conditionNamed(name: unknown, site: Site): boolean {
  return found(site.scope.condition(text(name, site)), site);
}

function chosenBranch(argument: unknown, site: Site): unknown {
  const [name, whenTrue, whenFalse] = list(argument, site);
  return conditionNamed(name, site) ? whenTrue : whenFalse;
}

/** The value of a name. */
function valueAt(target: Target, site: Site): unknown {
  return orUnknown(site, () => targetValue(target, site));
}

function targetValue(target: Target, site: Site): unknown {
  if ('reason' in target) return fail(site, target.reason);
  if ('logicalId' in target) return nested(site, () => found(target.scope.valueOf(target), site));
  const { scope, type = '' } = target;
  const value = evaluate(target.value, { ...site, scope });
  if (type === 'Number' && Number.isFinite(Number(value))) return Number(value);
  const isList = type === 'CommaDelimitedList' || type.includes('List<');
  if (!isList || Array.isArray(value)) return value;
  return text(value, site)
    .split(',')
    .map((item) => item.trim());
}

/** `Name` or `LogicalId.Attribute` in the text of `Fn::Sub`. */
function named(placeholder: string, scope: Scope): Target {
  const [logicalId = '', ...attribute] = placeholder.split('.');
  return attribute.length === 0 ? scope.ref(logicalId) : scope.attribute(logicalId, attribute.join('.'));
}

const PLACEHOLDER = /\$\{([^{}]*)\}/g;

function placeholders(template: unknown): string[] {
  return typeof template === 'string' ? [...template.matchAll(PLACEHOLDER)].map(([, name]) => name!) : [];
}

/** Replaces `${Name}` and `${LogicalId.Attribute}`. `${!Literal}` becomes the text `${Literal}`. */
function substitute(template: string, variables: Readonly<Record<string, unknown>>, site: Site): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    if (name.startsWith('!')) return `\${${name.slice(1)}}`;
    const isVariable = Object.hasOwn(variables, name);
    return text(isVariable ? evaluate(variables[name], site) : valueAt(named(name, site.scope), site), site);
  });
}

/** A reference to a parameter of Systems Manager, with or without the version of the parameter. */
const STORED_PARAMETER = /\{\{resolve:ssm:([^:}]+)(?::\d+)?\}\}/g;

/** Replaces references to parameters of Systems Manager that the app declares. AWS knows all other dynamic references. */
function withoutDynamicReferences(value: string, site: Site): string {
  if (!value.includes('{{resolve:')) return value;
  const known = value.replace(STORED_PARAMETER, (_, name: string) =>
    text(valueAt(site.scope.storedParameter(name), site), site),
  );
  const [unknown] = /\{\{resolve:[^}]*\}\}/.exec(known) ?? [];
  return unknown === undefined ? known : fail(site, `only AWS knows ${unknown}`);
}

function found<T>(lookup: Lookup<T>, site: Site): T {
  return 'value' in lookup ? lookup.value : fail(site, lookup.reason);
}

function text(value: unknown, site: Site): string {
  return scalarText(value) ?? fail(site, `expected a string, got ${describeValue(value)}`);
}

function texts(value: unknown, site: Site): string[] {
  return list(value, site).map((item) => text(item, site));
}

function list(value: unknown, site: Site): unknown[] {
  return Array.isArray(value) ? value : fail(site, `expected a list, got ${describeValue(value)}`);
}

function fail({ path }: Pick<Site, 'path'>, reason: string): never {
  throw new UnknownValue(path, reason);
}

/**
 * The name of the intrinsic function that a value consists of. A macro can also replace the object around it, so
 * `Fn::Transform` can have siblings.
 */
export function intrinsicName(value: unknown): string | undefined {
  if (!isObject(value) || Array.isArray(value)) return undefined;
  if (Object.hasOwn(value, 'Fn::Transform')) return 'Fn::Transform';
  const [name, ...others] = Object.keys(value);
  return others.length === 0 && (name === 'Ref' || name?.startsWith('Fn::')) ? name : undefined;
}

function inside(site: Site, step: string): Site {
  return { ...site, path: (site.path + step).replace(/^\./, '') };
}

function isPresent(value: unknown): boolean {
  return value !== undefined;
}

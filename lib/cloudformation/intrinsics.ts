import { isObject } from '../core/kernel/checks';
import { describeValue, EvenShardsError } from '../core/kernel/errors';

/** The value of a name in a template, or the reason why it has no value. */
export type Lookup = { readonly value: unknown } | { readonly reason: string };

/** The names that intrinsic functions of one stack may refer to. */
export interface Scope {
  ref(name: string): Lookup;
  attribute(logicalId: string, attribute: string): Lookup;
  condition(name: string): Lookup;
  mapped(map: string, topLevelKey: string, secondLevelKey: string): Lookup;
  imported(exportName: string): Lookup;
}

/** The location of a value in a template. */
interface Site {
  readonly logicalId: string;
  readonly propertyPath: string;
}

/** The local run needs the value of an intrinsic function that only CloudFormation can resolve. */
export class UnresolvableIntrinsicError extends EvenShardsError {
  readonly logicalId: string;
  readonly propertyPath: string;

  constructor(
    site: Site,
    /** The intrinsic function in the template. */
    readonly intrinsic: unknown,
    readonly reason: string,
  ) {
    super(
      'UNRESOLVABLE_INTRINSIC',
      `cannot resolve ${describeValue(intrinsic)} at ${site.propertyPath} of ${site.logicalId}: ${reason}`,
    );
    this.logicalId = site.logicalId;
    this.propertyPath = site.propertyPath;
  }
}

/**
 * Resolves a value of a template: replaces every intrinsic function with its value.
 *
 * `AWS::NoValue` becomes `undefined`: the result omits a property or a list element with this value.
 */
export function resolveIntrinsics(value: unknown, scope: Scope, site: Site): unknown {
  if (!isObject(value)) return value;
  return nested({ scope, site, intrinsic: value }, () => resolvedObject(value, scope, site));
}

/**
 * The maximum depth of nested intrinsic functions, across names, conditions and stacks. Real templates need a few
 * levels.
 */
const MAX_DEPTH = 100;

/** The current depth. A single counter is enough, because values are resolved synchronously. */
let depth = 0;

function nested<T>(call: Call, resolve: () => T): T {
  if (depth === MAX_DEPTH) return fail(call, 'it refers to itself, or is nested too deeply');
  depth += 1;
  try {
    return resolve();
  } finally {
    depth -= 1;
  }
}

function resolvedObject(value: Record<string, unknown>, scope: Scope, site: Site): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => resolveIntrinsics(item, scope, inside(site, `[${index}]`))).filter(isPresent);
  }
  const name = intrinsicName(value);
  if (name !== undefined) return evaluate(name, value[name], { scope, site, intrinsic: value });
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, resolveIntrinsics(item, scope, inside(site, `.${key}`))] as const)
      .filter(([, item]) => isPresent(item)),
  );
}

/**
 * The parts of a value to resolve. `true` selects the whole value. An object selects fields by name, also in each
 * object of a list.
 */
export type Selection = true | { readonly [name: string]: Selection };

/**
 * Resolves the selected parts of a value. The result omits all other parts, so the other parts need not be resolvable.
 */
export function resolveSelected(value: unknown, selection: Selection, scope: Scope, site: Site): unknown {
  if (selection === true) return resolveIntrinsics(value, scope, site);
  const outermost = resolveOutermost(value, scope, site);
  if (Array.isArray(outermost)) {
    return outermost
      .map((item, index) => resolveSelected(item, selection, scope, inside(site, `[${index}]`)))
      .filter(isPresent);
  }
  if (!isObject(outermost)) return outermost;
  return Object.fromEntries(
    Object.entries(selection)
      .map(([name, part]) => [name, resolveSelected(outermost[name], part, scope, inside(site, `.${name}`))] as const)
      .filter(([, item]) => isPresent(item)),
  );
}

/** Resolves a value as `resolveIntrinsics` does, or returns the reason why it cannot be resolved. */
export function resolvedOrReason(value: unknown, scope: Scope, site: Site): Lookup {
  try {
    return { value: resolveIntrinsics(value, scope, site) };
  } catch (error) {
    if (error instanceof UnresolvableIntrinsicError) return { reason: error.reason };
    throw error;
  }
}

/**
 * Resolves only the outermost intrinsic functions of a value. For example, `Fn::If` returns the branch as it is in the
 * template.
 */
export function resolveOutermost(value: unknown, scope: Scope, site: Site): unknown {
  if (!isObject(value) || Array.isArray(value)) return value;
  const name = intrinsicName(value);
  if (name === undefined) return value;
  if (name !== 'Fn::If') return resolveIntrinsics(value, scope, site);
  const call = { scope, site, intrinsic: value };
  return nested(call, () => resolveOutermost(chosenBranch(value[name], call), scope, site));
}

/** Whether a condition of the template's `Conditions` is true. */
export function conditionHolds(name: string, scope: Scope, site: Site): boolean {
  return conditionNamed(name, { scope, site, intrinsic: { Condition: name } });
}

/** An intrinsic function, with the data that its evaluation and its error messages use. */
interface Call {
  readonly scope: Scope;
  readonly site: Site;
  readonly intrinsic: unknown;
}

type Evaluator = (argument: unknown, call: Call) => unknown;

const EVALUATORS: Readonly<Record<string, Evaluator>> = {
  Ref: (argument, call) => reference(text(argument, call), call),
  'Fn::GetAtt': (argument, call) => {
    const [logicalId = '', ...attribute] =
      typeof argument === 'string' ? argument.split('.') : texts(resolved(argument, call), call);
    return found(call.scope.attribute(logicalId, attribute.join('.')), call);
  },
  'Fn::Join': (argument, call) => {
    const [delimiter, parts] = list(argument, call);
    return texts(resolved(parts, call), call).join(text(delimiter, call));
  },
  'Fn::Split': (argument, call) => {
    const [delimiter, source] = list(argument, call);
    return text(resolved(source, call), call).split(text(delimiter, call));
  },
  'Fn::Select': (argument, call) => {
    const [index, items] = list(argument, call).map((item) => resolved(item, call));
    const selected = list(items, call)[Number(index)];
    return selected ?? fail(call, `the list has no element ${index}`);
  },
  'Fn::Sub': (argument, call) => {
    const [template, variables] = typeof argument === 'string' ? [argument, {}] : list(argument, call);
    return substitute(text(template, call), resolved(variables, call) as Record<string, unknown>, call);
  },
  'Fn::If': (argument, call) => resolved(chosenBranch(argument, call), call),
  'Fn::FindInMap': (argument, call) => {
    const [map = '', topLevelKey = '', secondLevelKey = ''] = texts(resolved(argument, call), call);
    return found(call.scope.mapped(map, topLevelKey, secondLevelKey), call);
  },
  'Fn::ImportValue': (argument, call) => found(call.scope.imported(text(resolved(argument, call), call)), call),
};

const CONDITIONS: Readonly<Record<string, (argument: unknown, call: Call) => boolean>> = {
  Condition: (argument, call) => conditionNamed(text(argument, call), call),
  'Fn::Equals': (argument, call) => {
    const [left, right] = list(argument, call).map((item) => comparable(resolved(item, call)));
    return left === right;
  },
  'Fn::And': (argument, call) => list(argument, call).every((operand) => condition(operand, call)),
  'Fn::Or': (argument, call) => list(argument, call).some((operand) => condition(operand, call)),
  'Fn::Not': (argument, call) => !condition(list(argument, call)[0], call),
};

/** A value as a string, for comparisons. Two lists are equal if their items are equal. */
function comparable(value: unknown): string | undefined {
  return scalarText(value) ?? JSON.stringify(value);
}

function evaluate(name: string, argument: unknown, call: Call): unknown {
  if (!Object.hasOwn(EVALUATORS, name)) return fail(call, `${name} is not supported locally`);
  return EVALUATORS[name]!(argument, call);
}

function reference(name: string, call: Call): unknown {
  return name === 'AWS::NoValue' ? undefined : found(call.scope.ref(name), call);
}

/** Replaces `${Name}` and `${LogicalId.Attribute}`. `${!Literal}` becomes the text `${Literal}`. */
function substitute(template: string, variables: Readonly<Record<string, unknown>>, call: Call): string {
  return template.replace(/\$\{([^{}]*)\}/g, (_, name: string) => {
    if (name.startsWith('!')) return `\${${name.slice(1)}}`;
    if (Object.hasOwn(variables, name)) return text(variables[name], call);
    const [logicalId = '', ...attribute] = name.split('.');
    const value =
      attribute.length === 0
        ? reference(name, call)
        : found(call.scope.attribute(logicalId, attribute.join('.')), call);
    return text(value, call);
  });
}

function chosenBranch(argument: unknown, call: Call): unknown {
  const [condition, whenTrue, whenFalse] = list(argument, call);
  return conditionNamed(text(condition, call), call) ? whenTrue : whenFalse;
}

function conditionNamed(name: string, call: Call): boolean {
  return condition(found(call.scope.condition(name), call), call);
}

function condition(expression: unknown, call: Call): boolean {
  const [name = '', ...others] = isObject(expression) ? Object.keys(expression) : [];
  if (others.length > 0 || !Object.hasOwn(CONDITIONS, name)) {
    return fail(call, `${describeValue(expression)} is not a condition`);
  }
  return nested(call, () => CONDITIONS[name]!((expression as Record<string, unknown>)[name], call));
}

function resolved(value: unknown, call: Call): unknown {
  return resolveIntrinsics(value, call.scope, call.site);
}

function found(lookup: Lookup, call: Call): unknown {
  return 'value' in lookup ? lookup.value : fail(call, lookup.reason);
}

function text(value: unknown, call: Call): string {
  return scalarText(value) ?? fail(call, `expected a string, got ${describeValue(value)}`);
}

function texts(value: unknown, call: Call): string[] {
  return list(value, call).map((item) => text(item, call));
}

function list(value: unknown, call: Call): unknown[] {
  return Array.isArray(value) ? value : fail(call, `expected a list, got ${describeValue(value)}`);
}

function fail(call: Call, reason: string): never {
  throw new UnresolvableIntrinsicError(call.site, call.intrinsic, reason);
}

function intrinsicName(value: Readonly<Record<string, unknown>>): string | undefined {
  const [name, ...others] = Object.keys(value);
  return others.length === 0 && (name === 'Ref' || name?.startsWith('Fn::')) ? name : undefined;
}

function inside(site: Site, step: string): Site {
  return { ...site, propertyPath: site.propertyPath + step };
}

function isPresent(value: unknown): boolean {
  return value !== undefined;
}

/**
 * Converts a string, a number or a boolean to a string, because CloudFormation accepts each of these types in place of
 * another. Returns undefined for any other value.
 */
export function scalarText(value: unknown): string | undefined {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

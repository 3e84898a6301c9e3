import { isRecord } from '../../../lib/core/kernel/checks';
import { parsedJson } from '../../../lib/core/kernel/parsed-json';
/**
 * A pattern of an event filter. The pattern of an object has patterns for some fields, and all these fields must
 * match. The pattern of a value is a list of conditions, and at least one condition must be true.
 *
 * Sources: the AWS Lambda developer guide, "Control which events Lambda sends to your function", and the EventBridge
 * user guide, "Comparison operators". Source for invalid patterns and for `exists` in lists: aws/event-ruler, the
 * matcher of EventBridge.
 */
export type FilterPattern = { readonly [field: string]: unknown };

/** Tests one value that is neither an object nor a list. */
type Test = (leaf: unknown) => boolean;

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** `numeric` compares numbers up to this absolute value. Source: the Lambda developer guide. */
const LARGEST_NUMBER = 5e9;

/** The test of each operator, for its operand. Undefined if AWS rejects the operand. */
const OPERATORS: Readonly<Record<string, (operand: unknown) => Test | undefined>> = {
  prefix: (operand) => textTest(operand, (leaf, start) => leaf.startsWith(start)),
  suffix: (operand) => textTest(operand, (leaf, end) => leaf.endsWith(end)),
  'equals-ignore-case': (text) => textTest({ 'equals-ignore-case': text }, (leaf, lower) => leaf === lower),
  'anything-but': anythingBut,
  numeric: (operand) => (Array.isArray(operand) ? numericTest(operand) : undefined),
};

/** A test of a text. With the operand `{ "equals-ignore-case": TEXT }`, the test ignores case. */
function textTest(operand: unknown, holds: (leaf: string, text: string) => boolean): Test | undefined {
  if (typeof operand === 'string') return (leaf) => typeof leaf === 'string' && holds(leaf, operand);
  const [[operator, text] = [], ...others] = Object.entries(Object(operand));
  if (operator !== 'equals-ignore-case' || typeof text !== 'string' || others.length > 0) return undefined;
  return (leaf) => typeof leaf === 'string' && holds(leaf.toLowerCase(), text.toLowerCase());
}

const NEGATED: readonly string[] = ['prefix', 'suffix', 'equals-ignore-case'];

function anythingBut(operand: unknown): Test | undefined {
  const [operator, values] = isRecord(operand) ? (Object.entries(operand)[0] ?? ['']) : [undefined, operand];
  const excluded = [values].flat();
  const type = typeof excluded[0];
  const isAllowed = type === 'string' || (type === 'number' && operator === undefined);
  if (!isAllowed || excluded.some((value) => typeof value !== type)) return undefined;
  if (operator === undefined) return (leaf) => !excluded.includes(leaf);
  if (!NEGATED.includes(operator) || Object.keys(operand as object).length > 1) return undefined;
  const tests = excluded.map((value) => OPERATORS[operator]!(value)!);
  return (leaf) => !tests.some((test) => test(leaf));
}

function numericTest([operator, bound, ...others]: readonly unknown[]): Test | undefined {
  const compare = typeof operator === 'string' && Object.hasOwn(COMPARISONS, operator) && COMPARISONS[operator];
  if (!compare || typeof bound !== 'number' || Math.abs(bound) > LARGEST_NUMBER) return undefined;
  const holds: Test = (leaf) => typeof leaf === 'number' && Math.abs(leaf) <= LARGEST_NUMBER && compare(leaf, bound);
  if (others.length === 0) return holds;
  const isRange = String(operator).startsWith('>') && String(others[0]).startsWith('<') && others.length === 2;
  const upper = isRange && bound < Number(others[1]) ? numericTest(others) : undefined;
  return upper && ((leaf) => holds(leaf) && upper(leaf));
}

/** The maximum length of a pattern in Lambda, in characters. Source: the Lambda API reference, Filter. */
const LONGEST_PATTERN = 4_096;

/** The pattern in the text of a filter, or the reason why AWS rejects it or why it is not supported locally. */
export function filterPattern(text: string): { value: FilterPattern } | { reason: string } {
  if (text.length > LONGEST_PATTERN) return { reason: `more than ${LONGEST_PATTERN} characters` };
  const value = parsedJson(text);
  const reason = value === undefined ? 'no JSON' : filterProblem(value);
  return reason === undefined ? { value: value as FilterPattern } : { reason };
}

function filterProblem(pattern: unknown): string | undefined {
  if (!isRecord(pattern)) return `${shown(pattern)} instead of an object`;
  const fields = Object.entries(pattern);
  if (fields.length === 0) return 'an empty object';
  for (const [field, part] of fields) {
    const problem = field === '$or' ? alternativesProblem(part) : partProblem(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function alternativesProblem(alternatives: unknown): string | undefined {
  if (!Array.isArray(alternatives) || alternatives.length < 2) return '$or without two patterns';
  return firstProblem(alternatives, filterProblem);
}

function partProblem(part: unknown): string | undefined {
  if (!Array.isArray(part)) return filterProblem(part);
  return part.length === 0 ? 'an empty list' : firstProblem(part, ruleProblem);
}

function firstProblem(parts: readonly unknown[], problemOf: (part: unknown) => string | undefined) {
  return parts.map(problemOf).find((problem) => problem !== undefined);
}

function ruleProblem(rule: unknown): string | undefined {
  if (Array.isArray(rule)) return 'a list in a list';
  if (!isRecord(rule)) return undefined;
  const [[operator, operand] = [], ...others] = Object.entries(rule);
  if (operator === undefined || others.length > 0) return `${shown(rule)} instead of one operator`;
  if (operator === 'exists') return typeof operand === 'boolean' ? undefined : shown(rule);
  if (!Object.hasOwn(OPERATORS, operator)) return operator;
  return OPERATORS[operator]!(operand) === undefined ? shown(rule) : undefined;
}

/** Whether an event matches a pattern that `filterPattern` has returned. */
export function matches(pattern: FilterPattern, event: unknown): boolean {
  return matchesNode(pattern, event, [event]);
}

/**
 * @param node the object of the event. In a list of objects, one object must match all fields of the pattern.
 * @param everywhere all objects at this place, because `exists: false` requires that no object of a list has the field
 */
function matchesNode(pattern: FilterPattern, node: unknown, everywhere: readonly unknown[]): boolean {
  return Object.entries(pattern).every(([field, part]) => {
    if (field === '$or') return (part as FilterPattern[]).some((each) => matchesNode(each, node, everywhere));
    const found = valuesAt(node, field);
    const foundEverywhere = everywhere.flatMap((each) => valuesAt(each, field));
    if (Array.isArray(part))
      return part.some((rule) => holds(rule, found.filter(isLeaf), foundEverywhere.some(isLeaf)));
    const nodes = found.length === 0 ? [undefined] : found;
    return nodes.some((each) => matchesNode(part as FilterPattern, each, foundEverywhere));
  });
}

/** The values of a field. A list has several values. Works without recursion, because a record can nest many lists. */
function valuesAt(node: unknown, field: string): unknown[] {
  const rest = isRecord(node) && Object.hasOwn(node, field) ? [node[field]] : [];
  const values: unknown[] = [];
  while (rest.length > 0) {
    const value = rest.pop();
    if (Array.isArray(value)) for (const each of value) rest.push(each);
    else values.push(value);
  }
  return values;
}

function holds(rule: unknown, leaves: readonly unknown[], isAnywhere: boolean): boolean {
  if (!isRecord(rule)) return leaves.includes(rule);
  const [operator, operand] = Object.entries(rule)[0]!;
  if (operator === 'exists') return operand ? leaves.length > 0 : !isAnywhere;
  return leaves.some(OPERATORS[operator]!(operand)!);
}

function isLeaf(value: unknown): boolean {
  return value !== undefined && !isRecord(value);
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80);
}

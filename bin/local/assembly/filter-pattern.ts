/**
 * A pattern of an event filter. The pattern of an object has patterns for some fields, and all these fields must
 * match. The pattern of a value is a list of conditions, and at least one condition must be true.
 *
 * Source: the AWS Lambda developer guide, "Control which events Lambda sends to your function".
 */
export type FilterPattern = { readonly [field: string]: FilterPattern | readonly FilterRule[] };
type FilterRule = string | number | boolean | null | { readonly [operator: string]: unknown };

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

const OPERATORS: Readonly<Record<string, (value: unknown, operand: unknown) => boolean>> = {
  exists: (value, isThere) => (value !== undefined) === isThere,
  prefix: (value, start) => typeof value === 'string' && value.startsWith(String(start)),
  suffix: (value, end) => typeof value === 'string' && value.endsWith(String(end)),
  'equals-ignore-case': (value, text) =>
    typeof value === 'string' && value.toLowerCase() === String(text).toLowerCase(),
  'anything-but': (value, others) => value !== undefined && ![others].flat().includes(value as never),
  numeric: (value, bounds) => typeof value === 'number' && Array.isArray(bounds) && isWithin(value, bounds),
};

function isWithin(value: number, [operator, bound, ...others]: readonly unknown[]): boolean {
  const holds = COMPARISONS[String(operator)]?.(value, Number(bound)) ?? false;
  return holds && (others.length === 0 || isWithin(value, others));
}

/** The part of a pattern that is not supported locally. Undefined if the whole pattern is supported. */
export function filterProblem(pattern: FilterPattern): string | undefined {
  for (const [field, part] of Object.entries(pattern)) {
    const problem = field.startsWith('$')
      ? field
      : Array.isArray(part)
        ? ruleProblem(part)
        : filterProblem(part as FilterPattern);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function ruleProblem(rules: readonly FilterRule[]): string | undefined {
  const operators = rules.flatMap((rule) => (typeof rule === 'object' && rule !== null ? Object.entries(rule) : []));
  const isKnown = ([name, operand]: [string, unknown]) =>
    Object.hasOwn(OPERATORS, name) &&
    (name !== 'anything-but' || [operand].flat().every((each) => typeof each !== 'object'));
  return operators.find((operator) => !isKnown(operator))?.[0];
}

/** Whether a value matches a pattern. */
export function matches(pattern: FilterPattern, value: unknown): boolean {
  return Object.entries(pattern).every(([field, part]) => {
    const found = Object.hasOwn(Object(value), field) ? (value as Record<string, unknown>)[field] : undefined;
    if (!Array.isArray(part)) return found !== undefined && matches(part as FilterPattern, found);
    return [found].flat().some((each) => (part as readonly FilterRule[]).some((rule) => holds(rule, each)));
  });
}

function holds(rule: FilterRule, value: unknown): boolean {
  if (typeof rule !== 'object' || rule === null) return value === rule;
  return Object.entries(rule).every(([operator, operand]) => OPERATORS[operator]!(value, operand));
}

import type { DynamoDbItem } from '../../../lib/core';
import { type ExpressionRequest, expressionProblem } from '../../../lib/core/aws-client/expression';
import { compareAttributeValues } from '../../../lib/core/sharded-index/query/attribute-order';
import { storedItem, storedValue } from './stored-item';

interface Condition {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: DynamoDbItem;
}

/**
 * Whether an item, or a missing item, meets a condition of the library. A condition has one or more alternatives. The
 * condition is true if every term of one alternative is true.
 *
 * @throws Error for a condition that it cannot parse
 */
export function conditionHolds(condition: Condition, item: DynamoDbItem = {}): boolean {
  refuseLongExpressions(condition);
  const { ConditionExpression: expression } = condition;
  if (expression === undefined) return true;
  const values = Object.values(condition.ExpressionAttributeValues ?? { none: null });
  if (values.length === 0 || values.includes(undefined as never)) throw new Error('a service rejects empty values');
  const stored = storedItem(item);
  const alternatives = expression.split(' OR ').map((text) => text.replace(/^\((.*)\)$/, '$1').split(' AND '));
  const held = alternatives.map((terms) => terms.map((term) => holds(term, condition, stored)));
  return held.some((terms) => terms.every(Boolean));
}

/** @throws the error of DynamoDB for a request whose expressions exceed a limit */
export function refuseLongExpressions(request: ExpressionRequest): void {
  const problem = expressionProblem(request);
  if (problem !== undefined) throw Object.assign(new Error(problem), { name: 'ValidationException' });
}

const EXISTS = /^attribute_(not_)?exists\((#\w+)\)$/;
const COMPARED = /^(#\w+) (=|<) (:\w+)$/;

function holds(
  term: string,
  { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Condition,
  item: DynamoDbItem,
): boolean {
  const [, negated, existing] = EXISTS.exec(term) ?? [];
  if (existing !== undefined) return Object.hasOwn(item, nameOf(existing)) === (negated === undefined);
  const [, compared, operator, placeholder] = COMPARED.exec(term) ?? [];
  if (compared === undefined) throw new Error(`the fake does not support ${term}`);
  const [attribute, value] = [item[nameOf(compared)], values[placeholder!]];
  if (value === undefined) throw new Error(`the value ${placeholder} is missing`);
  if (attribute === undefined) return false;
  if (operator === '<') return compareAttributeValues(attribute, value) < 0;
  return JSON.stringify(attribute) === JSON.stringify(storedValue(value));

  function nameOf(alias: string): string {
    const name = names[alias];
    if (name === undefined) throw new Error(`the name ${alias} is missing`);
    return name;
  }
}

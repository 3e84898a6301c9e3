import { type ExpressionRequest, expressionProblem } from '../../aws-client/expression';
import { isObject } from '../../kernel/checks';
import { InvalidArgumentError } from '../../kernel/errors';
import { RESERVED_PLACEHOLDER } from '../query/fan-out-request';

/** The caller's condition, and the placeholders of the caller's expressions, with plain JavaScript values. */
export interface WriteExpression {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** @throws InvalidArgumentError if a placeholder is reserved for the library */
export function checkPlaceholders(expression: WriteExpression): void {
  if (!isObject(expression)) {
    throw new InvalidArgumentError('expression', expression, 'an object');
  }
  const { ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = expression;
  for (const [field, placeholders] of Object.entries({ ExpressionAttributeNames, ExpressionAttributeValues })) {
    if (!isObject(placeholders)) {
      throw new InvalidArgumentError(
        `expression.${field}`,
        placeholders,
        'an object from placeholder to name or value',
      );
    }
    const reserved = Object.keys(placeholders).find((placeholder) =>
      placeholder.slice(1).startsWith(RESERVED_PLACEHOLDER),
    );
    if (reserved === undefined) continue;
    const allowed = `keyed by placeholders that do not start with ${RESERVED_PLACEHOLDER}`;
    throw new InvalidArgumentError(`expression.${field}`, reserved, allowed);
  }
}

/** @throws InvalidArgumentError if the expressions of a write are too long for DynamoDB */
export function checkExpressionLimits(field: string, request: ExpressionRequest): void {
  const problem = expressionProblem(request);
  if (problem === undefined) return;
  const { UpdateExpression, ConditionExpression } = request;
  throw new InvalidArgumentError(
    field,
    UpdateExpression ?? ConditionExpression,
    `within the limits of DynamoDB for an expression (${problem})`,
  );
}

import { type ExpressionRequest, expressionProblem } from '../../aws-client/expression';
import { InvalidArgumentError } from '../../kernel/errors';
import { RESERVED_PLACEHOLDER } from '../query/fan-out-request';

/** A condition of the caller, and the placeholders of the caller's expressions, with plain JavaScript values. */
export interface WriteExpression {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** @throws InvalidArgumentError for a placeholder that is reserved for the library */
export function checkPlaceholders(expression: WriteExpression): void {
  if (typeof expression !== 'object' || expression === null) {
    throw new InvalidArgumentError('expression', expression, 'an object');
  }
  const { ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = expression;
  for (const [field, placeholders] of Object.entries({ ExpressionAttributeNames, ExpressionAttributeValues })) {
    if (typeof placeholders !== 'object' || placeholders === null) {
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

/** @throws InvalidArgumentError for a write whose expressions DynamoDB would reject as too long */
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

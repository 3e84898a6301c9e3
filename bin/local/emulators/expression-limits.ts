import { type ExpressionRequest, expressionProblem } from '../../../lib/core/aws-client/expression';

/**
 * The message of DynamoDB for a request whose expressions exceed a limit, which dynalite does not check. Covers the
 * request itself, and the requests inside a batch or a transaction.
 */
export function expressionLimitProblem(input: ExpressionRequest & Record<string, unknown>): string | undefined {
  const actions: object[] = Array.isArray(input.TransactItems) ? input.TransactItems : [];
  const requests = [
    input,
    ...Object.values<ExpressionRequest>(Object(input.RequestItems)),
    ...actions.flatMap((action) => Object.values<ExpressionRequest>(Object(action))),
  ];
  return requests.map((request) => expressionProblem(Object(request))).find((problem) => problem !== undefined);
}

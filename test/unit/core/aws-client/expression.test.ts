import { EXPRESSION_LIMITS, expressionProblem } from '../../../../lib/core/aws-client/expression';
import { expressionsAtTheLimits } from '../../../support/plays/expressions-at-the-limits';

test.each(expressionsAtTheLimits())('expressionProblem – $name – $answer', ({ request, problem }) => {
  expect(expressionProblem(request)).toBe(problem);
});

test('expressionProblem – a binary value is given in base64 – counts the decoded bytes', () => {
  const bytes = Buffer.alloc(EXPRESSION_LIMITS.placeholderBytes - 2);
  const requestWith = (B: unknown) => ({ ConditionExpression: 'a = :a', ExpressionAttributeValues: { ':a': { B } } });
  expect(expressionProblem(requestWith(bytes))).toBeUndefined();
  expect(expressionProblem(requestWith(bytes.toString('base64')))).toBeUndefined();
});

import { EXPRESSION_LIMITS, ExpressionBuilder, expressionProblem } from '../../../../lib/core/aws-client/expression';
import { expressionsAtTheLimits } from '../../../support/plays/expressions-at-the-limits';

test.each(expressionsAtTheLimits())('expressionProblem – $name – $answer', ({ request, problem }) => {
  expect(expressionProblem(request)).toBe(problem);
});

test('expressionProblem – a binary value in base64 – counts its bytes, as for a binary value', () => {
  const bytes = Buffer.alloc(EXPRESSION_LIMITS.placeholderBytes - 2);
  const requestWith = (B: unknown) => ({ ConditionExpression: 'a = :a', ExpressionAttributeValues: { ':a': { B } } });
  expect(expressionProblem(requestWith(bytes))).toBeUndefined();
  expect(expressionProblem(requestWith(bytes.toString('base64')))).toBeUndefined();
});

test('request – the same attribute twice – has one placeholder for it', () => {
  const builder = new ExpressionBuilder();
  const clauses = [
    `SET ${builder.name('size')} = ${builder.value({ N: '1' })}`,
    `REMOVE ${builder.name('at')}, ${builder.name('size')}`,
  ];
  expect(builder.request({ UpdateExpression: clauses.join(' ') })).toEqual({
    UpdateExpression: 'SET #n0 = :v0 REMOVE #n1, #n0',
    ExpressionAttributeNames: { '#n0': 'size', '#n1': 'at' },
    ExpressionAttributeValues: { ':v0': { N: '1' } },
  });
});

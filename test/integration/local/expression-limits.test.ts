import { dynaliteForTests } from '../../support/dynalite';
import { createKeyedTable } from '../../support/keyed-table';
import { expressionsAtTheLimits } from '../../support/plays/expressions-at-the-limits';
import { sendExpression } from '../../support/plays/send-expression';

describe('a local run', () => {
  const { dynamoDb } = dynaliteForTests();
  beforeAll(() => createKeyedTable(dynamoDb, 'Limits', 'id'));

  test.each(expressionsAtTheLimits())('$name: the request is $answer', async ({ request, problem }) => {
    expect(await sendExpression(dynamoDb, 'Limits', request)).toBe(problem);
  });
});

import { dynaliteForTests } from '../../support/dynalite';
import { createKeyedTable } from '../../support/keyed-table';
import { expressionsAtTheLimits } from '../../support/plays/expressions-at-the-limits';
import { sendExpression } from '../../support/plays/send-expression';

describe('an expression at a limit of DynamoDB', () => {
  const { dynamoDb } = dynaliteForTests();
  beforeAll(() => createKeyedTable(dynamoDb, 'Limits', 'id'));

  test.each(expressionsAtTheLimits())(
    '$name – dynalite answers as DynamoDB does: $answer',
    async ({ request, problem }) => {
      expect(await sendExpression(dynamoDb, 'Limits', request)).toBe(problem);
    },
  );
});

import { createKeyedTable } from '../support/keyed-table';
import { expressionsAtTheLimits } from '../support/plays/expressions-at-the-limits';
import { sendExpression } from '../support/plays/send-expression';
import { serviceForTests } from './dynamodb-emulators';
import { startDynamoDbLocal } from './dynamodb-local';

/** AWS limits the size of a projection expression, but DynamoDB Local does not: nubo-db/dynoxide#146. */
const KNOWN = expressionsAtTheLimits().filter(({ request }) => request.ProjectionExpression === undefined);

describe('an expression at a limit that the library checks', () => {
  const service = serviceForTests(startDynamoDbLocal);
  beforeAll(() => createKeyedTable(service.dynamodb, 'Limits', 'id'));

  test.each(KNOWN)('$name – DynamoDB Local responds: $answer', async ({ request, problem }) => {
    expect(await sendExpression(service.dynamodb, 'Limits', request)).toBe(problem);
  });
});

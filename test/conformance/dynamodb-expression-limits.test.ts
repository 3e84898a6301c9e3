import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { localClients } from '../../bin/local/emulators/clients';
import { createKeyedTable } from '../support/keyed-table';
import { expressionsAtTheLimits } from '../support/plays/expressions-at-the-limits';
import { sendExpression } from '../support/plays/send-expression';
import { startDynamoDbLocal } from './dynamodb-local';

/** DynamoDB Local has no limit for a projection. AWS has: nubo-db/dynoxide#146. */
const KNOWN = expressionsAtTheLimits().filter(({ request }) => request.ProjectionExpression === undefined);

describe('DynamoDB Local has the limits of expressions that the library knows', () => {
  let dynamodb: DynamoDB;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const { endpoint, ...running } = await startDynamoDbLocal();
    stop = () => running.stop();
    dynamodb = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }).dynamodb;
    await createKeyedTable(dynamodb, 'Limits', 'id');
  }, 300_000);
  afterAll(async () => {
    dynamodb?.destroy();
    await stop?.();
  });

  test.each(KNOWN)('$name: the request is $answer', async ({ request, problem }) => {
    expect(await sendExpression(dynamodb, 'Limits', request)).toBe(problem);
  });
});

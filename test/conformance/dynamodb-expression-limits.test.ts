import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { localClients } from '../../bin/local/emulators/clients';
import { createKeyedTable } from '../support/keyed-table';
import { expressionsAtTheLimits } from '../support/plays/expressions-at-the-limits';
import { sendExpression } from '../support/plays/send-expression';
import { startDynamoDbLocal } from './dynamodb-local';

/** AWS limits the size of a projection expression, but DynamoDB Local does not: nubo-db/dynoxide#146. */
const KNOWN = expressionsAtTheLimits().filter(({ request }) => request.ProjectionExpression === undefined);

describe('an expression at a limit that the library checks', () => {
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

  test.each(KNOWN)('$name – DynamoDB Local responds: $answer', async ({ request, problem }) => {
    expect(await sendExpression(dynamodb, 'Limits', request)).toBe(problem);
  });
});

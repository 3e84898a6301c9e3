import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { startGates } from '../../bin/local/limits/gates';
import { startDynamoDbLocal } from './dynamodb-local';

/** Tests `even-shards local --limits --dynamodb-endpoint` with an emulator that supports PartiQL. */

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

test('local --limits throttles writes, but no PartiQL statement', async () => {
  const service = await startDynamoDbLocal();
  // The table has one write unit per second.
  const emulators = { kinesis: service.endpoint, dynamodb: service.endpoint };
  const gates = await startGates(emulators, { limits: 0.001 });
  const client = new DynamoDB({
    ...{ region: 'us-east-1', credentials: CREDENTIALS, endpoint: gates.endpoints.dynamodb, maxAttempts: 1 },
  });
  try {
    await client.createTable({
      TableName: 'Jobs',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    });
    const update = (n: number) => ({
      Statement: `UPDATE "Jobs" SET n=${n} WHERE id='hot'`,
    });
    await client.executeStatement({ Statement: `INSERT INTO "Jobs" VALUE {'id': 'hot'}` });
    for (let n = 0; n < 30; n++) await client.executeStatement(update(n));
    await client.batchExecuteStatement({ Statements: [update(30)] });
    await client.executeTransaction({ TransactStatements: [update(31)] });
    const { Item } = await client.getItem({ TableName: 'Jobs', Key: { id: { S: 'hot' } } });
    expect(Item).toEqual({ id: { S: 'hot' }, n: { N: '31' } });
    const puts = Array.from({ length: 30 }, () => client.putItem({ TableName: 'Jobs', Item: { id: { S: 'hot' } } }));
    const refused = (await Promise.allSettled(puts)).filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
  } finally {
    client.destroy();
    await gates.stop();
    await service.stop();
  }
}, 120_000);

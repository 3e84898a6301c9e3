import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { startGates } from '../../bin/local/limits/gates';
import { startDynamoDbLocal } from './dynamodb-local';

/** Tests `even-shards local --limits --dynamodb-endpoint` with an emulator that supports PartiQL. */

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

test('local --limits throttles writes, and reports each kind of PartiQL statement that it does not throttle: when the statement is first used, and at the end', async () => {
  const service = await startDynamoDbLocal();
  const notices: string[] = [];
  // The table has one write unit per second.
  const emulators = { kinesis: service.endpoint, dynamodb: service.endpoint };
  const gates = await startGates(emulators, { limits: 0.001 }, (line) => notices.push(line));
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
    expect(notices).toEqual(
      ['ExecuteStatement', 'BatchExecuteStatement', 'ExecuteTransaction'].map((operation) =>
        expect.stringContaining(`not limited: ${operation}, because`),
      ),
    );
    expect(gates.report()).toContain('not limited: 31 ExecuteStatement, 1 BatchExecuteStatement, 1 ExecuteTransaction');
  } finally {
    client.destroy();
    await gates.stop();
    await service.stop();
  }
}, 120_000);

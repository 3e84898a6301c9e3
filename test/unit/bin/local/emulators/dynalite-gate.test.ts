import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import { LOCAL_REGION } from '../../../../../bin/local/assembly/emulated-types';
import { servedDynalite } from '../../../../../bin/local/emulators/dynalite-gate';
import { LOCAL_CREDENTIALS } from '../../../../../bin/local/functions/lambda-environment';
import { createComparedTables } from '../../../../support/plays/dynamodb-answers';

const dynalite: (options: object) => Server = require('dynalite');

describe('DynamoDB in a local run', () => {
  const TableName = 'Texts';
  const server = createServer(servedDynalite(dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })));
  const dynamodb = new DynamoDB({
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    maxAttempts: 1,
    endpoint: async () => ({ url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) }),
  });
  const Key = { id: { S: 'a' } };
  const ITEM = { ...Key, s: { S: 'x' }, n: { N: '1' } };
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await createComparedTables(dynamodb);
  });
  beforeEach(() => dynamodb.putItem({ TableName, Item: ITEM }));
  afterAll(() => {
    dynamodb.destroy();
    server.close();
  });

  const writes: [string, (more: Record<string, AttributeValue>) => Promise<unknown>][] = [
    ['put', (more) => dynamodb.putItem({ TableName, Item: { ...Key, ...more } })],
    ['update', (more) => dynamodb.updateItem({ TableName, Key, ...setting(more) })],
    [
      'batch',
      (more) =>
        dynamodb.batchWriteItem({ RequestItems: { [TableName]: [{ PutRequest: { Item: { ...Key, ...more } } }] } }),
    ],
    [
      'put in a transaction',
      (more) => dynamodb.transactWriteItems({ TransactItems: [{ Put: { TableName, Item: { ...Key, ...more } } }] }),
    ],
    [
      'update in a transaction',
      (more) => dynamodb.transactWriteItems({ TransactItems: [{ Update: { TableName, Key, ...setting(more) } }] }),
    ],
  ];
  const setting = (more: Record<string, AttributeValue>) => ({
    UpdateExpression: `SET ${Object.keys(more)[0]} = :v`,
    ExpressionAttributeValues: { ':v': Object.values(more)[0]! },
  });
  test.each(writes)('a %s with an invalid key of an index is rejected', async (_, write) => {
    const invalid: Record<string, AttributeValue>[] = [
      ...[{ s: { S: '' } }, { b: { B: new Uint8Array() } }, { s: { S: 'x'.repeat(2_049) } }, { s: { N: '1' } }],
      ...[{ s: { NULL: true } }, { n: { S: '1' } }, { b: { B: new Uint8Array(2_049) } }],
    ];
    for (const value of invalid) {
      const error = await write(value).then(
        () => undefined,
        (thrown) => thrown,
      );
      expect([value, error?.CancellationReasons?.[0].Code ?? error?.name]).toEqual([
        value,
        expect.stringContaining('Validation'),
      ]);
    }
    await write({ s: { S: 'x'.repeat(2_048) } });
    await write({ x: { S: '' } });
  });

  test('the error of a failed condition has the item of a put, an update and a delete', async () => {
    const more = {
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
    for (const failing of [
      () => dynamodb.putItem({ TableName, Item: Key, ...more }),
      () => dynamodb.updateItem({ TableName, Key, UpdateExpression: 'REMOVE x', ...more }),
      () => dynamodb.deleteItem({ TableName, Key, ...more }),
    ]) {
      await expect(failing()).rejects.toMatchObject({ name: 'ConditionalCheckFailedException', Item: ITEM });
    }
  });

  test('the consumed capacity of a write has the units of each index', async () => {
    const moved = { ...ITEM, s: { S: 'y' } };
    const ReturnConsumedCapacity = 'INDEXES';
    const indexes = { byS: { CapacityUnits: 2 }, keysOnly: { CapacityUnits: 2 } };
    const put = await dynamodb.putItem({ TableName, Item: moved, ReturnConsumedCapacity });
    expect(put.ConsumedCapacity).toMatchObject({
      CapacityUnits: 5,
      Table: { CapacityUnits: 1 },
      GlobalSecondaryIndexes: indexes,
    });
    const TransactItems = [{ Put: { TableName, Item: ITEM } }];
    const { ConsumedCapacity } = await dynamodb.transactWriteItems({ TransactItems, ReturnConsumedCapacity });
    expect(ConsumedCapacity).toMatchObject([
      { CapacityUnits: 10, GlobalSecondaryIndexes: { byS: { CapacityUnits: 4 } } },
    ]);
    const RequestItems = { [TableName]: [{ DeleteRequest: { Key } }] };
    const batch = await dynamodb.batchWriteItem({ RequestItems, ReturnConsumedCapacity: 'TOTAL' });
    expect(batch.ConsumedCapacity).toEqual([{ TableName, CapacityUnits: 4 }]);
  });

  test('a query reads only attributes that its index has', async () => {
    const query = (more: object) =>
      dynamodb.query({
        ...{ TableName, IndexName: 'keysOnly', KeyConditionExpression: 's = :s', ...more },
        ExpressionAttributeValues: { ':s': { S: 'x' }, ...Object(more).ExpressionAttributeValues },
      });
    expect((await query({ Select: 'ALL_PROJECTED_ATTRIBUTES' })).Items).toEqual([{ ...Key, s: { S: 'x' } }]);
    for (const more of [
      ...[
        { ProjectionExpression: 'n' },
        { Select: 'SPECIFIC_ATTRIBUTES' },
        { Select: 'ALL_ATTRIBUTES', ProjectionExpression: 's' },
      ],
      ...[
        { ConsistentRead: true },
        { FilterExpression: 'size(n) > :n', ExpressionAttributeValues: { ':n': { N: '0' } } },
      ],
    ]) {
      await expect(query(more)).rejects.toMatchObject({ name: 'ValidationException' });
    }
    await query({ FilterExpression: 'attribute_exists(id)' });
  });

  test('an ARN names a table in each request, and in the responses of batches', async () => {
    const arn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Texts';
    expect((await dynamodb.getItem({ TableName: arn, Key })).Item).toEqual(ITEM);
    expect((await dynamodb.describeTable({ TableName: arn })).Table?.TableName).toBe(TableName);
    const { Responses } = await dynamodb.batchGetItem({ RequestItems: { [arn]: { Keys: [Key] } } });
    expect(Responses).toEqual({ [arn]: [ITEM] });
    expect((await dynamodb.transactGetItems({ TransactItems: [{ Get: { TableName: arn, Key } }] })).Responses).toEqual([
      { Item: ITEM },
    ]);
  });

  test('the settings of a table and the quotas of the account can be read, and the time to live can be set', async () => {
    const TimeToLiveSpecification = { Enabled: true, AttributeName: 'until' };
    expect(await dynamodb.updateTimeToLive({ TableName, TimeToLiveSpecification })).toMatchObject({
      TimeToLiveSpecification,
    });
    await expect(dynamodb.updateTimeToLive({ TableName, TimeToLiveSpecification })).rejects.toMatchObject({
      name: 'ValidationException',
    });
    const { TimeToLiveDescription } = await dynamodb.describeTimeToLive({ TableName });
    expect(TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'until' });
    const { ContinuousBackupsDescription } = await dynamodb.describeContinuousBackups({ TableName });
    expect(ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus).toBe('DISABLED');
    await expect(dynamodb.describeContinuousBackups({ TableName: 'Missing' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    expect((await dynamodb.describeLimits({})).TableMaxWriteCapacityUnits).toBe(40_000);
  });
});

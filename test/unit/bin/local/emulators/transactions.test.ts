import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { LOCAL_REGION } from '../../../../../bin/local/assembly/emulated-types';
import { servedDynalite } from '../../../../../bin/local/emulators/dynalite-gate';
import { LOCAL_CREDENTIALS } from '../../../../../bin/local/functions/lambda-environment';
import { createKeyedTable } from '../../../../support/keyed-table';

const dynalite: (options: object) => Server = require('dynalite');

describe('a transaction on dynalite', () => {
  const TableName = 'Accounts';
  const DAILY = 'DailyAccounts';
  const server = createServer(servedDynalite(dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })));
  const dynamodb = new DynamoDB({
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    maxAttempts: 1,
    endpoint: async () => ({ url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) }),
  });
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await createKeyedTable(dynamodb, TableName, 'id');
    await createKeyedTable(dynamodb, DAILY, 'id', 'day');
  });
  afterAll(() => {
    dynamodb.destroy();
    server.close();
  });

  const DAYS = [
    { id: { S: 'f' }, day: { S: '1' } },
    { day: { S: '1' }, id: { S: 'f' } },
  ];
  const add = (id: string, amount: number, more: object = {}) => ({
    Update: {
      ...{ TableName, Key: { id: { S: id } }, UpdateExpression: 'ADD amount :amount', ...more },
      ExpressionAttributeValues: { ':amount': { N: String(amount) } },
    },
  });
  const amountsOf = async (...ids: string[]) => {
    const TransactItems = ids.map((id) => ({ Get: { TableName, Key: { id: { S: id } } } }));
    const { Responses } = await dynamodb.transactGetItems({ TransactItems });
    return Responses!.map(({ Item }) => Item?.amount?.N);
  };

  test('is atomic, and is cancelled with one reason for each item', async () => {
    await dynamodb.transactWriteItems({ TransactItems: [add('a', 1)] });
    const onlyNew = {
      ConditionExpression: 'attribute_not_exists(id)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    const TransactItems = [add('b', 1), add('a', 1, onlyNew)];
    await expect(dynamodb.transactWriteItems({ TransactItems })).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: { id: { S: 'a' }, amount: { N: '1' } } },
      ],
    });
    expect(await amountsOf('a', 'b')).toEqual(['1', undefined]);
  });

  test('is cancelled with ValidationError for an item whose attribute type does not fit the update', async () => {
    const text = { Put: { TableName, Item: { id: { S: 'text' }, amount: { S: 'none' } } } };
    await dynamodb.transactWriteItems({ TransactItems: [text] });
    await expect(
      dynamodb.transactWriteItems({ TransactItems: [add('text', 1), add('fits', 1)] }),
    ).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'ValidationError' }, { Code: 'None' }],
    });
    expect(await amountsOf('fits')).toEqual([undefined]);
  });

  test('is applied once for each token, and is rejected if another request has the same token', async () => {
    const ClientRequestToken = 'token';
    const once = { ClientRequestToken, TransactItems: [add('d', 1)], ReturnConsumedCapacity: 'TOTAL' as const };
    expect(await dynamodb.transactWriteItems(once)).toMatchObject({
      ConsumedCapacity: [{ TableName, CapacityUnits: 2 }],
    });
    await dynamodb.transactWriteItems(once);
    expect(await amountsOf('d')).toEqual(['1']);
    const other = dynamodb.transactWriteItems({ ClientRequestToken, TransactItems: [add('d', 2)] });
    await expect(other).rejects.toMatchObject({ name: 'IdempotentParameterMismatchException' });
  });

  test('is rejected if it reads or writes more than 4 MB', async () => {
    const ids = Array.from({ length: 11 }, (_, index) => ({ id: { S: `large-${index}` } }));
    const puts = ids.map((id) => ({
      Put: { TableName, Item: { ...id, text: { S: 'x'.repeat(200_000) }, bytes: { B: Buffer.alloc(199_000) } } },
    }));
    await expect(dynamodb.transactWriteItems({ TransactItems: puts })).rejects.toThrow('exceeds the limit of 4 MB');
    await dynamodb.transactWriteItems({ TransactItems: puts.slice(1) });
    await dynamodb.transactWriteItems({ TransactItems: puts.slice(0, 1) });
    const gets = ids.map((Key) => ({ Get: { TableName, Key } }));
    await expect(dynamodb.transactGetItems({ TransactItems: gets })).rejects.toThrow('exceeds the limit of 4 MB');
  });

  test('is rejected if its token has more than 36 characters', async () => {
    const write = (length: number) => ({ ClientRequestToken: 'x'.repeat(length), TransactItems: [add('token', 1)] });
    await dynamodb.transactWriteItems(write(36));
    await expect(dynamodb.transactWriteItems(write(37))).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('is applied again if another request with its token comes after ten minutes', async () => {
    const ClientRequestToken = 'ten minutes';
    const once = { ClientRequestToken, TransactItems: [add('timed', 1)] };
    const clock = jest.spyOn(performance, 'now');
    const startMs = performance.now();
    try {
      await dynamodb.transactWriteItems(once);
      for (const [minutes, amount] of [
        [9, '1'],
        [11, '2'],
      ] as const) {
        clock.mockReturnValue(startMs + minutes * 60_000);
        await dynamodb.transactWriteItems(once);
        expect(await amountsOf('timed')).toEqual([amount]);
      }
    } finally {
      clock.mockRestore();
    }
  });

  test.each([
    ['of no item', []],
    ['of 101 items', Array.from({ length: 101 }, (_, index) => add(`e${index}`, 1))],
    ['that names an item twice', [add('f', 1), add('f', 1)]],
    [
      'that names an item twice, with its key in two orders',
      DAYS.map((Key) => ({ Delete: { TableName: DAILY, Key } })),
    ],
    ['of a check without a condition', [{ ConditionCheck: { TableName, Key: { id: { S: 'f' } } } as never }]],
    ['of an action of two kinds', [{ ...add('f', 1), Delete: { TableName, Key: { id: { S: 'g' } } } }]],
    ['with an invalid expression', [add('f', 1), add('g', 1, { ConditionExpression: 'no expression' })]],
  ])('is rejected if it is a transaction %s', async (_, TransactItems) => {
    await expect(dynamodb.transactWriteItems({ TransactItems })).rejects.toMatchObject({ name: 'ValidationException' });
    expect(await amountsOf('f', 'g')).toEqual([undefined, undefined]);
  });

  test('is never visible in part, and does not lose concurrent writes of single items', async () => {
    const ids = ['x', 'y'];
    const both = () => dynamodb.transactWriteItems({ TransactItems: ids.map((id) => add(id, 1)) });
    const failing = () =>
      dynamodb
        .transactWriteItems({
          TransactItems: [add('x', 100), add('y', 1, { ConditionExpression: 'attribute_exists(nothing)' })],
        })
        .catch(() => {});
    const alone = () => dynamodb.updateItem(add('z', 1).Update);
    const seen: unknown[] = [];
    const read = async () => void seen.push(await amountsOf(...ids));
    await Promise.all(Array.from({ length: 40 }, (_, index) => [both, failing, alone, read][index % 4]!()));
    expect(seen.filter((amounts) => (amounts as string[])[0] !== (amounts as string[])[1])).toEqual([]);
    expect(await amountsOf('x', 'y', 'z')).toEqual(['10', '10', '10']);
  });

  test('is rejected if it reads an item twice, and returns no item if the item lacks all projected attributes', async () => {
    await dynamodb.transactWriteItems({ TransactItems: [add('read', 1)] });
    const Get = { TableName, Key: { id: { S: 'read' } } };
    const twice = dynamodb.transactGetItems({ TransactItems: [{ Get }, { Get }] });
    await expect(twice).rejects.toMatchObject({ name: 'ValidationException' });
    const missing = { ...Get, ProjectionExpression: 'absent' };
    expect((await dynamodb.transactGetItems({ TransactItems: [{ Get: missing }] })).Responses).toEqual([{}]);
  });
});

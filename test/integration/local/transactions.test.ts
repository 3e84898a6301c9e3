import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { App } from 'aws-cdk-lib';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { InvoiceStack } from '../../../examples/invoice-table/invoice-stack';
import {
  type ShardedTableConfig,
  shardKey,
  shardPut,
  transactDelete,
  transactGet,
  transactPut,
} from '../../../lib/core';
import { TABLES } from '../../../lib/core/foundation/function-environment';
import { dynaliteForTests } from '../../support/dynalite';
import { createKeyedTable } from '../../support/keyed-table';

const TRANSACTION = { InvoiceNumber: '121212', ClientTransactionId: 'Client1_trans1' };

function synthesizedInvoices(): string {
  const app = new App({ outdir: mkdtempSync(join(tmpdir(), 'invoices-')) });
  new InvoiceStack(app, 'Example', { env: { account: '111111111111', region: 'us-east-1' } });
  return app.synth().directory;
}

describe.each([
  ['without limits', {}],
  ['behind the gate of --limits', { gates: { limits: 1 } }],
])('a table that is sharded by its own key, on dynalite, %s', (_, options) => {
  const app = synthesizedInvoices();
  let stack: LocalStack;
  let config: ShardedTableConfig;
  let documents: DynamoDBDocument;

  beforeAll(async () => {
    stack = await startLocal({ app, ...options });
    config = JSON.parse(stack.functions[0]!.environment[TABLES]!).Invoices;
    documents = DynamoDBDocument.from(stack.clients.dynamodb);
  }, 60_000);

  afterAll(async () => {
    await stack?.stop();
    rmSync(app, { recursive: true, force: true });
  });

  test('puts, gets and deletes its items in transactions', async () => {
    const put = () => documents.transactWrite({ TransactItems: transactPut(config, TRANSACTION, { ifAbsent: true }) });
    await put();
    await expect(put()).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
    });
    const { Responses } = await documents.transactGet({ TransactItems: transactGet(config, '121212', TRANSACTION) });
    expect(Responses).toMatchObject([{ Item: { ClientTransactionId: 'Client1_trans1' } }]);
    await documents.transactWrite({ TransactItems: transactDelete(config, '121212', TRANSACTION) });
    const after = await documents.transactGet({ TransactItems: transactGet(config, '121212', TRANSACTION) });
    expect(after.Responses).toEqual([{}]);
  });

  test('takes single writes and reads', async () => {
    await documents.put(shardPut([config], TRANSACTION));
    const { Item } = await documents.get({
      TableName: config.tableName,
      Key: shardKey(config, '121212', TRANSACTION),
    });
    expect(Item).toMatchObject({ ClientTransactionId: 'Client1_trans1' });
  });
});

describe('a transaction on dynalite', () => {
  const TableName = 'Accounts';
  const { dynamoDb: dynamodb } = dynaliteForTests();
  beforeAll(() => createKeyedTable(dynamodb, TableName, 'id'));

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

  test('is done whole or not at all, and says why, item by item', async () => {
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

  test('leaves no trace of a check', async () => {
    const check = { TableName, Key: { id: { S: 'nobody' } }, ConditionExpression: 'attribute_not_exists(id)' };
    await dynamodb.transactWriteItems({ TransactItems: [{ ConditionCheck: check }, add('c', 1)] });
    const { Item } = await dynamodb.getItem({ TableName, Key: { id: { S: 'nobody' } } });
    expect(Item).toBeUndefined();
  });

  test('is applied once for a token, and refused for another request with it', async () => {
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

  test.each([
    ['of no item', []],
    ['of 101 items', Array.from({ length: 101 }, (_, index) => add(`e${index}`, 1))],
    ['that names an item twice', [add('f', 1), add('f', 1)]],
    ['of an action of two kinds', [{ ...add('f', 1), Delete: { TableName, Key: { id: { S: 'g' } } } }]],
    ['with an expression that is none', [add('f', 1), add('g', 1, { ConditionExpression: 'no expression' })]],
  ])('is refused where it is one %s', async (_, TransactItems) => {
    await expect(dynamodb.transactWriteItems({ TransactItems })).rejects.toMatchObject({ name: 'ValidationException' });
    expect(await amountsOf('f', 'g')).toEqual([undefined, undefined]);
  });

  test('is never seen in part, and loses nothing that others write beside it', async () => {
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
    const look = async () => void seen.push(await amountsOf(...ids));
    await Promise.all(Array.from({ length: 40 }, (_, index) => [both, failing, alone, look][index % 4]!()));
    expect(seen.filter((amounts) => (amounts as string[])[0] !== (amounts as string[])[1])).toEqual([]);
    expect(await amountsOf('x', 'y', 'z')).toEqual(['10', '10', '10']);
  });
});

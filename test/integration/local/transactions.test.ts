import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { App } from 'aws-cdk-lib';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { InvoiceStack } from '../../../examples/invoice-table/invoice-stack';
import { type ShardedTableConfig, shardKey, shardPut, transactGet, transactPut } from '../../../lib/core';
import { TABLES } from '../../../lib/core/foundation/function-environment';

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
  const progress: string[] = [];
  let stack: LocalStack;
  let config: ShardedTableConfig;
  let documents: DynamoDBDocument;

  beforeAll(async () => {
    stack = await startLocal({ app, onProgress: (line) => progress.push(line), ...options });
    config = JSON.parse(stack.functions[0]!.environment[TABLES]!).Invoices;
    documents = DynamoDBDocument.from(stack.clients.dynamodb);
  }, 60_000);

  afterAll(async () => {
    await stack?.stop();
    rmSync(app, { recursive: true, force: true });
  });

  test('is said to lack transactions when the run starts', () => {
    expect(progress).toContain(
      'table Example/Invoices is sharded by its own key, and dynalite has no transactions: for transactPut, transactDelete ' +
        'and transactGet, install dynoxide, or run with --dynamodb-endpoint on DynamoDB Local',
    );
  });

  test.each([
    ['TransactWriteItems', () => documents.transactWrite({ TransactItems: transactPut(config, TRANSACTION) })],
    ['TransactGetItems', () => documents.transactGet({ TransactItems: transactGet(config, '121212', TRANSACTION) })],
  ])('answers %s with what to do', async (operation, send) => {
    await expect(send()).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message:
        `dynalite, on which this runs, has no ${operation}: install dynoxide, or run with --dynamodb-endpoint on another ` +
        'emulator that has transactions, such as DynamoDB Local',
    });
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

test('on an emulator that somebody else has started, nothing is said', async () => {
  const other = await startDynamoDbEmulator();
  const app = synthesizedInvoices();
  const progress: string[] = [];
  const stack = await startLocal({
    app,
    dynamodbEndpoint: other.endpoint,
    onProgress: (line) => progress.push(line),
  });
  await stack.stop();
  await other.stop();
  rmSync(app, { recursive: true, force: true });
  expect(progress.join()).toContain('table Example/Invoices,');
  expect(progress.join()).not.toContain('transactions');
}, 60_000);

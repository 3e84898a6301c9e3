import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { App } from 'aws-cdk-lib';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { InvoiceStack } from '../../../examples/invoice-table/invoice-stack';
import { type ShardedTableConfig, transactDelete, transactGet, transactPut } from '../../../lib/core';
import { TABLES } from '../../../lib/core/contract/function-environment';

const TRANSACTION = { InvoiceNumber: '121212', ClientTransactionId: 'Client1_trans1' };

describe('a table that is sharded by its own key, in a local run with --limits', () => {
  let stack: LocalStack;
  let config: ShardedTableConfig;
  let documents: DynamoDBDocument;

  beforeAll(async () => {
    const app = new App();
    new InvoiceStack(app, 'Example', { env: { account: '111111111111', region: 'us-east-1' } });
    stack = await startLocal({ app: app.synth().directory, gates: { limits: 1 } });
    config = JSON.parse(stack.functions[0]!.environment[TABLES]!).Invoices;
    documents = DynamoDBDocument.from(stack.clients.dynamodb);
  }, 60_000);

  afterAll(() => stack?.stop());

  test('puts, gets and deletes items in transactions', async () => {
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
});

import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { examples } from '../../../bin/local/ready-message';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { IndexItemMover, ItemVersion, KeyLayout, ShardCounts, ShardedTable, TableItemMover } from '../../../lib';
import { invoiceTable } from '../../support/fakes/invoice-table';

const BUDGET = { readUnitsPerSecond: 1_000, writeUnitsPerSecond: 1_000 };

/** A local run has the functions of the item movers. It does not run their state machines. */
describe('the functions of item movers, in a local run', () => {
  let stack: LocalStack;

  beforeAll(async () => {
    const app = new App();
    const deployed = new Stack(app, 'Moved');
    const orders = new ShardedTable(deployed, 'Orders', {
      partitionKey: { name: 'orderId', type: AttributeType.STRING },
    });
    const index = orders.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
      shardCounts: ShardCounts.uniform(3),
    });
    new IndexItemMover(deployed, 'MoveOrders', { index, ...BUDGET });
    const table = invoiceTable(deployed, { shardCounts: ShardCounts.uniform(6).since(ShardCounts.uniform(5)) });
    new TableItemMover(deployed, 'MoveInvoices', { table, itemVersion: ItemVersion.none(), ...BUDGET });
    stack = await startLocal({ app: app.synth().directory });
  }, 60_000);

  afterAll(() => stack?.stop());

  test('the example invocations of a local run work', async () => {
    const lines = examples(stack, { url: 'http://console' }, 'cdk.out').filter((line) => line.startsWith('curl '));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const [, url, body] = /^curl (\S+) -d '(.*)'$/.exec(line)!;
      const response = await fetch(url!, { method: 'POST', body: body! });
      expect(response.headers.get('x-amz-function-error')).toBeNull();
      expect(await response.json()).toMatchObject({ totals: { itemsScanned: 0 } });
    }
  });

  test('a reshard moves the hidden items of an index to the shards of their value, and an audit then finds no hidden item', async () => {
    const work = (mode: string) =>
      stack.invoke('Moved/MoveOrders/Function', { segment: 0, totalSegments: 1, request: { mode } });
    const TableName = stack.tables.find(({ path }) => path === 'Moved/Orders')!.name;
    for (let number = 0; number < 20; number++) {
      const Item = { orderId: { S: `o-${number}` }, status: { S: 'sent' } };
      await stack.clients.dynamodb.putItem({ TableName, Item });
    }
    expect(await work('audit')).toMatchObject({ totals: { hidden: 20, moved: 0 } });
    expect(await work('reshard')).toMatchObject({ totals: { itemsScanned: 20, moved: 20 } });
    const audit = await work('audit');
    expect(audit).toMatchObject({ totals: { hidden: 0 } });
    expect(audit).not.toHaveProperty('resumePoint');
    const { Items = [] } = await stack.clients.dynamodb.scan({ TableName });
    expect(Items.map(({ byStatusShard }) => byStatusShard?.S)).toEqual(
      Array(20).fill(expect.stringMatching(/^sent#[012]$/)),
    );
    await expect(work('adit')).rejects.toThrow('[INVALID_EVENT] request.mode must be reshard or audit, got "adit"');
  });
});

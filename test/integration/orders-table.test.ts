import { Orders } from '../../examples/orders-table/orders';
import { allPages } from '../support/all-pages';
import { dynaliteForTests } from '../support/dynalite';
import { indexConfig } from '../support/index-config';
import { createTable } from '../support/sharded-tables';

/** Tests examples/orders-table on dynalite. */

const byStatus = indexConfig({
  tableName: 'Orders',
  tableKey: ['orderId'],
  keyLayout: 'single-attribute',
  shardAttribute: 'byStatusShard',
  shards: { default: { write: 3, read: 3 }, byValue: { shipped: { write: 20, read: 20 } } },
});

const { dynamoDb } = dynaliteForTests();
const orders = new Orders(dynamoDb, byStatus);

beforeAll(async () => {
  await createTable(dynamoDb, byStatus, { orderId: 'S', byStatusShard: 'S', createdAt: 'S' });
  for (let number = 0; number < 60; number++) {
    await orders.place({ orderId: `o-${number}`, status: 'placed', createdAt: `2020-01-${10 + (number % 20)}` });
  }
}, 60_000);

async function all(status: string): Promise<{ orderId: string; createdAt: string }[]> {
  const pages = await allPages((cursor) => orders.newest(status, cursor));
  const text = (value: unknown) => (value as { S: string }).S;
  const items = pages.flatMap((page) => page.items);
  return items.map((item) => ({ orderId: text(item.orderId), createdAt: text(item.createdAt) }));
}

test('a query of a status returns its orders, the newest first', async () => {
  const found = await all('placed');
  expect(new Set(found.map(({ orderId }) => orderId)).size).toBe(60);
  const times = found.map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort().reverse());
});

test('an order with a new status is found only by the new status', async () => {
  const shipped = Array.from({ length: 30 }, (_, number) => `o-${number * 2}`);
  for (const orderId of shipped) await orders.changeStatus(orderId, 'shipped');
  expect((await all('shipped')).map(({ orderId }) => orderId).sort()).toEqual([...shipped].sort());
  expect(await all('placed')).toHaveLength(30);

  const { Items = [] } = await dynamoDb.scan({ TableName: 'Orders' });
  for (const { status, byStatusShard } of Items) expect(byStatusShard!.S).toMatch(new RegExp(`^${status!.S}#\\d+$`));
  const shards = new Set(
    Items.flatMap(({ status, byStatusShard }) => (status!.S === 'shipped' ? byStatusShard!.S : [])),
  );
  expect(shards.size).toBeGreaterThan(10);
});

test('changeStatus rejects an unknown order', async () => {
  await expect(orders.changeStatus('nobody', 'shipped')).rejects.toMatchObject({
    name: 'ConditionalCheckFailedException',
  });
});

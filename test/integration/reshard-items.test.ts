import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  fanOutItems,
  findStrays,
  type ItemReshardClient,
  plainItem,
  reshardItems,
  StrayScanError,
  shardAttributes,
  shardUpdate,
} from '../../lib/core';
import { seededRandom } from '../../lib/testing/seeded-random';
import { dynaliteForTests } from '../support/dynalite';
import { indexConfig } from '../support/index-config';
import { createTable } from '../support/sharded-tables';

/** Adds a sharded index to a table that already has items, while writers run, on dynalite with the AWS SDK. */

const ITEMS = 300;
const WRITERS = 8;
const STATUSES = ['new', 'paid', 'sent'];

const byStatus = indexConfig({
  tableName: 'Orders',
  tableKey: ['orderId'],
  keyLayout: 'single-attribute',
  shardAttribute: 'byStatusShard',
  sortKeyAttributes: [],
  shards: { default: { write: 3, read: 5 } },
});
const { tableName: TableName } = byStatus;

const { dynamoDb } = dynaliteForTests();
const documents = DynamoDBDocument.from(dynamoDb);

beforeAll(() => createTable(dynamoDb, byStatus, { orderId: 'S', byStatusShard: 'S' }));

interface Order {
  orderId: string;
  status: string;
  version: number;
}

/** A client that loses requests and responses. After the process has crashed, every request fails. */
function faulty(random: () => number, isAlive: () => boolean): ItemReshardClient {
  const lost = () => Object.assign(new Error('no response'), { name: 'TimeoutError' });
  const send = async <T>(request: () => Promise<T>): Promise<T> => {
    if (!isAlive()) throw Object.assign(new Error('crashed'), { name: 'AccessDeniedException' });
    if (random() < 0.1) throw lost();
    const answer = await request();
    if (random() < 0.1) throw lost();
    return answer;
  };
  return {
    scan: (input) => send(() => dynamoDb.scan({ ...input, Limit: 20 })),
    getItem: (input) => send(() => dynamoDb.getItem(input)),
    updateItem: (input) => send(() => dynamoDb.updateItem(input)),
  };
}

test('reshardItems – 8 writers, crashes and lost responses – loses no item and leaves no stray', async () => {
  const random = seededRandom(18);
  const pick = (count: number): number => Math.floor(random() * count);
  const orders = new Map<string, Order>();
  for (let number = 0; number < ITEMS; number++) {
    const order = { orderId: `o-${number}`, status: STATUSES[pick(3)]!, version: 0 };
    orders.set(order.orderId, order);
    const shard = [{}, { byStatusShard: 'lost' }, { byStatusShard: 'paid#4' }, shardAttributes(byStatus, order)][
      pick(4)
    ];
    await documents.put({ TableName, Item: { ...order, ...shard } });
  }

  let writing = true;
  /** Each writer writes its own orders, so the test knows the last version of each order. */
  const writer = async (number: number): Promise<void> => {
    for (let version = 1; writing; version++) {
      const orderId = `o-${number + WRITERS * pick(ITEMS / WRITERS)}`;
      const order = orders.get(orderId);
      const kind = random();
      if (order === undefined || kind < 0.3) {
        const next = { orderId, status: STATUSES[pick(3)]!, version };
        await documents.put({ TableName, Item: { ...next, ...shardAttributes(byStatus, next) } });
        orders.set(orderId, next);
      } else if (kind < 0.4) {
        await documents.delete({ TableName, Key: { orderId } });
        orders.delete(orderId);
      } else if (kind < 0.7) {
        const set = { status: STATUSES[pick(3)]!, version };
        await documents.update({ TableName, Key: { orderId }, ...shardUpdate([byStatus], { orderId }, { set }) });
        orders.set(orderId, { ...order, ...set });
      } else {
        const update = { UpdateExpression: 'SET version = :v', ExpressionAttributeValues: { ':v': version } };
        await documents.update({ TableName, Key: { orderId }, ...update });
        orders.set(orderId, { ...order, version });
      }
    }
  };

  const reshard = async (segment: number): Promise<number> => {
    let [resumeFrom, lives]: [string | undefined, number] = [undefined, 0];
    for (;;) {
      lives += 1;
      let requests = 20 + pick(60);
      try {
        const { resumePoint } = await reshardItems(
          faulty(random, () => requests-- > 0),
          byStatus,
          { segment, totalSegments: 2, ...(resumeFrom && { resumeFrom }), backoffCapMs: 5, attempts: 50 },
        );
        expect(resumePoint).toBeUndefined();
        return lives;
      } catch (error) {
        expect(error).toBeInstanceOf(StrayScanError);
        resumeFrom = (error as StrayScanError).report.resumePoint;
      }
    }
  };

  const writers = Array.from({ length: WRITERS }, (_, number) => writer(number));
  const lives = await Promise.all([reshard(0), reshard(1)]);
  writing = false;
  await Promise.all(writers);

  expect(Math.max(...lives)).toBeGreaterThan(2);
  const { itemsScanned, strays } = await findStrays(dynamoDb, byStatus);
  expect(itemsScanned).toBe(orders.size);
  expect(Object.values(strays).reduce((sum, count) => sum + count, 0)).toBe(0);
  const found: Order[] = [];
  for (const value of STATUSES) {
    for await (const item of fanOutItems(dynamoDb, byStatus, { value })) {
      const { byStatusShard: _, ...order } = plainItem<Order & { byStatusShard: string }>(item);
      found.push(order);
    }
  }
  const byId = (a: Order, b: Order): number => (a.orderId < b.orderId ? -1 : 1);
  expect(found.sort(byId)).toEqual([...orders.values()].sort(byId));
}, 120_000);

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { App } from 'aws-cdk-lib';
import { buildSync } from 'esbuild';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { runSample } from '../../../bin/local/sample';
import { AdaptiveOrdersStack } from '../../../examples/adaptive-orders/adaptive-orders-stack';
import { DynamoDbShardCountStore, type ShardedIndexConfig } from '../../../lib/core';
import { allPages } from '../../support/all-pages';

/** examples/adaptive-orders on a local stack: the bundled functions on dynalite in real time. */

const folders: string[] = [];
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'adaptive-orders-'));
  folders.push(made);
  return made;
};

let stack: LocalStack;
let config: ShardedIndexConfig;

beforeAll(async () => {
  const code = folder();
  buildSync({
    entryPoints: ['examples/adaptive-orders/place-orders.ts'],
    outfile: join(code, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
  });
  const app = new App({ outdir: folder() });
  new AdaptiveOrdersStack(app, 'Orders', { code });
  stack = await startLocal({ app: app.synth().directory });
  const query = stack.functions.find(({ path }) => path.startsWith('Orders/Query'))!;
  config = JSON.parse(query.environment.EVEN_SHARDS_INDEXES!).byStatus;
}, 60_000);

afterAll(async () => {
  await stack?.stop();
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});

const invoke = <T>(path: string, event: unknown): Promise<T> => {
  const { path: found } = stack.functions.find((each) => each.path.startsWith(`Orders/${path}`))!;
  return stack.invoke(found, event) as Promise<T>;
};

interface Page {
  items: { orderId: string }[];
  cursor?: string;
  stats: { shards: number };
}

/** Reads every open order, page by page. */
async function openOrders(): Promise<{ orderIds: string[]; shards: number }> {
  const event = { index: 'byStatus', value: 'open', limit: 20 };
  const pages = await allPages((cursor): Promise<Page> => invoke('Query', { ...event, cursor }));
  const orderIds = pages.flatMap(({ items }) => items.map(({ orderId }) => orderId));
  return { orderIds, shards: pages.at(-1)!.stats.shards };
}

test('a user invokes the controller to increase a count – readers and writers use the new count without a deployment, and no page misses an order', async () => {
  const placed: string[] = [];
  const place = async (): Promise<number> => {
    const orders = Array.from({ length: 5 }, (_, index) => {
      const orderId = `order-${placed.length + index}`;
      // The new order sorts after all earlier orders, so that the next page finds it behind the cursor.
      return { orderId, status: 'open', createdAt: `2026-${String(placed.length + index).padStart(6, '0')}` };
    });
    const { shards } = await invoke<{ shards: number }>('PlaceOrders', { orders });
    placed.push(...orders.map(({ orderId }) => orderId));
    return shards;
  };
  const seen = new Set<string>();
  const round = async (): Promise<number> => {
    const writes = await place();
    const before = [...placed];
    const { orderIds, shards } = await openOrders();
    expect(orderIds).toEqual(before);
    seen.add(`${writes}/${shards}`);
    return writes;
  };
  await round();

  const increase = invoke('Controller', { value: 'open', count: 8 });
  while ((await round()) < 8) await sleep(1_000);
  expect(await increase).toMatchObject({ values: [{ value: 'open', decision: 'increase', to: 8 }] });

  const store = new DynamoDbShardCountStore(stack.clients.dynamodb, config);
  expect(await store.readCounts()).toMatchObject([{ value: 'open', write: 8, read: 8 }]);
  // Writers never used the new count while readers still used the old count.
  expect([...seen].filter((counts) => counts === '8/1')).toEqual([]);
  expect([...seen]).toEqual(expect.arrayContaining(['1/1', '1/8', '8/8']));
}, 180_000);

test('the sample of a local run writes orders of each status in proportion to the adaptive count of the status', async () => {
  const lines: string[] = [];
  await runSample(stack, { input: [], print: (line) => lines.push(line) });
  expect(lines.join('\n')).toMatch(/1000 orders in the index byStatus/);
}, 60_000);

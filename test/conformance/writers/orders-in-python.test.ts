import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { FanOutQueryFunction, KeyLayout, ShardCounts, ShardedTable } from '../../../lib';
import { INDEXES } from '../../../lib/core/contract/function-environment';
import { describeWhere } from '../../support/describe-where';

/** Runs examples/other-languages/python/orders.py on the emulators: a Python function that puts and queries orders. */

const found = spawnSync('python3', ['-c', 'import boto3']).status === 0;

describeWhere(found, 'python3 with boto3')('orders in Python', () => {
  let local: LocalStack;

  beforeAll(async () => {
    const app = new App();
    const stack = new Stack(app, 'Orders');
    const named = (name: string) => ({ name, type: AttributeType.STRING });
    const byStatus = new ShardedTable(stack, 'Table', { partitionKey: named('orderId') }).addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: named('status'),
      sortKey: named('createdAt'),
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
      shardCounts: ShardCounts.byValue({ shipped: 8 }, 2),
    });
    new FanOutQueryFunction(stack, 'Query', { indexes: [byStatus] });
    local = await startLocal({ app: app.synth().directory });
  }, 120_000);

  afterAll(() => local?.stop());

  /** Runs the handler for each event in a process with its own environment, as Lambda does. */
  async function answersTo(events: object[]): Promise<Record<string, unknown>[]> {
    const query = local.functions.find(({ path }) => path === 'Orders/Query/Function')!;
    const program = `
import json, sys
sys.dont_write_bytecode = True
from orders import handler
for line in sys.stdin:
    try:
        print(json.dumps(handler(json.loads(line), None), default=str))
    except Exception as error:
        print(json.dumps({"error": str(error)}))`;
    const child = spawn('python3', ['-c', program], {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: resolve('examples/other-languages/python'),
        AWS_REGION: 'us-east-1',
        AWS_DEFAULT_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_ENDPOINT_URL_DYNAMODB: local.endpoints.dynamodb,
        AWS_ENDPOINT_URL_LAMBDA: local.endpoints.lambda,
        BY_STATUS: JSON.stringify(JSON.parse(query.environment[INDEXES]!).byStatus),
        QUERY: query.name,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(events.map((event) => JSON.stringify(event)).join('\n'));
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return printed
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  test('a query finds orders by their status, in pages, the newest first', async () => {
    const orders = Array.from({ length: 40 }, (_, number) => ({
      orderId: `o-${number}`,
      status: number % 4 === 0 ? 'placed' : 'shipped',
      createdAt: `2026-01-${10 + (number % 20)}T${String(number).padStart(2, '0')}`,
    }));
    const placed = await answersTo(orders.map((order) => ({ order })));
    expect(placed).toEqual(orders.map(({ orderId }) => ({ placed: orderId })));

    const [first] = await answersTo([{ status: 'shipped' }]);
    const [second, refused] = await answersTo([
      { status: 'shipped', cursor: first!.cursor },
      { status: 'placed', cursor: first!.cursor },
    ]);
    const shipped = orders
      .filter(({ status }) => status === 'shipped')
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    const pages = [first!, second!].map(({ items }) => items as { orderId: string }[]);
    expect(pages.map(({ length }) => length)).toEqual([25, 5]);
    expect(pages.flat().map(({ orderId }) => orderId)).toEqual(shipped.map(({ orderId }) => orderId));
    expect(second!.cursor).toBeUndefined();
    expect(refused!.error).toMatch(/^\[INVALID_CURSOR\] /);
  }, 60_000);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { runSample } from '../../../bin/local/sample';
import { AdaptiveShardCountController, FanOutQueryFunction, KeyLayout, ShardCounts, ShardedTable } from '../../../lib';
import { DynamoDbShardCountStore, type ShardedIndexConfig } from '../../../lib/core';
import { adaptiveConfig } from '../../support/fakes/adaptive-config';

/** What a deployment would have, with the function invoked by hand: its schedule and its alarm do not run here. */

let directory: string;
let stack: LocalStack;
let config: ShardedIndexConfig;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'controlled-'));
  const app = new App({ outdir: directory });
  const deployed = new Stack(app, 'Controlled');
  const orders = new ShardedTable(deployed, 'Orders', {
    partitionKey: { name: 'orderId', type: AttributeType.STRING },
  });
  const index = orders.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    sortKey: { name: 'createdAt', type: AttributeType.STRING },
    keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
    shardCounts: ShardCounts.adaptive({ maximum: 8 }),
  });
  new FanOutQueryFunction(deployed, 'Query', { indexes: [index] });
  new AdaptiveShardCountController(deployed, 'Controller', { index });
  app.synth();
  stack = await startLocal({ app: directory, onFunctionLog: () => {} });
  const [counts, table] = ['Orders/ShardCounts', 'Orders'].map(
    (path) => stack.tables.find((each) => each.path === `Controlled/${path}`)!.name,
  ) as [string, string];
  config = { ...adaptiveConfig, tableName: table, adaptive: { tableName: counts, maximum: 8 } };
}, 60_000);

afterAll(async () => {
  await stack?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const invoke = (path: string, event: object) => stack.invoke(`Controlled/${path}/Function`, event);

test('the local run takes a count that is raised by hand, and queries follow', async () => {
  expect(await invoke('Controller', {})).toEqual({ index: 'byStatus', values: [] });
  expect(await invoke('Query', { index: 'byStatus', value: 'open' })).toMatchObject({ stats: { shards: 1 } });
  await expect(invoke('Controller', { value: 'open', count: 9 })).rejects.toThrow(/INVALID_SHARD_COUNT/);
  expect(await invoke('Controller', { value: 'open', count: 4 })).toMatchObject({
    values: [{ value: 'open', shards: 4 }],
  });
  const store = new DynamoDbShardCountStore(stack.clients.dynamodb, config);
  expect(await store.readCounts()).toMatchObject([{ value: 'open', write: 4, read: 4 }]);
  expect(await invoke('Query', { index: 'byStatus', value: 'open' })).toMatchObject({ stats: { shards: 4 } });
}, 120_000);

test('the sample goes through an index with adaptive counts, as they are at the moment', async () => {
  const lines: string[] = [];
  await runSample(stack, { input: [], print: (line) => lines.push(line) });
  expect(lines.join('\n')).toMatch(/1000 orders, of each status as many as its shards of byStatus are for/);
}, 60_000);

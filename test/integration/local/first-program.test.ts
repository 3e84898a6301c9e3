import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { firstProgram } from '../../../bin/local/first-program';
import { examples } from '../../../bin/local/ready-message';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { FanOutQueryFunction, KeyShardedTable, ShardCounts, ShardedTable } from '../../../lib';

const attribute = (name: string, type: AttributeType) => ({ name, type });
const { BINARY, NUMBER, STRING } = AttributeType;

let outdir: string;
let stack: LocalStack;

beforeAll(async () => {
  outdir = mkdtempSync(join(tmpdir(), 'first-program-'));
  const app = new App({ outdir });
  const scope = new Stack(app, 'App');
  const orders = new ShardedTable(scope, 'Orders', { partitionKey: attribute('orderId', STRING) });
  const byStatus = orders.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: attribute('status', STRING),
    sortKey: attribute('createdAt', STRING),
    shardCounts: ShardCounts.byValue({ shipped: 20, pending: 5 }, 1),
  });
  new FanOutQueryFunction(scope, 'QueryOrders', { indexes: [byStatus] });
  const readings = new ShardedTable(scope, 'Readings', { partitionKey: attribute('reading', BINARY) });
  const byTime = readings.addShardedIndex({
    indexName: 'byTime',
    sortKey: attribute('at', NUMBER),
    shardCounts: ShardCounts.uniform(3),
  });
  new FanOutQueryFunction(scope, 'QueryReadings', { indexes: [byTime] });
  const sessions = new KeyShardedTable(scope, 'Sessions', {
    partitionKey: attribute('day', STRING),
    sortKey: attribute('session', STRING),
    shardCounts: ShardCounts.uniform(3),
  });
  new FanOutQueryFunction(scope, 'QuerySessions', { tables: [sessions] });
  const jobs = new ShardedTable(scope, 'Jobs', { partitionKey: attribute('jobId', STRING) });
  const byTenant = jobs.addShardedIndex({
    indexName: 'byTenant',
    valueAttribute: attribute('tenant', STRING),
    sortKey: attribute('createdAt', STRING),
    shardCounts: ShardCounts.adaptive({ maximum: 8 }),
  });
  new FanOutQueryFunction(scope, 'QueryJobs', { indexes: [byTenant] });
  app.synth();
  stack = await startLocal({ app: outdir });
}, 60_000);
afterAll(async () => {
  await stack?.stop();
  rmSync(outdir, { recursive: true });
});

/** Runs a program inside this repository, where the program can import the package by its name. */
async function run(program: readonly string[]): Promise<string> {
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program.join('\n')]);
  return (await running).stdout;
}

test.each([
  ['an index by a value, with its busiest value', 'App/QueryOrders/Function', "orderId: 'order-first-00001'", 10],
  [
    'an index over a whole table, with a number and a binary as keys',
    'App/QueryReadings/Function',
    'at: 1580515260000',
    10,
  ],
  ['a table that is sharded by its own key', 'App/QuerySessions/Function', "session: 'item-first-00001'", 10],
  ['an index with adaptive counts', 'App/QueryJobs/Function', "jobId: 'job-first-00001'", 12],
])('the printed program writes an item of %s and reads the item back', async (_, path, expected, lines) => {
  const functions = stack.functions.filter((each) => each.path === path);
  const program = firstProgram({ functions, tables: stack.tables, endpoints: stack.endpoints })!;
  expect(program).toHaveLength(lines);
  expect(await run(program)).toContain(expected);
});

test('an app with an index – the examples of a local run contain the program', () => {
  const printed = examples(stack, { url: 'http://console' }, outdir).join('\n');
  expect(printed).toContain(firstProgram(stack)!.join('\n'));
});

test('an app without an index – the examples of a local run contain no program', () => {
  expect(firstProgram({ functions: [], tables: [], endpoints: stack.endpoints })).toBeUndefined();
});

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
import { FanOutQueryFunction, KeyShardedTable, ShardCounts, ShardedTable, UniformStream } from '../../../lib';

/** The program that a local run prints, run as it stands: a first write of one's own. */

const attribute = (name: string, type: AttributeType) => ({ name, type });
const { BINARY, NUMBER, STRING } = AttributeType;

let outdir: string;
let stack: LocalStack;

beforeEach(() => {
  outdir = mkdtempSync(join(tmpdir(), 'first-program-'));
});
afterEach(async () => {
  await stack.stop();
  rmSync(outdir, { recursive: true });
});

async function deploy(declare: (stack: Stack) => void): Promise<void> {
  const app = new App({ outdir });
  declare(new Stack(app, 'App'));
  app.synth();
  stack = await startLocal({ app: outdir });
}

/** What the program prints. In this repository the package is found by its own name. */
async function run(program: readonly string[]): Promise<string> {
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program.join('\n')]);
  return (await running).stdout;
}

test.each<[string, (stack: Stack) => void, string]>([
  [
    'an index by a value, with its busiest value',
    (scope) => {
      const orders = new ShardedTable(scope, 'Orders', { partitionKey: attribute('orderId', STRING) });
      const byStatus = orders.addShardedIndex({
        indexName: 'byStatus',
        valueAttribute: attribute('status', STRING),
        sortKey: attribute('createdAt', STRING),
        shardCounts: ShardCounts.byValue({ shipped: 20, pending: 5 }, 1),
      });
      new FanOutQueryFunction(scope, 'Query', { indexes: [byStatus] });
    },
    "orderId: 'order-first-00001'",
  ],
  [
    'an index over a whole table, with numbers and binaries for keys',
    (scope) => {
      const readings = new ShardedTable(scope, 'Readings', { partitionKey: attribute('reading', BINARY) });
      const byTime = readings.addShardedIndex({
        indexName: 'byTime',
        sortKey: attribute('at', NUMBER),
        shardCounts: ShardCounts.uniform(3),
      });
      new FanOutQueryFunction(scope, 'Query', { indexes: [byTime] });
    },
    'at: 1580515260000',
  ],
  [
    'a table that is sharded by its own key',
    (scope) => {
      const sessions = new KeyShardedTable(scope, 'Sessions', {
        partitionKey: attribute('day', STRING),
        sortKey: attribute('session', STRING),
        shardCounts: ShardCounts.uniform(3),
      });
      new FanOutQueryFunction(scope, 'Query', { tables: [sessions] });
    },
    "session: 'item-first-00001'",
  ],
  [
    'an index whose counts are adaptive',
    (scope) => {
      const jobs = new ShardedTable(scope, 'Jobs', { partitionKey: attribute('jobId', STRING) });
      const byTenant = jobs.addShardedIndex({
        indexName: 'byTenant',
        valueAttribute: attribute('tenant', STRING),
        sortKey: attribute('createdAt', STRING),
        shardCounts: ShardCounts.adaptive({ maximum: 8 }),
      });
      new FanOutQueryFunction(scope, 'Query', { indexes: [byTenant] });
    },
    "jobId: 'job-first-00001'",
  ],
])('writes an item of %s and reads it back, in ten lines', async (_, declare, expected) => {
  await deploy(declare);
  const program = firstProgram(stack)!;
  // The two further ones are for counts that are adaptive.
  expect(program).toHaveLength(program.join().includes('AdaptiveIndex') ? 12 : 10);
  expect(await run(program)).toContain(expected);
  const printed = examples(stack, { url: 'http://console' }, outdir).join('\n');
  expect(printed).toContain(program.join('\n'));
});

test('there is none for an app without an index', async () => {
  await deploy((scope) => new UniformStream(scope, 'Events', { shardCount: 1 }));
  expect(firstProgram(stack)).toBeUndefined();
});

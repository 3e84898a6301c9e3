import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { App } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { LOCAL_CLIENT } from '../../../bin/local/functions/lambda-environment';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { PlainWritersStack } from '../../../examples/plain-writers/plain-writers-stack';
import { describeWhere } from '../../support/describe-where';
import { TableStream } from '../../support/table-stream';

const EXAMPLE = 'examples/plain-writers';
const app = mkdtempSync(join(tmpdir(), 'plain-writers-'));
afterAll(() => rmSync(app, { recursive: true }));

beforeAll(() => {
  const root = new App({ outdir: app });
  const stack = new PlainWritersStack(root, 'Jobs');
  // The same table before the change: all writes of a status go to one partition key of the index.
  new TableV2(stack, 'Before', {
    partitionKey: { name: 'jobId', type: AttributeType.STRING },
    globalSecondaryIndexes: [{ indexName: 'byStatus', partitionKey: { name: 'status', type: AttributeType.STRING } }],
  });
  root.synth();
}, 60_000);

const hasBoto3 = spawnSync('python3', ['-c', 'import boto3']).status === 0;

describeWhere(hasBoto3, 'Python with boto3')('the transcript of the example', () => {
  test('is what the commands print, with a writer that adds no shard attributes', async () => {
    const [, line, expected] = /\$ (.*)\n([^`]*)/.exec(readFileSync(`${EXAMPLE}/README.md`, 'utf8'))!;
    const [, script] = /sh -c '(.*)'/.exec(line!)!;
    const command = ['dist/bin/even-shards.js', 'local', '--app', app, '--', 'sh', '-c', `cd ${EXAMPLE} && ${script}`];
    const { stdout } = await promisify(execFile)(process.execPath, command);
    expect(stdout).toBe(expected);
  }, 120_000);
});

describe('a hot index in a local run with limits', () => {
  /** A fiftieth of the limits of AWS: a partition key takes 20 write units a second. */
  const LIMITS = 0.02;
  const WRITES = 80;
  let stack: LocalStack;
  let writer: DynamoDB;

  beforeAll(async () => {
    stack = await startLocal({ app, gates: { limits: LIMITS } });
    writer = new DynamoDB({ ...LOCAL_CLIENT, region: 'us-east-1', endpoint: stack.endpoints.dynamodb, maxAttempts: 1 });
  }, 120_000);
  afterAll(async () => {
    writer?.destroy();
    await stack?.stop();
  });

  /** Puts new items with one status. Returns how many puts were throttled. */
  async function throttled(TableName: string): Promise<number> {
    const puts = Array.from({ length: WRITES }, (_, n) => {
      const createdAt = { S: String(n).padStart(3, '0') };
      return writer.putItem({ TableName, Item: { jobId: { S: `job-${n}` }, status: { S: 'open' }, createdAt } });
    });
    const ended = await Promise.allSettled(puts);
    return ended.filter((each) => each.status === 'rejected').length;
  }

  test('the table throttles the writes of a hot status, and a sharded index with a keeper throttles none of them', async () => {
    const before = stack.tables.find(({ path }) => path === 'Jobs/Before')!;
    expect(await throttled(before.name)).toBeGreaterThan(WRITES / 4);
    const writtenAt = performance.now();
    expect(await throttled('jobs')).toBe(0);
    const request = { index: 'byStatus', value: 'open', limit: 100 };
    let items: { createdAt: string }[] = [];
    while (items.length < WRITES && performance.now() - writtenAt < 30_000) {
      await sleep(100);
      ({ items } = (await stack.invoke('Jobs/Query/Function', request)) as { items: typeof items });
    }
    expect(items.map(({ createdAt }) => Number(createdAt))).toEqual(Array.from({ length: WRITES }, (_, n) => n));
  }, 60_000);

  test('the keeper corrects an item within 2 seconds in the median, with at most 1.1 corrections for each write', async () => {
    const stream = await TableStream.of(stack.endpoints.dynamodb, 'jobs');
    const delays = await Promise.all(
      Array.from({ length: 25 }, async (_, n) => {
        await sleep(200 * n);
        const Key = { jobId: { S: `late-${n}` } };
        const Item = { ...Key, status: { S: 'done' }, createdAt: { S: String(n) } };
        await stack.ungatedClients.dynamodb.putItem({ TableName: 'jobs', Item });
        const writtenAt = performance.now();
        const isKept = async () => {
          const read = await stack.ungatedClients.dynamodb.getItem({ TableName: 'jobs', Key, ConsistentRead: true });
          return read.Item?.byStatusShard !== undefined;
        };
        while (!(await isKept())) await sleep(20);
        return performance.now() - writtenAt;
      }),
    );
    const names: string[] = [];
    for await (const batch of stream.batches()) {
      for (const { dynamodb, eventName } of batch as {
        dynamodb: { Keys: { jobId: { S: string } } };
        eventName: string;
      }[]) {
        if (dynamodb.Keys.jobId.S.startsWith('late')) names.push(eventName);
      }
    }
    const median = delays.sort((a, b) => a - b)[12]!;
    console.info(
      `median delay ${Math.round(median)} ms, longest ${Math.round(delays[24]!)} ms, ${names.length} records`,
    );
    expect(median).toBeLessThan(2_000);
    expect(names.filter((name) => name === 'MODIFY').length).toBeLessThanOrEqual(1.1 * 25);
  }, 60_000);
});

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { Lambda } from '@aws-sdk/client-lambda';
import { PRODUCER, QUERY, synthesizeReferenceApp } from '../support/reference-app';

/** Tests a client process that knows only the line that `local --serve --json` prints. */

const CLI = join(__dirname, '../../dist/bin/even-shards.js');
const STREAM = 'EvenShards/Events';
const TABLE = 'EvenShards/Jobs';

interface ReadyLine {
  ready: true;
  endpoints: Record<'kinesis' | 'dynamodb' | 'lambda', string>;
  functions: Record<string, string>;
  streams: Record<string, string>;
  tables: Record<string, string>;
}

let child: ChildProcess;
let ready: ReadyLine;
let clients: { kinesis: Kinesis; dynamodb: DynamoDB; lambda: Lambda };
const lines: string[] = [];

beforeAll(async () => {
  const app = synthesizeReferenceApp();
  // The command has its own process group, so the test can find its children.
  child = spawn(process.execPath, [CLI, 'local', '--serve', '--json', '--app', app], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const stdout = createInterface({ input: child.stdout! });
  stdout.on('line', (line) => lines.push(line));
  await once(stdout, 'line');
  ready = JSON.parse(lines[0]!);
  const common = { region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };
  clients = {
    kinesis: new Kinesis({ ...common, endpoint: ready.endpoints.kinesis }),
    dynamodb: new DynamoDB({ ...common, endpoint: ready.endpoints.dynamodb }),
    lambda: new Lambda({ ...common, endpoint: ready.endpoints.lambda }),
  };
}, 60_000);

afterAll(() => {
  for (const client of Object.values(clients ?? {})) client.destroy();
  child?.kill('SIGKILL');
});

async function invoke(path: string, payload: object): Promise<{ error?: string; answer: Record<string, unknown> }> {
  const { FunctionError, Payload } = await clients.lambda.invoke({
    FunctionName: ready.functions[path],
    Payload: JSON.stringify(payload),
  });
  return { error: FunctionError, answer: JSON.parse(Buffer.from(Payload!).toString()) };
}

test('the Kinesis client reads the records that the producer function has put', async () => {
  const { error, answer } = await invoke(PRODUCER, {
    records: [
      { partitionKey: 'outside', data: 'first' },
      { partitionKey: 'outside', data: 'second' },
    ],
  });
  expect({ error, failed: answer.failedRecordCount }).toEqual({ error: undefined, failed: 0 });
  const [{ shardId }] = answer.records as [{ shardId: string }];
  const { ShardIterator } = await clients.kinesis.getShardIterator({
    StreamName: ready.streams[STREAM],
    ShardId: shardId,
    ShardIteratorType: 'TRIM_HORIZON',
  });
  const { Records } = await clients.kinesis.getRecords({ ShardIterator });
  expect(Records?.map(({ Data }) => Buffer.from(Data!).toString())).toEqual(['first', 'second']);
});

test('the query function returns the items that the DynamoDB client has put', async () => {
  const { Table } = await clients.dynamodb.describeTable({ TableName: ready.tables[TABLE] });
  const { KeySchema } = Table!.GlobalSecondaryIndexes!.find(({ IndexName }) => IndexName === 'byStatus')!;
  const [shardAttribute, sortKey] = KeySchema!.map(({ AttributeName }) => AttributeName!);
  for (const [jobId, shard, createdAt] of [
    ['newest', 3, '2020-01-03'],
    ['oldest', 9, '2020-01-01'],
    ['middle', 0, '2020-01-02'],
  ]) {
    await clients.dynamodb.putItem({
      TableName: ready.tables[TABLE],
      Item: {
        jobId: { S: String(jobId) },
        [shardAttribute!]: { S: `failed#${shard}` },
        [sortKey!]: { S: String(createdAt) },
      },
    });
  }
  const { error, answer } = await invoke(QUERY, { index: 'byStatus', value: 'failed', projection: ['jobId'] });
  expect({ error, items: answer.items }).toEqual({
    error: undefined,
    items: [{ jobId: 'oldest' }, { jobId: 'middle' }, { jobId: 'newest' }],
  });
});

/** The processes of a group that run. An ended process can stay in the list of processes as a zombie for a time. */
async function running(group: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pgid=,stat=,args=']);
  return stdout.split('\n').filter((line) => line.trim().startsWith(`${group} `) && !/^\s*\d+ Z/.test(line));
}

// This test is the last, because it ends the services.
test('SIGINT during an invocation ends all processes of the command, with exit code 130', async () => {
  const records = Array.from({ length: 5_000 }, () => ({ partitionKey: 'one key: one request each', data: 'x' }));
  const underWay = invoke(PRODUCER, { records }).catch((error: Error) => error);
  await sleep(300);
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  expect(await exit).toEqual([130, null]);
  expect(await underWay).toBeInstanceOf(Error);
  // A process that gets SIGKILL still needs some milliseconds to end.
  for (let n = 0; n < 100 && (await running(child.pid!)).length > 0; n++) await sleep(20);
  expect(await running(child.pid!)).toEqual([]);
  for (const endpoint of Object.values(ready.endpoints)) await expect(fetch(endpoint)).rejects.toThrow('fetch failed');
  expect(lines).toEqual([expect.stringMatching(/^\{"ready":true,/)]);
}, 20_000);

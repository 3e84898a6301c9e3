import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DynamoDbParkingStore, OrderedConsumer } from 'cdk-even-shards/consumer';
import { FakeIndex } from '../../test/support/fakes/fake-index';
import { PARKING_METHODS, ParkingTable } from '../../test/support/fakes/parking-table';
import { type Operations, startService } from './service';
import { synthesizeTables } from './template';
import type { Written } from './written';

const PACKAGE = dirname(createRequire(__filename).resolve('cdk-even-shards/package.json'));

/** The shapes of the JSON that the commands print. A release may print other numbers and texts. */
export async function commands(): Promise<Written> {
  const folder = mkdtempSync(join(tmpdir(), 'golden-'));
  const deployed = join(folder, 'deployed');
  const app = join(folder, 'app');
  const { config } = synthesizeTables(deployed, 2);
  synthesizeTables(app, 5);
  const index = new FakeIndex(config as never);
  index.put({ jobId: { S: 'job-1' }, owner: { S: 'ann' }, byOwnerShard: { S: 'ann-01' } });
  const table = new ParkingTable();
  await parkKey(table);
  const operations: Operations = {
    ...Object.fromEntries(PARKING_METHODS.map((name) => [name, (input: never) => table[name](input)])),
    query: (input: { TableName: string }) =>
      input.TableName === 'Parked' ? table.query(input as never) : index.query(input as never),
    putItem: () => ({}),
    describeTable: () => ({ Table: JOBS_TABLE }),
    listShards: () => ({
      Shards: [
        {
          ShardId: 'shardId-000000000000',
          HashKeyRange: { StartingHashKey: '0', EndingHashKey: String(2n ** 128n - 1n) },
          SequenceNumberRange: { StartingSequenceNumber: '1' },
        },
      ],
    }),
  } as never;
  const service = await startService(() => operations);
  const endpoint = ['--endpoint', service.endpoint];
  const local = ['--app', app, '--dynamodb-endpoint', service.endpoint, '--kinesis-endpoint', service.endpoint];
  const lines: Record<string, string[]> = {
    'plan stream': ['plan', 'stream', '--records-per-second', '1000', '--bytes-per-second', '1000000'],
    'plan index': ['plan', 'index', '--writes-per-second', '5000', '--share', 'new=80', '--share', 'done=20'],
    'plan item': ['plan', 'item', '--reads-per-second', '9000'],
    'plan overload': ['plan', 'overload', '--partitions', '10'],
    simulate: ['simulate', '--keys', '64', '--doublings', '1'],
    keys: ['keys', '--count', '3'],
    reshard: ['reshard', '--from', '1', '--to', '4'],
    check: ['check', '--app', app, '--deployed', deployed],
    shards: ['shards', 'events', ...endpoint],
    parked: ['parked', '--table', 'Parked', '--consumer', 'orders', '--payload', ...endpoint],
    query: ['query', 'byOwner', '--value', 'ann', ...local],
    put: ['put', 'Jobs', '--item', '{"jobId":"job-2","owner":"ann"}', ...local],
  };
  try {
    const shapes: Record<string, unknown> = {};
    const waiting = Object.entries(lines);
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        shapes[next[0]] = await shapeOfOutput([...next[1], '--json']);
      }
    };
    await Promise.all([work(), work(), work()]);
    return { 'json output': shapes };
  } finally {
    service.close();
    rmSync(folder, { recursive: true });
  }
}

const key = (name: string, KeyType: string) => ({ AttributeName: name, KeyType });
const JOBS_TABLE = {
  TableName: 'Jobs',
  TableStatus: 'ACTIVE',
  KeySchema: [key('jobId', 'HASH')],
  AttributeDefinitions: ['jobId', 'byOwnerShard'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  GlobalSecondaryIndexes: [{ IndexName: 'byOwner', IndexStatus: 'ACTIVE', KeySchema: [key('byOwnerShard', 'HASH')] }],
};

async function parkKey(table: ParkingTable): Promise<void> {
  const calls = PARKING_METHODS.map((name) => [name, async (input: never) => table[name](input)]);
  const parking = new DynamoDbParkingStore(Object.fromEntries(calls), { tableName: 'Parked', consumer: 'orders' });
  const fail = () => {
    throw new Error('the handler fails');
  };
  const record = { shardId: 'shardId-000000000000', partitionKey: 'a', sequenceNumber: '1', data: Buffer.from('text') };
  await new OrderedConsumer(fail, { parking, metrics: false } as never).process([record], { source: 'stream' });
}

async function shapeOfOutput(line: readonly string[]): Promise<unknown> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
  const child = spawn(process.execPath, [join(PACKAGE, 'dist/bin/even-shards.js'), ...line], { env });
  let [output, problem] = ['', ''];
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (problem += data));
  const [exitCode] = await once(child, 'close');
  const documents = output.trim().startsWith('{') || output.trim().startsWith('[') ? jsonIn(output) : undefined;
  if (documents === undefined) throw new Error(`${line.join(' ')} printed no JSON: ${output}${problem}`);
  return { exitCode, shape: shapeOf(documents) };
}

/** One document, or one document a line. */
function jsonIn(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
}

/** The names and types in a document. An array has the shape of all its elements. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(shapeOf).reduce(both)];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}

function both(a: unknown, b: unknown): unknown {
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) || Array.isArray(b)) return a;
  return { ...a, ...b };
}

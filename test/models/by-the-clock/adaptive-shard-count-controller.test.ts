import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../../bin/local/emulators/emulator-thread';
import {
  AdaptiveIndex,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  fanOutQuery,
  type ShardedIndexConfig,
  shardPut,
  WriteReporter,
} from '../../../lib/core';
import { INDEX } from '../../../lib/core/contract/function-environment';
import { DynamoDbLimits } from '../../../lib/testing';
import { adaptiveConfig } from '../../support/fakes/adaptive-config';
import { createKeyedTable } from '../../support/keyed-table';
import { LambdaFunction } from '../../support/lambda-function';
import { createTable } from '../../support/sharded-tables';

/** The bundled controller with tables on dynalite. */

const config: ShardedIndexConfig = { ...adaptiveConfig, adaptive: { tableName: 'counts', maximum: 16 } };
const MINUTE = 60_000;
const INDEX_ARN = `arn:aws:dynamodb:us-east-1:000000000000:table/${config.tableName}/index/${config.indexName}`;

let emulator: Emulator;
let dynamoDb: DynamoDB;
let controller: LambdaFunction;
/** Another execution environment of the same function. */
let another: LambdaFunction;

beforeAll(async () => {
  emulator = await startDynamoDbEmulator();
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
  await createTable(dynamoDb, config, { orderId: 'S', byStatusShard: 'S', createdAt: 'S' });
  await createKeyedTable(dynamoDb, 'counts', 'index', 'value');
  [controller, another] = (await Promise.all(
    [1, 2].map(() =>
      LambdaFunction.start({
        name: 'adaptive-shard-count-controller',
        environment: { [INDEX]: JSON.stringify(config) },
        endpoint: emulator.endpoint,
      }),
    ),
  )) as [LambdaFunction, LambdaFunction];
}, 60_000);

afterAll(async () => {
  await Promise.all([controller?.stop(), another?.stop()]);
  dynamoDb?.destroy();
  await emulator?.stop();
});

async function invoke(event: object, by = controller) {
  const { response, error, log } = await by.invoke(event, 100_000);
  if (error) throw Object.assign(new Error(error.message), error);
  return { answer: JSON.parse(response!), log };
}

const store = () => new DynamoDbShardCountStore(dynamoDb, config);
const adaptiveIndex = () => new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config));
const startOfMinute = (minutesAgo: number) => (Math.floor(Date.now() / MINUTE) - minutesAgo) * MINUTE;

/**
 * Writes eight times a second for a minute, and reports each write to `reporter` as 1,000 write units. The limits of a
 * shard are the limits of DynamoDB divided by 1,000, so each write consumes one unit of its shard.
 */
async function writeForAMinute(reporter: WriteReporter, at: { now: number }, start: number): Promise<void> {
  const index = adaptiveIndex();
  const documents = DynamoDBDocument.from(dynamoDb);
  const limits = new DynamoDbLimits({ now: () => at.now, scale: 0.001 });
  for (let write = 0; write < 480; write += 1) {
    at.now = start + write * 125;
    const order = { orderId: `${start}-${write}`, status: 'open', createdAt: String(at.now) };
    const put = async () => {
      const input = shardPut([await index.forWriting()], order);
      const key = String(input.Item.byStatusShard);
      const refusal = limits.takeWrite([
        { tableArn: INDEX_ARN.split('/index/')[0]!, indexName: config.indexName, key, units: 1 },
      ]);
      if (refusal !== undefined) {
        throw Object.assign(new Error('refused'), { ThrottlingReasons: [refusal] });
      }
      // Stores only each sixtieth item, because the query needs no more items.
      return write % 60 === 0 ? documents.put(input) : {};
    };
    await reporter.watch('open', put, 1_000).catch(() => undefined);
  }
}

test('the controller reports no value and emits no metric while no write is throttled', async () => {
  const { answer, log } = await invoke({});
  expect(answer).toEqual({ index: 'byStatus', values: [] });
  expect(log).not.toMatch(/decision|_aws/);
});

test('after reports or manual invocations, the controller increases a count without a deployment: first for readers, then for writers', async () => {
  const reader = adaptiveIndex();
  const now = startOfMinute(0);
  const at = { now };
  const reporter = new WriteReporter(dynamoDb, config, { timeOfDay: () => at.now });
  await writeForAMinute(reporter, at, now - 2 * MINUTE);
  await writeForAMinute(reporter, at, now - MINUTE);
  at.now = Date.now();
  await reporter.watch('open', async () => ({}));
  const { answer: foreseen } = await invoke({ dryRun: true });
  expect(foreseen).toEqual({
    index: 'byStatus',
    values: [
      {
        value: 'open',
        shards: 1,
        decision: 'increase',
        to: 10,
        reason: expect.stringMatching(/^8000 write units a second/),
      },
    ],
  });
  expect(await store().readCounts()).toEqual([]);

  const increasing = invoke({});
  const increasingByHand = invoke({ index: 'byStatus', value: 'new', count: 4 }, another);
  let readersFirst = await store().readCounts();
  while (readersFirst.length < 2) {
    await sleep(100);
    readersFirst = await store().readCounts();
  }
  expect(readersFirst).toMatchObject([
    { value: 'new', write: 1, read: 4 },
    { value: 'open', write: 1, read: 10 },
  ]);
  const { answer, log } = await increasing;
  expect(answer.values).toMatchObject([{ value: 'open', shards: 1, decision: 'increase', to: 10 }]);
  expect((await increasingByHand).answer).toEqual({
    index: 'byStatus',
    values: [
      {
        value: 'new',
        shards: 1,
        decision: 'increase',
        to: 4,
        reason: 'a person invoked the controller with this count',
      },
    ],
  });
  expect((await invoke({ value: 'new', count: 3 })).answer.values).toEqual([
    {
      value: 'new',
      shards: 4,
      decision: 'keep',
      to: 4,
      reason: 'the value already has 4 shards, and an invocation does not decrease a count',
    },
  ]);
  expect(await store().readCounts()).toMatchObject([
    { value: 'new', write: 4, read: 4 },
    {
      value: 'open',
      write: 10,
      read: 10,
      changedBy: 'adaptive-shard-count-controller',
      reason: expect.stringContaining('needs 10'),
    },
  ]);
  expect((await reader.forWriting()).shards.byValue).toMatchObject({ open: { write: 10, read: 10 } });
  const page = await fanOutQuery(dynamoDb, reader, { value: 'open', limit: 100 });
  expect(page.stats.shards).toBe(10);
  expect(page.items.length).toBeGreaterThan(0);

  const lines = log
    .split('\n')
    .filter((line) => line.includes('"_aws"'))
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({
    TableName: 'orders',
    IndexName: 'byStatus',
    ThrottledValues: 1,
    ShardCountIncreases: 1,
    ValuesAtMaximum: 0,
    MostShards: 10,
  });
  expect(log).toContain('which needs 10 shards');
  expect(log).not.toContain('"open"');
}, 120_000);

test.each([
  [{ value: 'open', count: 17 }, 'INVALID_SHARD_COUNT] count must be'],
  [{ value: 'open', count: '8' }, 'INVALID_SHARD_COUNT] count must be'],
  [{ value: { S: 'open' }, count: 8 }, 'INVALID_INDEX_VALUE] value must be'],
  [{ count: 8 }, 'INVALID_INDEX_VALUE] value must be'],
  [{ index: 'byDay', value: 'open', count: 8 }, 'INVALID_EVENT] index must be'],
])('the controller rejects an invalid manual invocation without a write: %j', async (event, problem) => {
  const before = await store().readCounts();
  await expect(invoke(event)).rejects.toMatchObject({ message: expect.stringContaining(`[${problem}`) });
  expect(await store().readCounts()).toEqual(before);
});

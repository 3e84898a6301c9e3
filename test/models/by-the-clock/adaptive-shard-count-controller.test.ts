import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
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

/** The bundled controller with tables on dynalite and a server for Contributor Insights, which dynalite does not have. */

const config: ShardedIndexConfig = { ...adaptiveConfig, adaptive: { tableName: 'counts', maximum: 16 } };
const MINUTE = 60_000;
const INDEX_ARN = `arn:aws:dynamodb:us-east-1:000000000000:table/${config.tableName}/index/${config.indexName}`;

let emulator: Emulator;
let aws: Server;
let dynamoDb: DynamoDB;
let controller: LambdaFunction;
/** Another execution environment of the same function. */
let another: LambdaFunction;

/** The requests for Contributor Insights. */
let insightRequests: string[] = [];
/** The contributors that Contributor Insights returns for each kind of rule. */
let contributors: Record<string, object[]> = {};
let rules: string[] = [];

beforeAll(async () => {
  emulator = await startDynamoDbEmulator();
  aws = createServer(async (request, answer) => {
    const body = await text(request);
    const operation = String(request.headers['x-amz-target']).split('.')[1]!;
    answer.setHeader('content-type', 'application/x-amz-json-1.0');
    if (operation === 'DescribeContributorInsights') {
      insightRequests.push(operation);
      answer.end(JSON.stringify({ ContributorInsightsStatus: 'ENABLED', ContributorInsightsRuleList: rules }));
    } else if (operation === 'GetInsightRuleReport') {
      const { RuleName } = JSON.parse(body);
      insightRequests.push(RuleName);
      answer.end(JSON.stringify({ Contributors: contributors[RuleName] ?? [] }));
    } else {
      const { host: _host, ...headers } = request.headers;
      const forwarded = await fetch(emulator.endpoint, { method: 'POST', body, headers: headers as never });
      answer.statusCode = forwarded.status;
      answer.end(Buffer.from(await forwarded.arrayBuffer()));
    }
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
  await createTable(dynamoDb, config, { orderId: 'S', byStatusShard: 'S', createdAt: 'S' });
  await createKeyedTable(dynamoDb, 'counts', 'index', 'value');
  [controller, another] = (await Promise.all(
    [1, 2].map(() =>
      LambdaFunction.start({
        name: 'adaptive-shard-count-controller',
        environment: { [INDEX]: JSON.stringify(config) },
        endpoint: `http://127.0.0.1:${(aws.address() as AddressInfo).port}`,
      }),
    ),
  )) as [LambdaFunction, LambdaFunction];
}, 60_000);

afterAll(async () => {
  await Promise.all([controller?.stop(), another?.stop()]);
  aws?.closeAllConnections();
  aws?.close();
  dynamoDb?.destroy();
  await emulator?.stop();
});

beforeEach(() => {
  insightRequests = [];
});

async function invoke(event: object, by = controller) {
  const { response, error, log } = await by.invoke(event, 100_000);
  if (error) throw Object.assign(new Error(error.message), error);
  return { answer: JSON.parse(response!), log };
}

const store = () => new DynamoDbShardCountStore(dynamoDb, config);
const adaptiveIndex = () => new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config));
const alarm = (value: string, minutesAgo: number) => ({
  'detail-type': 'CloudWatch Alarm State Change',
  time: new Date(Date.now() - minutesAgo * MINUTE).toISOString(),
  detail: { alarmName: 'Throttled', state: { value } },
});
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

test('after reports, metrics or manual invocations, the controller increases a count without a deployment: first for readers, then for writers', async () => {
  const reader = adaptiveIndex();
  const now = startOfMinute(0);
  const at = { now };
  const reporter = new WriteReporter(dynamoDb, config, { timeOfDay: () => at.now });
  await writeForAMinute(reporter, at, now - 2 * MINUTE);
  await writeForAMinute(reporter, at, now - MINUTE);
  at.now = Date.now();
  await reporter.watch('open', async () => ({}));
  rules = ['DynamoDBContributorInsights-PKC-orders-byStatus-1', 'DynamoDBContributorInsights-PKT-orders-byStatus-1'];
  const saturated = [1, 2].map((ago) => ({ Timestamp: startOfMinute(ago) / 1_000, ApproximateValue: 180_000 }));
  contributors = { [rules[0]!]: [{ Keys: ['paid#0'], ApproximateAggregateValue: 1, Datapoints: saturated }] };

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
  expect(insightRequests).toEqual([]);
  expect(await store().readCounts()).toEqual([]);

  const increasing = invoke(alarm('ALARM', 0));
  const increasingByHand = invoke({ index: 'byStatus', value: 'new', count: 4 }, another);
  let readersFirst = await store().readCounts();
  while (readersFirst.length < 3) {
    await sleep(100);
    readersFirst = await store().readCounts();
  }
  expect(readersFirst).toMatchObject([
    { value: 'new', write: 1, read: 4 },
    { value: 'open', write: 1, read: 10 },
    { value: 'paid', write: 1, read: 2 },
  ]);
  const { answer, log } = await increasing;
  expect(insightRequests).toEqual(['DescribeContributorInsights', ...rules]);
  expect(answer.values).toMatchObject([
    { value: 'open', shards: 1, decision: 'increase', to: 10 },
    { value: 'paid', shards: 1, decision: 'increase', to: 2 },
  ]);
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
    { value: 'paid', write: 2, read: 2 },
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
    ThrottledValues: 2,
    ShardCountIncreases: 2,
    ValuesAtMaximum: 0,
    MostShards: 10,
  });
  expect(log).toContain('which needs 10 shards');
  for (const value of ['open', 'paid']) expect(log).not.toContain(`"${value}"`);
}, 120_000);

test('the controller reads metrics only while the alarm of the index is in the state ALARM, even if alarm events arrive in another order', async () => {
  rules = [];
  await invoke(alarm('OK', -1));
  await invoke(alarm('ALARM', 5));
  await invoke({});
  expect(insightRequests).toEqual([]);
  await invoke(alarm('ALARM', -2));
  const { log } = await invoke({});
  expect(insightRequests).toEqual(['DescribeContributorInsights', 'DescribeContributorInsights']);
  expect(log).toContain('Contributor Insights has no rule for its accessed keys');
  await invoke(alarm('OK', -3));
});

test('if Contributor Insights has rules only for throttled keys, the controller logs that it has no rule for accessed keys', async () => {
  const kinds = { both: ['PKC', 'PKT'], throttled: ['PKT'] };
  await invoke(alarm('ALARM', -4));
  for (const [name, letters] of Object.entries(kinds)) {
    rules = letters.map((kind) => `DynamoDBContributorInsights-${kind}-orders-byStatus-1`);
    const { log } = await invoke({});
    expect(log.includes('Contributor Insights has no rule for its accessed keys')).toBe(name === 'throttled');
  }
  await invoke(alarm('OK', -5));
});

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

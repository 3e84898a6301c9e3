import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { keeperOf } from '../../bin/doctor/keeper-state';
import {
  CORRECTS_ITEMS,
  INDEXES,
  KEEPER_TABLE_NAME,
  READ_UNITS_PER_SECOND,
} from '../../lib/core/contract/function-environment';
import { dynaliteForTests } from '../support/dynalite';
import { adaptiveConfig } from '../support/fakes/adaptive-config';
import { streamArnOf } from '../support/fakes/streamed-table';
import { createKeyedTable } from '../support/keyed-table';
import { LambdaFunction } from '../support/lambda-function';
import { type LoopbackServer, sendJson, startServer } from '../support/loopback-server';

/** The bundled function of a keeper of an index with adaptive counts. */

const { dynamoDb, endpoint } = dynaliteForTests();
const MINUTE_MS = 60_000;

let server: LoopbackServer;
/** The number of corrections that the server throttles. */
let throttles = 0;
let keeper: LambdaFunction;
let log = '';

beforeAll(async () => {
  server = await startServer(async (response, body, request) => {
    const isCorrection =
      String(request.headers['x-amz-target']).endsWith('UpdateItem') && JSON.parse(body).TableName === 'orders';
    if (isCorrection && throttles-- > 0) {
      const resource = 'arn:aws:dynamodb:us-east-1:111122223333:table/orders/index/byStatus';
      const ThrottlingReasons = [{ reason: 'IndexWriteKeyRangeThroughputExceeded', resource }];
      return sendJson(response, { __type: 'ThrottlingException', message: 'hot', ThrottlingReasons });
    }
    const { 'content-length': _, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(endpoint(), { method: 'POST', headers, body });
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(await answer.text());
  });
  keeper = await LambdaFunction.start({
    name: 'index-keeper',
    endpoint: server.endpoint,
    environment: {
      [INDEXES]: JSON.stringify({ [adaptiveConfig.indexName]: adaptiveConfig }),
      [KEEPER_TABLE_NAME]: 'Keeper',
      [CORRECTS_ITEMS]: 'true',
      [READ_UNITS_PER_SECOND]: '1000',
    },
  });
  await createKeyedTable(dynamoDb, 'orders', 'orderId');
  await createKeyedTable(dynamoDb, 'counts', 'index', 'value');
  await createKeyedTable(dynamoDb, 'Keeper', 'id', 'item');
}, 60_000);
afterAll(async () => {
  await keeper?.stop();
  server.stop();
});

let records = 0;
/** Puts an item, and invokes the function with its record. */
async function write(item: Record<string, AttributeValue>): Promise<unknown> {
  await dynamoDb.putItem({ TableName: 'orders', Item: item });
  records += 1;
  const { orderId } = item;
  const change = {
    ...{ Keys: { orderId }, NewImage: item, SequenceNumber: String(records) },
    ApproximateCreationDateTime: Math.floor(Date.now() / 1_000),
  };
  const record = { eventName: 'INSERT', eventSourceARN: streamArnOf('orders'), dynamodb: change };
  return invoke({ Records: [record] });
}

async function invoke(event: unknown): Promise<unknown> {
  const invocation = await keeper.invoke(event, MINUTE_MS);
  log += invocation.log;
  if (invocation.error !== undefined) throw new Error(invocation.error.message);
  return JSON.parse(invocation.response!);
}

async function shardOf(orderId: string): Promise<unknown> {
  const { Item } = await dynamoDb.getItem({ TableName: 'orders', Key: { orderId: { S: orderId } } });
  return Item?.byStatusShard;
}

const order = (orderId: string, status: AttributeValue): Record<string, AttributeValue> => ({
  ...{ orderId: { S: orderId }, status, createdAt: { S: '1' } },
});

test('a keeper of an index with adaptive counts corrects items, reports throttled corrections, lists items and the sweep, and checks older items', async () => {
  await dynamoDb.putItem({ TableName: 'orders', Item: order('old', { S: 'open' }) });
  expect(await invoke({ list: true })).toEqual({ items: [] });
  throttles = 1;
  expect(await write(order('1', { S: 'open' }))).toEqual({ batchItemFailures: [] });
  expect(await shardOf('1')).toEqual({ S: 'open#0' });

  // The first correction of the next minute reports the throttles.
  keeper.setForward(2 * MINUTE_MS);
  await write(order('2', { S: 'open' }));
  const { Items = [] } = await dynamoDb.scan({ TableName: 'counts' });
  expect(Items.filter(({ throttled }) => throttled !== undefined)).toMatchObject([
    { value: { S: expect.stringMatching(/open$/) }, throttled: { N: '1' } },
  ]);

  await write(order('3', { NULL: true }));
  const sweep = { reason: 'firstRecords', since: expect.any(String), checked: 0, corrected: 0 };
  const items = [{ key: { orderId: '3' }, reason: 'invalidValue', since: expect.any(String) }];
  expect(await invoke({ list: true })).toEqual({ sweep: { ...sweep, isStarted: false }, items });
  const deployed = { path: 'Orders/Keeper', tableName: 'Keeper', corrects: true };
  expect(await keeperOf(dynamoDb, deployed)).toMatchObject({ sweepDue: 'firstRecords', contested: 0, rejected: 0 });
  expect(await invoke({ sweep: true })).toMatchObject({ sweep: expect.stringMatching(/^started/) });
  expect(await invoke({ list: true })).toMatchObject({ sweep: { ...sweep, isStarted: true } });
  expect(await shardOf('old')).toBeUndefined();
  await invoke({});
  expect(await shardOf('old')).toEqual({ S: 'open#0' });
  expect(await invoke({ list: true })).toEqual({ items });
  expect(await keeperOf(dynamoDb, deployed)).not.toHaveProperty('sweepDue');
  await expect(invoke({ lists: true })).rejects.toMatchObject({ message: expect.stringMatching(/"list":true/) });
  expect(log).not.toContain('createdAt');
}, 60_000);

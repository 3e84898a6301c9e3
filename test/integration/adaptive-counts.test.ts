import { join } from 'node:path';
import { type AttributeValue, type DynamoDB, waitUntilTableNotExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { FunctionPool } from '../../bin/local/functions/function-pool';
import { lambdaEnvironment } from '../../bin/local/functions/lambda-environment';
import {
  AdaptiveIndex,
  type Clock,
  DynamoDbShardCountReader,
  DynamoDbShardCountStore,
  decreaseShardCount,
  endDrain,
  fanOutCount,
  findStrays,
  type ItemReshardClient,
  increaseShardCount,
  reshardItems,
  shardPut,
} from '../../lib/core';
import {
  INDEX,
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  WRITE_UNITS_PER_SECOND,
} from '../../lib/core/contract/function-environment';
import { dynaliteForTests } from '../support/dynalite';
import { adaptiveConfig } from '../support/fakes/adaptive-config';
import { jumpingClock } from '../support/fakes/jumping-clock';
import { createKeyedTable } from '../support/keyed-table';
import { createTable } from '../support/sharded-tables';

/** Tests the table of counts on dynalite with the AWS SDK, and the bundled function of IndexItemMover. */

const COUNTS = adaptiveConfig.adaptive!.tableName;
const INDEX_KEY = { S: `${adaptiveConfig.tableName}/${adaptiveConfig.indexName}` };
const GROWN: Record<string, AttributeValue> = {
  index: INDEX_KEY,
  value: { S: '=open' },
  write: { N: '4' },
  read: { N: '6' },
  version: { N: '3' },
  commit: { S: 'a' },
  changedBy: { S: 'a test' },
  changedAt: { S: '2026-01-01T00:00:00.000Z' },
  reason: { S: 'to see' },
};

const MOVER = {
  path: 'Test/Mover',
  name: 'resharder',
  arn: 'arn:aws:lambda:us-east-1:000000000000:function:resharder',
  runtime: 'nodejs24.x',
  handler: 'index.handler',
  environment: {
    [INDEX]: JSON.stringify(adaptiveConfig),
    [READ_UNITS_PER_SECOND]: '1000',
    [WRITE_UNITS_PER_SECOND]: '1000',
    [SEGMENTS_AT_ONCE]: '1',
  },
  timeoutSeconds: 60,
  memoryMb: 512,
  unset: {},
  layers: [],
  missingLayers: [],
};

const { dynamoDb, endpoint } = dynaliteForTests();
const documents = DynamoDBDocument.from(dynamoDb);
const store = new DynamoDbShardCountStore(dynamoDb, adaptiveConfig);

beforeAll(() => createTable(dynamoDb, adaptiveConfig, { orderId: 'S', byStatusShard: 'S', createdAt: 'S' }));

beforeEach(() => createKeyedTable(dynamoDb, COUNTS, 'index', 'value'));

afterEach(async () => {
  await dynamoDb.deleteTable({ TableName: COUNTS });
  await waitUntilTableNotExists({ client: dynamoDb, maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { TableName: COUNTS });
});

test('a reader reads the counts of 2,500 values in several pages, or only the counts of named values', async () => {
  // A response of DynamoDB has at most 1 MB. The long reasons make the counts larger, so that reading all counts needs
  // several pages.
  const grown = { ...GROWN, reason: { S: 'x'.repeat(500) } };
  const values = Array.from({ length: 2_500 }, (_, number) => `value ${String(number).padStart(5, '0')}`);
  for (let from = 0; from < values.length; from += 25) {
    const puts = values.slice(from, from + 25).map((value, place) => ({
      PutRequest: { Item: { ...grown, value: { S: `=${value}` }, read: { N: String(4 + ((from + place) % 60)) } } },
    }));
    await dynamoDb.batchWriteItem({ RequestItems: { [COUNTS]: puts } });
  }
  let queries = 0;
  const counting = {
    query: (input: Parameters<DynamoDB['query']>[0]) => {
      queries += 1;
      return dynamoDb.query(input);
    },
  };
  const counts = await new DynamoDbShardCountReader(counting as never, adaptiveConfig).readCounts();
  expect(queries).toBeGreaterThan(1);
  expect(counts.map(({ value }) => value)).toEqual(values);
  expect(counts[2_499]).toMatchObject({ write: 4, read: 4 + (2_499 % 60) });
  // This clock stands still, so a slow emulator causes no timeout.
  const patient: Clock = { now: () => 0, schedule: () => () => {}, sleep: async () => {} };
  const reader = new DynamoDbShardCountReader(counting as never, adaptiveConfig);
  const index = new AdaptiveIndex(adaptiveConfig, reader, { clock: patient, timeOfDay: () => 0 });
  queries = 0;
  const named = await index.forReading(undefined, ['value 01777', 'value 00001', 'rare']);
  expect(named.shards.byValue).toEqual({
    'value 01777': { write: 4, read: 4 + (1_777 % 60) },
    'value 00001': { write: 4, read: 5 },
  });
  expect(queries).toBe(1 + 3);
  const { shards } = await index.forReading();
  expect(Object.keys(shards.byValue!)).toHaveLength(2_500);
  expect(queries).toBe(1 + 3 + 3);
  expect(await store.readCount('value 01777')).toMatchObject({ read: 4 + (1_777 % 60) });
}, 120_000);

describe('the function of IndexItemMover on an index with adaptive counts', () => {
  const ORDERS = 150;
  const why = { value: 'open', reason: 'to see', changedBy: 'a test' };

  /** Runs the function in a new process, which has no cached counts. Returns the totals of the run. */
  const reshard = async (resumePoint?: string): Promise<{ moved: number; itemsScanned: number; refused: number }> => {
    const definition = { ...MOVER, codeDirectory: join(process.cwd(), 'dist/lambda/item-mover') };
    const environment = lambdaEnvironment(definition, {
      kinesis: endpoint(),
      dynamodb: endpoint(),
      lambda: endpoint(),
    });
    const functions = new FunctionPool(definition, environment);
    const event = { segment: 0, totalSegments: 1, request: {}, ...(resumePoint !== undefined && { resumePoint }) };
    try {
      const { payload, functionError } = await functions.invoke(JSON.stringify(event));
      if (functionError) throw new Error(payload);
      return JSON.parse(payload).totals;
    } finally {
      await functions.stop();
    }
  };

  const newIndex = () => new AdaptiveIndex(adaptiveConfig, store);
  const found = async () => (await fanOutCount(dynamoDb, newIndex(), { value: 'open' })).count;

  test('spreads the items of a value after its count was increased, drains shards after a decrease, and restarts the scan if the counts have changed', async () => {
    for (let number = 0; number < ORDERS; number++) {
      const order = { orderId: `o-${number}`, status: 'open', createdAt: String(number) };
      await documents.put(shardPut([newIndex().initial], order));
    }
    await increaseShardCount(adaptiveConfig, store, { ...why, to: 8 }, { clock: jumpingClock() });
    expect(await found()).toBe(ORDERS);
    expect((await reshard()).moved).toBeGreaterThan(ORDERS / 2);
    expect(await found()).toBe(ORDERS);

    const stop = new AbortController();
    const small: ItemReshardClient = {
      scan: (input) => dynamoDb.scan({ ...input, Limit: 50 }),
      getItem: (input) => dynamoDb.getItem(input),
      updateItem: (input) => dynamoDb.updateItem(input),
    };
    const early = { signal: stop.signal, onProgress: () => stop.abort() };
    const { resumePoint, itemsScanned } = await reshardItems(small, newIndex(), early);
    expect(itemsScanned).toBe(50);

    const { version } = await decreaseShardCount(adaptiveConfig, store, { ...why, to: 2 }, { clock: jumpingClock() });
    expect(await findStrays(dynamoDb, newIndex())).toMatchObject({ hidden: 0 });
    const drained = await reshard(resumePoint);
    expect(drained).toMatchObject({ refused: 0, itemsScanned: ORDERS });
    expect(drained.moved).toBeGreaterThan(ORDERS / 2);
    await endDrain(adaptiveConfig, store, { ...why, version });
    expect((await newIndex().forReading()).shards.byValue).toEqual({ open: { write: 2, read: 2 } });
    expect(await found()).toBe(ORDERS);
    expect(await findStrays(dynamoDb, newIndex())).toMatchObject({ hidden: 0, strays: { misplaced: 0 } });
  }, 120_000);
});

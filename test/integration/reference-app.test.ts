import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { type FanOutStats, shardAttributes } from '../../lib/core';
import { toAttributeValue } from '../../lib/core/sharded-index/query/sort-key-select';
import { allPages } from '../support/all-pages';
import {
  indexConfig,
  PRODUCER,
  QUERY,
  readStream,
  type StreamRecord,
  synthesizeReferenceApp,
} from '../support/reference-app';

/**
 * Tests the reference app in a local run. The functions are the real bundles with the real SDK, and use an emulated
 * stream and table.
 */

let stack: LocalStack;
const functionLog: string[] = [];

beforeAll(async () => {
  stack = await startLocal({ app: synthesizeReferenceApp(), onFunctionLog: (_, line) => functionLog.push(line) });
}, 60_000);

afterAll(() => stack?.stop());

interface Receipt {
  shardId: string;
  sequenceNumber: string;
  attempts: number;
}

async function produce(records: object[]): Promise<Receipt[]> {
  const response = (await stack.invoke(PRODUCER, { records })) as { records: Receipt[]; failedRecordCount: number };
  expect(response.failedRecordCount).toBe(0);
  return response.records;
}

/** The response to a batch of a queue, and the records of the batch that are in the Kinesis stream. */
async function deliver(Records: object[]): Promise<{ response: unknown; written: StreamRecord[] }> {
  const before = new Set((await readStream(stack)).map(identity));
  const response = await stack.invoke(PRODUCER, { Records });
  const written = (await readStream(stack)).filter((record) => !before.has(identity(record)));
  return { response, written };
}

function identity({ shardId, sequenceNumber }: StreamRecord | Receipt): string {
  return `${shardId} ${sequenceNumber}`;
}

/** The open shards with the ranges that the service lists. */
async function shardRanges(): Promise<{ shardId: string; first: bigint; last: bigint }[]> {
  const { Shards = [] } = await stack.clients.kinesis.listShards({ StreamName: stack.streams[0]!.name });
  return Shards.map(({ ShardId, HashKeyRange }) => ({
    shardId: ShardId!,
    first: BigInt(HashKeyRange!.StartingHashKey!),
    last: BigInt(HashKeyRange!.EndingHashKey!),
  }));
}

/** The data of each partition key, in the order of the stream. */
function dataByKey(records: readonly StreamRecord[]): Record<string, string[]> {
  const byKey: Record<string, string[]> = {};
  for (const { partitionKey, data } of records) {
    byKey[partitionKey] = [...(byKey[partitionKey] ?? []), data.toString()];
  }
  return byKey;
}

/** Matches the log of an error: its type, its code and the beginning of its message. */
function rejection(type: string, message: string) {
  const [typePattern, messagePattern] = [type, message].map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return expect.stringMatching(`${typePattern}: \\[[A-Z_]+\\] ${messagePattern}`);
}

describe('the producer function', () => {
  test('puts the partition keys 1 to 14 on the shards of their MD5 hashes', async () => {
    const keys = Array.from({ length: 14 }, (_, index) => String(index + 1));
    const receipts = await produce(keys.map((partitionKey) => ({ partitionKey, data: 'seed' })));
    const ranges = await shardRanges();
    const shardsByMd5 = keys.map((key) => {
      const hash = BigInt(`0x${createHash('md5').update(key).digest('hex')}`);
      return ranges.find(({ first, last }) => first <= hash && hash <= last)!.shardId;
    });
    expect(receipts.map(({ shardId }) => shardId)).toEqual(shardsByMd5);
    expect(new Set(shardsByMd5).size).toBe(4);

    const landed = (await readStream(stack)).filter(({ data }) => data.toString() === 'seed');
    expect(landed.map(({ partitionKey, shardId }) => [partitionKey, shardId]).sort()).toEqual(
      keys.map((key, index) => [key, shardsByMd5[index]]).sort(),
    );
  });

  test('puts a record with an explicit hash key on the shard of that hash key', async () => {
    const ranges = await shardRanges();
    const ends = ranges.flatMap(({ shardId, first, last }) => [
      { shardId, explicitHashKey: String(first) },
      { shardId, explicitHashKey: String(last) },
    ]);
    expect(ends.map(({ explicitHashKey }) => explicitHashKey)).toEqual(
      expect.arrayContaining(['0', '340282366920938463463374607431768211455']),
    );
    const receipts = await produce(
      ends.map(({ explicitHashKey }) => ({ partitionKey: 'one key', data: 'explicit', explicitHashKey })),
    );
    expect(receipts.map(({ shardId }) => shardId)).toEqual(ends.map(({ shardId }) => shardId));
  });

  test('returns the receipts in the order of the records', async () => {
    const inputs = Array.from({ length: 200 }, (_, index) => ({
      partitionKey: `key-${(index * 7) % 23}`,
      data: `receipt-${index}`,
    }));
    const receipts = await produce(inputs);
    const byIdentity = new Map((await readStream(stack)).map((record) => [identity(record), record]));
    const found = receipts.map((receipt) => byIdentity.get(identity(receipt)));
    expect(found.map((record) => ({ partitionKey: record?.partitionKey, data: record?.data.toString() }))).toEqual(
      inputs,
    );
  });

  test('rejects an event with a record that is too large, names the record, and writes no record', async () => {
    const before = await readStream(stack);
    const records = [
      { partitionKey: 'good', data: 'before' },
      { partitionKey: 'bad', data: 'x'.repeat(1024 * 1024) },
      { partitionKey: 'good', data: 'after' },
    ];
    await expect(stack.invoke(PRODUCER, { records })).rejects.toMatchObject({
      name: 'FunctionFailedError',
      functionPath: PRODUCER,
      errorType: 'RecordTooLargeError',
      message: rejection(
        `${PRODUCER} failed: RecordTooLargeError`,
        'records[1].data must be at most 1048576 bytes together with the partition key, got 1048579',
      ),
    });
    expect(await readStream(stack)).toEqual(before);
  });

  test('rejects an event without records', async () => {
    await expect(stack.invoke(PRODUCER, {})).rejects.toMatchObject({
      errorType: 'InvalidEventError',
      message: rejection('InvalidEventError', 'records must be an array of records, got undefined'),
    });
  });
});

/** A message of a FIFO queue, as Lambda passes it. */
function fifoMessage(messageId: string, body: unknown, group: string): object {
  return {
    messageId,
    receiptHandle: `handle-${messageId}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '1577836800000',
      SenderId: 'AIDAEXAMPLE',
      ApproximateFirstReceiveTimestamp: '1577836800001',
      ...{ MessageGroupId: group, SequenceNumber: '1', MessageDeduplicationId: messageId },
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:123456789012:queue.fifo',
    awsRegion: 'us-east-1',
  };
}

describe('the producer function behind a FIFO queue', () => {
  test('reports a malformed message and the later messages of its group as failed, and sends the messages of other groups', async () => {
    const { response, written } = await deliver([
      fifoMessage('a1', { data: 'a1' }, 'a'),
      fifoMessage('b1', { data: 'b1' }, 'b'),
      fifoMessage('a2', 'not JSON', 'a'),
      fifoMessage('b2', { data: 'b2' }, 'b'),
      fifoMessage('a3', { data: 'a3' }, 'a'),
      fifoMessage('b3', { data: 'b3' }, 'b'),
      fifoMessage('a4', { data: 'a4' }, 'a'),
    ]);
    expect(response).toEqual({ batchItemFailures: ['a2', 'a3', 'a4'].map((itemIdentifier) => ({ itemIdentifier })) });
    expect(dataByKey(written)).toEqual({ a: ['a1'], b: ['b1', 'b2', 'b3'] });
  });
});

interface QueryResponse {
  items: Record<string, unknown>[];
  cursor?: string;
  count: number;
  stats: FanOutStats;
}

async function query(event: object): Promise<QueryResponse> {
  return (await stack.invoke(QUERY, event)) as QueryResponse;
}

/** Follows the cursor to the end. */
async function pages(event: object): Promise<QueryResponse[]> {
  const all = await allPages((cursor) => query({ ...event, cursor }));
  for (const { count, items } of all) expect(count).toBe(items.length);
  return all;
}

/** Writes items as an application does, with the shard attribute of one index. */
async function store(
  indexName: string,
  items: readonly Record<string, string>[],
  more: Record<string, AttributeValue> = {},
): Promise<void> {
  const config = indexConfig(stack, indexName);
  for (const item of items) {
    const attributes = { ...item, ...shardAttributes(config, item) } as Record<string, string | number>;
    const Item = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, toAttributeValue(value)]));
    await stack.clients.dynamodb.putItem({ TableName: config.tableName, Item: { ...Item, ...more } });
  }
}

const ids = (items: readonly Record<string, unknown>[]) => items.map(({ jobId }) => jobId);

const time = (minutes: number) => new Date(Date.UTC(2020, 0, 1, 0, minutes)).toISOString();

describe('the query function', () => {
  /** The events of the document: one every 15 minutes. */
  const events = Array.from({ length: 100 }, (_, number) => ({
    jobId: `event-${number}`,
    createdAt: time(15 * number),
  }));
  const jobs = Array.from({ length: 60 }, (_, number) => ({
    jobId: `job-${number}`,
    status: 'succeeded',
    createdAt: time((number * 37) % 60),
    owner: number % 3 === 0 ? 'ann' : 'bob',
  }));
  const byAge = [...jobs].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));

  beforeAll(async () => {
    await store('byTime', events);
    await store('byStatus', jobs);
    await store('byStatus', [{ jobId: 'other', status: 'pending', createdAt: time(0) }]);
  });

  const firstTwelveHours = { index: 'byTime', sortKey: { between: [time(0), '2020-01-01T11:59:59.000Z'] } };

  test('of the 100 events in the document, returns the 48 events of the first twelve hours, in the order of time', async () => {
    const { items, count, cursor, stats } = await query(firstTwelveHours);
    expect(ids(items)).toEqual(ids(events.slice(0, 48)));
    expect({ count, cursor, shards: stats.shards }).toEqual({ count: 48, cursor: undefined, shards: 5 });
  });

  test('writes the cost of a page as metrics in one log line', async () => {
    functionLog.length = 0;
    const { stats } = await query({ index: 'byTime', limit: 5 });
    // The log line can arrive after the response.
    for (let wait = 0; wait < 100 && functionLog.length === 0; wait++) await sleep(20);
    const metrics = JSON.parse(functionLog[0] ?? '{}');
    const { name } = stack.functions.find(({ path }) => path === QUERY)!;
    expect(metrics).toMatchObject({
      FunctionName: name,
      Pages: 1,
      Requests: stats.requests,
      Waves: stats.waves,
      ItemsReturned: 5,
      ItemsRead: stats.itemsRead,
      ConsumedReadUnits: stats.consumedReadUnits,
      OverRead: stats.itemsRead / 5,
    });
    const [{ Namespace, Dimensions, Metrics }] = metrics._aws.CloudWatchMetrics;
    expect({ Namespace, Dimensions }).toEqual({ Namespace: 'EvenShards', Dimensions: [['FunctionName']] });
    for (const { Name } of Metrics) expect(metrics[Name]).toEqual(expect.any(Number));
  });

  test('counts the events of the first twelve hours', async () => {
    const { items, count } = await query({ ...firstTwelveHours, select: 'count' });
    expect({ items, count }).toEqual({ items: undefined, count: 48 });
  });

  test('fills each page although a filter hides items', async () => {
    const read = await pages({
      index: 'byStatus',
      value: 'succeeded',
      limit: 6,
      filterExpression: '#owner = :ann AND begins_with(#id, :job)',
      expressionAttributeNames: { '#owner': 'owner', '#id': 'jobId' },
      expressionAttributeValues: { ':ann': { S: 'ann' }, ':job': { S: 'job-' } },
    });
    expect(ids(read.flatMap(({ items }) => items))).toEqual(ids(byAge.filter(({ owner }) => owner === 'ann')));
    expect(read.map(({ items }) => items.length).slice(0, 3)).toEqual([6, 6, 6]);
  });

  describe('a cursor', () => {
    const request = { index: 'byTime', limit: 10 };

    test('another query rejects the cursor', async () => {
      const { cursor } = await query(request);
      await expect(query({ ...request, order: 'descending', cursor })).rejects.toMatchObject({
        errorType: 'InvalidCursorError',
        message: rejection(
          `${QUERY} failed: InvalidCursorError`,
          'cursor must be the unaltered cursor of a page of the same query, got "',
        ),
      });
    });

    test('a query with another page size and another projection continues after the cursor', async () => {
      const { cursor } = await query(request);
      const { items } = await query({ index: 'byTime', limit: 3, projection: ['jobId'], cursor });
      expect(items).toEqual(events.slice(10, 13).map(({ jobId }) => ({ jobId })));
    });
  });

  describe('the values of an item', () => {
    const DATA: Record<string, AttributeValue> = {
      integer: { N: '42' },
      fraction: { N: '-0.125' },
      lastSafe: { N: '9007199254740991' },
      beyondSafe: { N: '9007199254740993' },
      digits: { N: '3.1415926535897932384626433832795028841' },
      binary: { B: new Uint8Array([0, 255, 128]) },
      yes: { BOOL: true },
      nothing: { NULL: true },
      list: { L: [{ N: '1' }, { S: 'two' }, { M: { three: { N: '12345678901234567890' } } }] },
      strings: { SS: ['a', 'b'] },
      numbers: { NS: ['1', '9007199254740993'] },
      binaries: { BS: [new Uint8Array([1])] },
    };
    const request = { index: 'byStatus', value: 'typed' };

    beforeAll(() => store('byStatus', [{ jobId: 'typed', status: 'typed', createdAt: time(0) }], DATA));

    test('the function returns values as plain JSON without loss', async () => {
      const { items } = await query(request);
      expect(items).toEqual([
        {
          jobId: 'typed',
          status: 'typed',
          createdAt: time(0),
          [indexConfig(stack, 'byStatus').shardAttribute]: 'typed#0',
          integer: 42,
          fraction: -0.125,
          lastSafe: 9007199254740991,
          beyondSafe: '9007199254740993',
          digits: '3.1415926535897932384626433832795028841',
          binary: 'AP+A',
          yes: true,
          nothing: null,
          list: [1, 'two', { three: '12345678901234567890' }],
          strings: ['a', 'b'],
          numbers: expect.arrayContaining([1, '9007199254740993']),
          binaries: ['AQ=='],
        },
      ]);
    });

    test("with format: 'dynamodb', the function returns DynamoDB JSON, with binary values in base64", async () => {
      const { items } = await query({ ...request, format: 'dynamodb' });
      expect(items).toEqual([
        expect.objectContaining({
          ...DATA,
          jobId: { S: 'typed' },
          binary: { B: 'AP+A' },
          numbers: { NS: expect.arrayContaining(['1', '9007199254740993']) },
          binaries: { BS: ['AQ=='] },
        }),
      ]);
    });
  });

  describe('a page of large items', () => {
    /** Source: the AWS Lambda quotas, invocation payload. */
    const MAX_RESPONSE_BYTES = 6_291_556;

    /** Follows the cursor to the end, and measures the bytes of each response. */
    async function responses(event: object): Promise<{ bytes: number; page: QueryResponse }[]> {
      const { name } = stack.functions.find(({ path }) => path === QUERY)!;
      return allPages(async (cursor) => {
        const { Payload, FunctionError } = await stack.clients.lambda.invoke({
          FunctionName: name,
          Payload: JSON.stringify({ ...event, cursor }),
        });
        const page: QueryResponse = JSON.parse(Buffer.from(Payload!).toString());
        expect({ FunctionError, page: FunctionError && page }).toEqual({});
        return { bytes: Payload!.byteLength, page, cursor: page.cursor };
      });
    }

    const ofStatus = (status: string, count: number) =>
      Array.from({ length: count }, (_, number) => ({
        jobId: `${status}-${number}`,
        status,
        createdAt: time((number * 5) % count),
      }));
    const plainText = ofStatus('failed', 17);
    const escapedText = ofStatus('ignored', 3);

    beforeAll(async () => {
      await store('byStatus', plainText, { text: { S: 'x'.repeat(390_000) } });
      await store('byStatus', escapedText, { text: { S: '\u0001'.repeat(390_000) } });
    });

    test.each([
      { what: 'text', items: plainText, pageSizes: [15, 2] },
      { what: 'characters that JSON escapes', items: escapedText, pageSizes: [2, 1] },
    ])('of $what ends before the response limit, and its cursor continues with the remaining items', async (given) => {
      const { items, pageSizes } = given;
      const read = await responses({ index: 'byStatus', value: items[0]!.status });
      expect(read.map(({ page }) => page.count)).toEqual(pageSizes);
      for (const { bytes } of read) expect(bytes).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
      const inOrder = [...items].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
      expect(ids(read.flatMap(({ page }) => page.items))).toEqual(ids(inOrder));
    });

    test('contains all items if the projection leaves out the large attribute', async () => {
      const { count, cursor } = await query({ index: 'byStatus', value: 'failed', projection: ['jobId'] });
      expect({ count, cursor }).toEqual({ count: 17, cursor: undefined });
    });
  });
});

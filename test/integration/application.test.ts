import { rmSync } from 'node:fs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import {
  fanOutQuery,
  OrderedProducer,
  type PutRecordsClient,
  type QueryClient,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../lib/core';
import { indexConfig, readStream, synthesizeReferenceApp } from '../support/reference-app';

/** Tests an application that uses `cdk-even-shards/core` with its own clients. */

let app: string;
let stack: LocalStack;

/** The compiler checks that the clients of the SDK satisfy the interfaces of the core without a cast. */
let dynamoDb: QueryClient & DynamoDB;
let kinesis: PutRecordsClient & Kinesis;

beforeAll(async () => {
  app = synthesizeReferenceApp();
  stack = await startLocal({ app });
  const common = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  dynamoDb = new DynamoDB({ ...common, endpoint: stack.endpoints.dynamodb });
  kinesis = new Kinesis({
    ...common,
    endpoint: stack.endpoints.kinesis,
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });
}, 60_000);

afterAll(async () => {
  dynamoDb?.destroy();
  kinesis?.destroy();
  await stack?.stop();
  rmSync(app, { recursive: true, force: true });
});

describe('fanOutQuery', () => {
  const JOBS = Array.from({ length: 60 }, (_, number) => ({
    jobId: `job-${number}`,
    status: number % 3 === 0 ? 'failed' : 'pending',
    createdAt: `2026-01-01T00:${String(number).padStart(2, '0')}`,
  }));

  test('reads the items of a value in order, page by page, after the application wrote them with shardAttributes', async () => {
    const [byStatus, byTime] = ['byStatus', 'byTime'].map((name) => indexConfig(stack, name)) as [
      ShardedIndexConfig,
      ShardedIndexConfig,
    ];
    for (const job of JOBS) {
      const item = { ...job, ...shardAttributes(byStatus, job), ...shardAttributes(byTime, job) };
      const Item = Object.fromEntries(
        Object.entries(item).map(([name, value]) => [
          name,
          typeof value === 'number' ? { N: String(value) } : { S: String(value) },
        ]),
      );
      await dynamoDb.putItem({ TableName: byStatus.tableName, Item });
    }
    const found: (string | undefined)[] = [];
    let cursor: string | undefined;
    do {
      const page = await fanOutQuery(dynamoDb, byStatus, { value: 'failed', limit: 7, cursor });
      found.push(...page.items.map(({ jobId }) => (jobId as { S: string }).S));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(JOBS.filter(({ status }) => status === 'failed').map(({ jobId }) => jobId));
    const { items } = await fanOutQuery(dynamoDb, byTime, { limit: 100 });
    expect(items.map(({ jobId }) => (jobId as { S: string }).S)).toEqual(JOBS.map(({ jobId }) => jobId));
  });
});

describe('OrderedProducer', () => {
  test('writes 2,000 records of 50 keys, each key in order, each record once', async () => {
    const records = Array.from({ length: 2_000 }, (_, number) => ({
      partitionKey: `key-${((number * number) % 53) % 50}`,
      data: Buffer.from(String(number)),
    }));
    const producer = new OrderedProducer(kinesis, { streamName: stack.streams[0]!.name });
    const summary = await producer.putAll(records);
    await producer.close();
    expect(summary).toEqual({ delivered: 2_000, rejected: 0 });

    const landed = await readStream(stack);
    expect(landed).toHaveLength(2_000);
    for (const key of new Set(records.map(({ partitionKey }) => partitionKey))) {
      const ofKey = (all: readonly { partitionKey: string; data: Buffer }[]) =>
        all.filter(({ partitionKey }) => partitionKey === key).map(({ data }) => data.toString());
      expect(ofKey(landed)).toEqual(ofKey(records));
    }
  }, 60_000);
});

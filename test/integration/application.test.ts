import { rmSync } from 'node:fs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import fc from 'fast-check';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import {
  type DynamoDbItem,
  type FanOutRequest,
  fanOutQuery,
  OrderedProducer,
  type PutRecordsClient,
  type QueryClient,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../lib/core';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { indexConfig, readStream, synthesizeReferenceApp } from '../support/reference-app';

/** What an application does with `cdk-even-shards/core` and clients of its own. */

let app: string;
let stack: LocalStack;

/** The compiler's part of the test: the clients are what the core asks for, without a cast. */
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

describe('fanOutQuery over a table written with shardAttributes', () => {
  const ITEMS = 150;
  /** Few, so that ties are the rule. Nothing from U+10000: dynalite stores it by UTF-8 and compares it by UTF-16. */
  const TIMES = ['2020', '2020-01', '2020-01-01', '2020-02', '2021', '2021-é', '2021-\uff5e'];
  const STATUSES = ['failed', 'pending', 'unknown'];

  interface Job {
    jobId: string;
    status: string;
    createdAt: string;
    owner: string;
    shard: { byStatus: number; byTime: number };
    /** Where the service keeps the item among those of one shard. */
    rank: { byStatus: number; byTime: number };
  }
  type IndexName = keyof Job['rank'];

  const jobs = new Map<string, Job>();
  const configs = {} as Record<IndexName, ShardedIndexConfig>;

  beforeAll(async () => {
    configs.byStatus = indexConfig(stack, 'byStatus');
    configs.byTime = indexConfig(stack, 'byTime');
    for (let number = 0; number < ITEMS; number++) {
      const item = {
        jobId: `job-${number}`,
        status: STATUSES[number % STATUSES.length]!,
        createdAt: TIMES[(number * 5) % TIMES.length]!,
        owner: number % 4 === 0 ? 'ann' : 'bob',
      };
      const shards = { ...shardAttributes(configs.byStatus, item), ...shardAttributes(configs.byTime, item) };
      await dynamoDb.putItem({
        TableName: configs.byStatus.tableName,
        Item: Object.fromEntries(
          Object.entries({ ...item, ...shards }).map(([name, value]) => [
            name,
            typeof value === 'number' ? { N: String(value) } : { S: String(value) },
          ]),
        ),
      });
      const shard = {
        byStatus: Number(String(shards[configs.byStatus.shardAttribute]).split('#')[1]),
        byTime: Number(shards[configs.byTime.shardAttribute]),
      };
      jobs.set(item.jobId, { ...item, shard, rank: { byStatus: -1, byTime: -1 } });
    }
    for (const indexName of ['byStatus', 'byTime'] as const) await rankAsTheServiceDoes(indexName);
  }, 60_000);

  /** How the service orders equal sort keys of a shard is its own affair: read with nothing but the service's own query. */
  async function rankAsTheServiceDoes(indexName: IndexName): Promise<void> {
    const { tableName: TableName, shardAttribute } = configs[indexName];
    const { Items = [] } = await dynamoDb.scan({ TableName, ProjectionExpression: shardAttribute });
    const partitions = new Map(Items.map((item) => [JSON.stringify(item[shardAttribute]), item[shardAttribute]!]));
    for (const partition of partitions.values()) {
      const answer = await dynamoDb.query({
        TableName,
        IndexName: indexName,
        KeyConditionExpression: '#shard = :shard',
        ExpressionAttributeNames: { '#shard': shardAttribute },
        ExpressionAttributeValues: { ':shard': partition },
      });
      answer.Items!.forEach(({ jobId }, rank) => {
        jobs.get(jobId!.S!)!.rank[indexName] = rank;
      });
    }
  }

  test('every item is in its shard of both indexes', () => {
    for (const { rank } of jobs.values()) {
      expect(rank.byStatus).toBeGreaterThanOrEqual(0);
      expect(rank.byTime).toBeGreaterThanOrEqual(0);
    }
    expect(new Set([...jobs.values()].map(({ shard }) => shard.byTime)).size).toBe(5);
  });

  const kind = fc.constantFrom('eq', 'lt', 'lte', 'gt', 'gte', 'between', 'beginsWith');
  const time = fc.integer({ min: 0, max: TIMES.length - 1 });
  const scenario = fc.record({
    indexName: fc.constantFrom<IndexName>('byStatus', 'byTime'),
    value: fc.constantFrom(...STATUSES, 'nobody has it'),
    order: fc.constantFrom<FanOutRequest['order']>('ascending', 'descending', 'unordered', undefined),
    limit: fc.option(fc.oneof(fc.integer({ min: 3, max: 20 }), fc.integer({ min: 20, max: 200 })), { nil: undefined }),
    condition: fc.option(fc.record({ kind, bounds: fc.tuple(time, time) }), { nil: undefined }),
    filtered: fc.boolean(),
    projected: fc.boolean(),
  });
  type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

  function requestOf({ indexName, value, order, limit, condition, filtered, projected }: Scenario): FanOutRequest {
    return {
      ...(indexName === 'byStatus' && { value }),
      ...(order && { order }),
      ...(limit && { limit }),
      ...(condition && { sortKey: sortKeyOf(condition) }),
      ...(filtered && {
        filterExpression: '#owner = :ann',
        expressionAttributeNames: { '#owner': 'owner' },
        expressionAttributeValues: { ':ann': { S: 'ann' } },
      }),
      ...(projected && { projection: ['jobId'] }),
    };
  }

  function sortKeyOf({ kind, bounds: [a, b] }: NonNullable<Scenario['condition']>): FanOutRequest['sortKey'] {
    const operand = kind === 'between' ? [TIMES[Math.min(a, b)], TIMES[Math.max(a, b)]] : TIMES[a];
    return { [kind]: operand } as unknown as FanOutRequest['sortKey'];
  }

  function holds(createdAt: string, { kind, bounds: [a, b] }: NonNullable<Scenario['condition']>): boolean {
    const [at, bound] = [TIMES.indexOf(createdAt), a];
    switch (kind) {
      case 'eq':
        return at === bound;
      case 'lt':
        return at < bound;
      case 'lte':
        return at <= bound;
      case 'gt':
        return at > bound;
      case 'gte':
        return at >= bound;
      case 'between':
        return at >= Math.min(a, b) && at <= Math.max(a, b);
      default:
        return createdAt.startsWith(TIMES[a]!);
    }
  }

  /** A plain filter and sort over what was written. KEYS_ONLY leaves byTime without an owner to filter by. */
  function expectedIds({ indexName, value, order = 'ascending', condition, filtered }: Scenario): string[] {
    const direction = order === 'descending' ? -1 : 1;
    const byTime = (a: Job, b: Job) => TIMES.indexOf(a.createdAt) - TIMES.indexOf(b.createdAt);
    return [...jobs.values()]
      .filter(({ status }) => indexName === 'byTime' || status === value)
      .filter(({ createdAt }) => condition === undefined || holds(createdAt, condition))
      .filter(({ owner }) => !filtered || (indexName === 'byStatus' && owner === 'ann'))
      .sort(
        (a, b) =>
          direction *
          ((order === 'unordered' ? 0 : byTime(a, b)) ||
            a.shard[indexName] - b.shard[indexName] ||
            a.rank[indexName] - b.rank[indexName]),
      )
      .map(({ jobId }) => jobId);
  }

  async function check(given: Scenario): Promise<void> {
    const request = requestOf(given);
    const expected = expectedIds(given);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await fanOutQuery(dynamoDb, configs[given.indexName], { ...request, cursor });
      if (page.cursor !== undefined) expect(page.items).toHaveLength(given.limit!);
      for (const item of page.items) {
        if (given.projected) expect(Object.keys(item)).toEqual(['jobId']);
        found.push((item as DynamoDbItem & { jobId: { S: string } }).jobId.S);
      }
      cursor = page.cursor;
    } while (cursor !== undefined && found.length <= expected.length);
    expect(found).toEqual(expected);
  }

  test(
    'any request, paged to its end, is answered as filtering and sorting the items answers it',
    async () => {
      await fc.assert(fc.asyncProperty(scenario, check), { numRuns: randomRuns(60) });
    },
    randomRunsTimeout(240_000),
  );
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

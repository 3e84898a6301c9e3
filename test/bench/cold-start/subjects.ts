import { keyspacesConfig } from '../../support/keyspaces-config';

/** A measured function, its first event, and the clients that the function loads. */
export interface Subject {
  /** The folder in `lambda`, unless the subject has its own program. */
  readonly name: string;
  /** The source code of a function that uses the library. */
  readonly program?: string;
  /** The request whose response ends the measurement, for a function that runs until its timeout. @default the response of the function */
  readonly endsWith?: string;
  /** The SQL that prepares the database for each invocation. */
  readonly before?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly event: object;
  /** The source code of the baseline: only the clients, with the same first calls. */
  readonly clients: string;
}

const KINESIS = `
  import { Kinesis } from '@aws-sdk/client-kinesis';
  import { NodeHttpHandler } from '@smithy/node-http-handler';
  const kinesis = new Kinesis({ maxAttempts: 1, requestHandler: new NodeHttpHandler() });
`;
const DYNAMODB = `
  import { DynamoDB } from '@aws-sdk/client-dynamodb';
  const dynamoDb = new DynamoDB({ maxAttempts: 1 });
`;
const SHARDS = 3;

const CONSUMER_EVENT = {
  Records: [
    {
      eventSource: 'aws:kinesis',
      eventID: 'shardId-000000000000:1',
      kinesis: { partitionKey: 'account-1', sequenceNumber: '1', data: Buffer.from('created').toString('base64') },
    },
  ],
};

/** The columns of `BLOGS` in the form that the stand-in for Amazon Keyspaces needs. */
export const BLOGS_TYPES = { author: 'text', shard: 'int', number: 'bigint', body: 'text' } as const;

export const BLOGS = keyspacesConfig({
  keyspaceName: 'k',
  partitionKey: [{ name: 'author', type: 'text' }],
  firstShard: 0,
  clusteringColumns: [{ name: 'number', type: 'bigint', order: 'ASC' }],
  shards: { default: { write: SHARDS, read: SHARDS } },
});

const INDEX = {
  tableName: 'Jobs',
  indexName: 'byStatus',
  tableKey: ['jobId'],
  keyLayout: 'single-attribute',
  valueAttribute: 'status',
  shardAttribute: 'statusShard',
  sortKeyAttributes: ['at'],
  shards: { default: { write: SHARDS, read: SHARDS } },
  strategy: 'calculated',
};

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'producer',
    environment: { EVEN_SHARDS_STREAM_NAME: 'Events' },
    event: { records: [{ partitionKey: 'account-1', data: 'created' }] },
    clients: `${KINESIS}
      import { Lambda } from '@aws-sdk/client-lambda';
      export const lambda = new Lambda({});
      export const handler = () => kinesis.putRecords({
        StreamName: 'Events', Records: [{ PartitionKey: 'account-1', Data: Buffer.from('created') }],
      });`,
  },
  {
    name: 'query-fanout',
    environment: { EVEN_SHARDS_INDEXES: JSON.stringify({ byStatus: INDEX }) },
    event: { index: 'byStatus', value: 'failed', limit: 10 },
    clients: `${DYNAMODB}
      export const handler = () => Promise.all([0, 1, 2].map((shard) => dynamoDb.query({
        TableName: 'Jobs', IndexName: 'byStatus', KeyConditionExpression: '#s = :s',
        ExpressionAttributeNames: { '#s': 'statusShard' }, ExpressionAttributeValues: { ':s': { S: 'failed#' + shard } },
      })));`,
  },
  {
    name: 'keyspaces-query-fanout',
    environment: { EVEN_SHARDS_TABLES: JSON.stringify({ blogs: BLOGS }) },
    event: { table: 'blogs', value: { author: 'a' }, limit: 10 },
    clients: `
      import { Client, policies } from 'cassandra-driver';
      import { fromEnv } from '@aws-sdk/credential-provider-env';
      export const credentials = fromEnv();
      const client = new Client({
        contactPoints: [process.env.EVEN_SHARDS_CASSANDRA],
        policies: { loadBalancing: new policies.loadBalancing.RoundRobinPolicy() },
      });
      export const handler = () => Promise.all([0, 1, 2].map((shard) => client.execute(
        'SELECT "author", "shard", "number", "body" FROM "k"."blogs" WHERE "author" = ? AND "shard" = ?', ['a', shard], { prepare: true, fetchSize: 10 },
      )));`,
  },
  {
    name: 'a consumer',
    environment: { EVEN_SHARDS_PARKING_TABLE_NAME: 'Parked', EVEN_SHARDS_CONSUMER_NAME: 'orders' },
    event: CONSUMER_EVENT,
    program: `${DYNAMODB}
      import { DynamoDbParkingStore, OrderedConsumer } from './lib/core/consumer';
      const apply = async () => {};
      export const { handler } = new OrderedConsumer(apply, { parking: DynamoDbParkingStore.fromEnvironment(dynamoDb) });`,
    clients: `${DYNAMODB}
      export const handler = () => dynamoDb.query({
        TableName: 'Parked', KeyConditionExpression: '#c = :c',
        ExpressionAttributeNames: { '#c': 'consumer' }, ExpressionAttributeValues: { ':c': { S: 'orders' } },
      });`,
  },
  {
    name: 'hash-key-registry',
    environment: { EVEN_SHARDS_STREAM_NAME: 'Events', EVEN_SHARDS_REGISTRY_TABLE_NAME: 'Owners' },
    event: { action: 'get', owners: ['account-1'] },
    clients: `${KINESIS}${DYNAMODB}
      export const handler = () => dynamoDb.getItem({ TableName: 'Owners', Key: { pk: { S: 'account-1' } } });`,
  },
  {
    name: 'outbox-relay',
    endsWith: 'Kinesis_20131202.PutRecords',
    before: "SELECT outbox.put('account-1', 'created')",
    environment: { EVEN_SHARDS_STREAM_NAME: 'Events', EVEN_SHARDS_DATABASE_SECRET_ARN: 'arn' },
    event: {},
    clients: `${KINESIS}
      import { SecretsManager } from '@aws-sdk/client-secrets-manager';
      import { Pool } from 'pg';
      const secrets = new SecretsManager({});
      export async function handler() {
        const { EVEN_SHARDS_DATABASE_HOST: host, EVEN_SHARDS_DATABASE_PORT: port, EVEN_SHARDS_DATABASE_NAME: database } = process.env;
        const { SecretString } = await secrets.getSecretValue({ SecretId: 'arn' });
        const { username: user, password } = JSON.parse(SecretString);
        const pool = new Pool({ host, port: Number(port), database, user, password });
        await pool.query('SELECT 1');
        await kinesis.putRecords({
          StreamName: 'Events', Records: [{ PartitionKey: 'account-1', Data: Buffer.from('created') }],
        });
      }`,
  },
  {
    name: 'item-mover',
    environment: {
      EVEN_SHARDS_INDEX: JSON.stringify(INDEX),
      EVEN_SHARDS_READ_UNITS_PER_SECOND: '100',
      EVEN_SHARDS_WRITE_UNITS_PER_SECOND: '100',
      EVEN_SHARDS_SEGMENTS_AT_ONCE: '1',
    },
    event: { segment: 0, totalSegments: 1, request: { mode: 'audit' } },
    clients: `${DYNAMODB}
      export const handler = () => dynamoDb.scan({ TableName: 'Jobs', Segment: 0, TotalSegments: 1 });`,
  },
  {
    name: 'stream-reconciler',
    environment: { EVEN_SHARDS_STREAM_NAME: 'Events' },
    event: {},
    clients: `${KINESIS}
      export async function handler() {
        await kinesis.describeStreamSummary({ StreamName: 'Events' });
        await kinesis.listShards({ StreamName: 'Events' });
      }`,
  },
  {
    name: 'stream-resharder',
    environment: {},
    event: {
      RequestType: 'Create',
      StackId: 'arn:aws:cloudformation:us-east-1:123456789012:stack/Shop/1',
      ResourceProperties: { StreamName: 'Events', ShardCount: '1' },
    },
    clients: `${KINESIS}
      import { CloudFormation } from '@aws-sdk/client-cloudformation';
      export const cloudFormation = new CloudFormation({});
      export async function handler() {
        await kinesis.describeStreamSummary({ StreamName: 'Events' });
        await kinesis.listShards({ StreamName: 'Events' });
        await kinesis.listTagsForStream({ StreamName: 'Events' });
      }`,
  },
  {
    name: 'stream-scaler',
    environment: {
      EVEN_SHARDS_STREAM_NAME: 'Events',
      EVEN_SHARDS_MIN_SHARDS: '1',
      EVEN_SHARDS_MAX_SHARDS: '8',
      EVEN_SHARDS_SURGE_ALARM: 'surge',
      EVEN_SHARDS_SCALE_OUT_ALARM: 'out',
      EVEN_SHARDS_SCALE_IN_ALARM: 'in',
    },
    event: {},
    clients: `${KINESIS}
      import { CloudWatch } from '@aws-sdk/client-cloudwatch';
      const cloudWatch = new CloudWatch({});
      export async function handler() {
        await kinesis.describeStreamSummary({ StreamName: 'Events' });
        await kinesis.listTagsForStream({ StreamName: 'Events' });
        await cloudWatch.describeAlarms({ AlarmNames: ['surge', 'out', 'in'] });
      }`,
  },
  {
    name: 'adaptive-shard-count-controller',
    environment: {
      EVEN_SHARDS_INDEX: JSON.stringify({ ...INDEX, adaptive: { tableName: 'Counts', maximum: 64 } }),
    },
    event: {},
    clients: `${DYNAMODB}
      import { CloudWatch } from '@aws-sdk/client-cloudwatch';
      export const cloudWatch = new CloudWatch({});
      export const handler = () => dynamoDb.query({
        TableName: 'Counts', KeyConditionExpression: '#i = :i',
        ExpressionAttributeNames: { '#i': 'index' }, ExpressionAttributeValues: { ':i': { S: 'Jobs' } },
      });`,
  },
];

const SHARD = {
  ShardId: 'shardId-000000000000',
  HashKeyRange: { StartingHashKey: '0', EndingHashKey: String(2n ** 128n - 1n) },
  SequenceNumberRange: { StartingSequenceNumber: '1' },
};

const ANSWERS: Readonly<Record<string, object>> = {
  PutRecords: { FailedRecordCount: 0, Records: [{ ShardId: SHARD.ShardId, SequenceNumber: '1' }] },
  ListShards: { Shards: [SHARD] },
  DescribeStreamSummary: {
    StreamDescriptionSummary: {
      StreamName: 'Events',
      StreamARN: 'arn:aws:kinesis:us-east-1:123456789012:stream/Events',
      StreamStatus: 'ACTIVE',
      StreamModeDetails: { StreamMode: 'PROVISIONED' },
      OpenShardCount: 1,
    },
  },
  DescribeAlarms: { MetricAlarms: [] },
  AddTagsToStream: {},
  ListTagsForStream: { Tags: [], HasMoreTags: false },
  Query: { Items: [], Count: 0, ScannedCount: 0 },
  Scan: { Items: [], Count: 0, ScannedCount: 0 },
  GetItem: {},
};

/**
 * The responses of AWS to the first calls of each function.
 *
 * @param secret the database user of the outbox relay
 */
export function serviceAnswer(target: string, secret: object): { contentType: string; body: string } {
  const [service, operation = ''] = target.split('.');
  const version = service?.startsWith('DynamoDB') ? '1.0' : '1.1';
  const answer = operation === 'GetSecretValue' ? { SecretString: JSON.stringify(secret) } : ANSWERS[operation];
  if (answer === undefined) throw new Error(`no response for ${target}`);
  return { contentType: `application/x-amz-json-${version}`, body: JSON.stringify(answer) };
}

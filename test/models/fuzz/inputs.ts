// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders belong to Fn::Sub
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readCloudAssembly } from '../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../bin/local/assembly/deployment-plan';
import { plan } from '../../../bin/plan';
import { readSample } from '../../../bin/samples/traffic-sample';
import { queryPage } from '../../../lambda/keyspaces-query-fanout/query-page';
import {
  BalancedKeyAllocator,
  deaggregate,
  FanOutHistory,
  type FanOutRequest,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  planIndex,
  planStream,
  type QueryClient,
  type ShardedIndexConfig,
  shardAttributes,
  shardUpdate,
} from '../../../lib/core';
import { AggregateBuilder } from '../../../lib/core/producer/aggregate-builder';
import { FakeCassandra } from '../../support/fakes/fake-cassandra';
import { FakeIndex } from '../../support/fakes/fake-index';
import { indexConfig } from '../../support/index-config';
import { keyspacesConfig } from '../../support/keyspaces-config';
import {
  CANARY,
  hostileValue,
  jsonText,
  mutated,
  mutatedBytes,
  mutatedJson,
  mutatedText,
} from '../../support/random-json';
import type { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';
import { typed } from './oracle';

const INDEX = indexConfig({
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  shards: { default: { write: 2, read: 3 }, byValue: { open: { write: 4, read: 4 } } },
});

const BLOGS = keyspacesConfig({
  keyspaceName: 'k',
  partitionKey: [{ name: 'author', type: 'blob' }],
  firstShard: 0,
  clusteringColumns: [
    { name: 'number', type: 'decimal', order: 'ASC' },
    { name: 'digest', type: 'blob', order: 'ASC' },
  ],
  shards: { default: { write: 2, read: 2 } },
});

/** The targets that parse inputs of callers, files and other programs. They run in this process. */
export const INPUT_TARGETS: readonly FuzzTarget[] = [
  { name: 'aggregates', play: aggregates },
  { name: 'requests and cursors', play: requests },
  { name: 'configurations and items', play: configurations },
  { name: 'requests of Amazon Keyspaces', play: keyspaces },
  { name: 'plans', play: plans },
  { name: 'cloud assemblies', play: assemblies },
  { name: 'files of the command line', play: files },
  { name: 'flags of the command line', play: flags },
];

async function aggregates({ dice }: FuzzCase): Promise<void> {
  const builder = new AggregateBuilder({ maxBytes: 10_000 });
  for (let number = 0; number <= dice.below(4); number++) {
    builder.tryAdd({ partitionKey: 'k', data: Buffer.from(CANARY.repeat(dice.below(5) + number)) });
  }
  const { partitionKey, data } = builder.build();
  const record = { partitionKey, data: mutatedBytes(data, dice) };
  const onCorrupt = dice.pick(['throw', 'raw'] as const);
  const records = await typed(() => deaggregate(record, { onCorrupt }));
  // Only the checksum identifies an altered aggregate. If the checksum is wrong, `deaggregate` returns the Kinesis record as one
  // record.
  if (records?.some(({ data: inner }) => inner.byteLength > record.data.byteLength))
    throw new Error('deaggregate returned more bytes than the record has');
}

async function requests({ dice }: FuzzCase): Promise<void> {
  const jobs = indexOfJobs();
  const refuse = ({ message }: Error) => {
    throw Object.assign(new Error(message), { code: 'REFUSED_BY_THE_SERVICE' });
  };
  const index: QueryClient = { query: (input) => jobs.query(input).catch(refuse) };
  const request: FanOutRequest = {
    value: 'open',
    limit: 1 + dice.below(5),
    sortKey: { gte: 1 },
    filterExpression: '#a = :a',
    expressionAttributeNames: { '#a': 'status' },
    expressionAttributeValues: { ':a': { S: 'open' } },
  };
  const first = await fanOutQuery(index, INDEX, request);
  const cursor = dice.chance(0.5) ? first.cursor : mutatedText(first.cursor ?? 'none', dice);
  const next = (dice.chance(0.5) ? mutated({ ...request, cursor }, dice) : { ...request, cursor }) as FanOutRequest;
  const options = { attempts: 1 };
  await typed(() => fanOutQuery(index, INDEX, next, options));
  await typed(() => fanOutCount(index, INDEX, withoutOrder(next), options));
  await typed(async () => {
    const { cursor: resumeAt, ...rest } = withoutOrder(next);
    let left = 20;
    for await (const _ of fanOutItems(index, INDEX, { ...rest, resumeAt }, options)) if (--left === 0) break;
  });
}

function withoutOrder(request: FanOutRequest): FanOutRequest {
  const { order: _, limit: __, projection: ___, ...rest } = Object(request) as FanOutRequest;
  return rest;
}

async function configurations({ dice }: FuzzCase): Promise<void> {
  const config = mutated(INDEX, dice) as ShardedIndexConfig;
  const item = { id: 'i1', status: 'open', createdAt: 1, note: CANARY };
  await typed(() => shardAttributes(config, item));
  await typed(() => shardAttributes(INDEX, mutated(item, dice) as typeof item));
  await typed(() => shardUpdate([config], { id: 'i1' }, { set: { status: 'failed' } }));
  await typed(() =>
    fanOutQuery({ query: async () => ({ Items: [], Count: 0, ScannedCount: 0 }) }, config, { value: 'open' }),
  );
}

async function keyspaces({ dice }: FuzzCase): Promise<void> {
  const client = new FakeCassandra({
    partitionKey: ['author', 'shard'],
    clusteringColumns: [
      { name: 'number', order: 'ASC', compare: (a, b) => Number(a) - Number(b) },
      {
        name: 'digest',
        order: 'ASC',
        compare: (a, b) => Buffer.compare(Buffer.from(a, 'base64'), Buffer.from(b, 'base64')),
      },
    ],
  });
  const event = {
    table: 'blogs',
    value: { author: Buffer.from(CANARY).toString('base64') },
    where: { number: { gte: dice.pick(['1', '-1e3', 5]), lt: '1e9' } },
    limit: 5,
    order: 'descending',
  };
  const environment = { client, tables: { blogs: BLOGS }, history: new FanOutHistory() };
  await typed(() => queryPage(environment, mutated(event, dice) as never, { getRemainingTimeInMillis: () => 5_000 }));
}

async function plans({ dice }: FuzzCase): Promise<void> {
  const stream = {
    recordsPerSecond: 2_000,
    bytesPerSecond: 1e6,
    keys: 500,
    consumers: 2,
    probability: 0.05,
    headRoom: 0.2,
  };
  await typed(() => planStream(mutated(stream, dice) as typeof stream));
  const index = {
    writesPerSecond: 4_000,
    itemKb: 2,
    shares: { open: 3, failed: 1 },
    pagesPerSecond: 5,
    utilization: 0.5,
  };
  await typed(() => planIndex(mutated(index, dice) as typeof index));
  await typed(() =>
    new BalancedKeyAllocator({ allocated: mutated([], dice) as [] }).allocate(hostileValue(dice) as number),
  );
}

const TEMPLATE = {
  Parameters: { Count: { Type: 'Number', Default: 2 }, Names: { Type: 'CommaDelimitedList', Default: 'a,b' } },
  Mappings: { Sizes: { 'us-east-1': { small: '1' } } },
  Conditions: {
    Always: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
    Both: { 'Fn::And': [{ Condition: 'Always' }, { 'Fn::Not': [{ Condition: 'Never' }] }] },
    Never: { 'Fn::Or': [{ 'Fn::Equals': ['a', 'b'] }, { 'Fn::Equals': ['a', 'c'] }] },
  },
  Resources: {
    Stream: {
      Type: 'AWS::Kinesis::Stream',
      Condition: 'Both',
      Properties: {
        Name: { 'Fn::Join': ['-', ['events', { 'Fn::Select': [0, { Ref: 'Names' }] }]] },
        ShardCount: { 'Fn::If': ['Always', { Ref: 'Count' }, { 'Fn::FindInMap': ['Sizes', 'us-east-1', 'small'] }] },
      },
    },
    Table: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        GlobalSecondaryIndexes: [{ IndexName: 'i', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] }],
        Replicas: [{ Region: 'us-east-1' }],
      },
    },
    Function: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        Timeout: 30,
        Code: { S3Bucket: 'b', S3Key: 'code.zip' },
        Environment: {
          Variables: {
            ARN: { 'Fn::GetAtt': ['Stream', 'Arn'] },
            TEXT: { 'Fn::Sub': ['${Stream} ${x} ${AWS::Region}', { x: { 'Fn::Split': [',', 'a,b'] } }] },
            OTHER: { 'Fn::ImportValue': 'name' },
          },
        },
      },
    },
  },
  Outputs: { Name: { Value: { Ref: 'Stream' }, Export: { Name: 'name' } } },
};

const MANIFEST = {
  artifacts: {
    Assets: { type: 'cdk:asset-manifest', properties: { file: 'It.assets.json' } },
    It: {
      type: 'aws:cloudformation:stack',
      properties: { templateFile: 'It.template.json', stackName: 'It' },
      dependencies: ['Assets'],
      metadata: { '/It/Stream/Resource': [{ type: 'aws:cdk:logicalId', data: 'Stream' }] },
    },
    Stage: { type: 'cdk:cloud-assembly', properties: { directoryName: 'stage' }, dependencies: ['It'] },
  },
};

const ASSETS = { files: { code: { source: { path: 'code' }, destinations: { here: { objectKey: 'code.zip' } } } } };

async function assemblies({ dice }: FuzzCase): Promise<void> {
  await inFolder(async (folder) => {
    const text = (json: unknown) =>
      dice.chance(0.1)
        ? mutatedText(JSON.stringify(json), dice)
        : dice.chance(0.4)
          ? mutatedJson(json, dice)
          : jsonText(json);
    mkdirSync(join(folder, 'code'));
    mkdirSync(join(folder, 'stage'));
    writeFileSync(join(folder, 'manifest.json'), text(MANIFEST));
    writeFileSync(join(folder, 'It.assets.json'), text(ASSETS));
    writeFileSync(join(folder, 'It.template.json'), dice.chance(0.8) ? mutatedJson(TEMPLATE, dice) : text(TEMPLATE));
    writeFileSync(join(folder, 'stage', 'manifest.json'), text({ artifacts: {} }));
    await typed(() => planDeployment(readCloudAssembly(folder)));
  });
}

async function files({ dice }: FuzzCase): Promise<void> {
  await inFolder(async (folder) => {
    const lines = Array.from({ length: dice.below(30) }, (_, number) => {
      const event = { account: `${CANARY} ${dice.below(4)}`, id: number };
      return dice.chance(0.2) ? mutatedJson(event, dice) : JSON.stringify(event);
    });
    const text = dice.chance(0.5) ? mutatedText(lines.join('\n'), dice) : lines.join('\n');
    const zipped = dice.chance(0.4);
    const bytes = zipped ? gzipSync(text) : Buffer.from(text);
    const file = join(folder, zipped ? 'events.gz' : 'events');
    writeFileSync(file, dice.chance(0.3) ? mutatedBytes(bytes, dice) : bytes);
    await typed(() => readSample([file], { key: 'account', id: 'id' }));
  });
}

const FLAGS = [
  '--records-per-second=1000',
  '--bytes-per-second=1000000',
  '--writes-per-second=500',
  '--head-room=0.3',
  '--consumers=2',
  '--keys=40',
  '--item-kb=2',
  '--share=open=3',
  '--share=failed=1',
  '--utilization=0.5',
  '--probability=0.01',
  '--page-items=10',
  '--pages-per-second=1',
  '--json',
  '--keyspaces',
  'stream',
  'index',
];

async function flags({ dice }: FuzzCase): Promise<void> {
  const args = FLAGS.filter(() => dice.chance(0.3)).map((flag) => (dice.chance(0.25) ? mutatedText(flag, dice) : flag));
  const { log } = console;
  console.log = () => {};
  try {
    await typed(() => plan(args.filter((arg) => !arg.startsWith('--input') && !arg.startsWith('--prices'))));
  } finally {
    console.log = log;
  }
}

function indexOfJobs(): FakeIndex {
  const index = new FakeIndex(INDEX, { pageItems: 4 });
  for (let number = 0; number < 12; number++) {
    const item = { id: `i${number}`, status: 'open', createdAt: number % 5 };
    index.put({
      id: { S: item.id },
      status: { S: item.status },
      createdAt: { N: String(item.createdAt) },
      shard: { S: String(shardAttributes(INDEX, item).shard) },
    });
  }
  return index;
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

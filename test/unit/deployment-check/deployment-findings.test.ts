import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Properties, Resource, Template } from '../../../lib/cloudformation/template';
import { deploymentFindings } from '../../../lib/deployment-check/deployment-findings';
import { KEPT_TYPES } from '../../../lib/deployment-check/kept-resource';

const key = (AttributeName: string, KeyType = 'HASH') => ({ AttributeName, KeyType });
const attribute = (AttributeName: string, AttributeType = 'S') => ({ AttributeName, AttributeType });
const index = (IndexName: string, by = IndexName, ProjectionType = 'ALL') => ({
  IndexName,
  KeySchema: [key(by)],
  Projection: { ProjectionType },
});
const RECOVERED = { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
const kept = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };

const table = (properties: Properties = {}, policies: object = kept): Resource => ({
  Type: 'AWS::DynamoDB::GlobalTable',
  Properties: {
    KeySchema: [key('id')],
    AttributeDefinitions: [attribute('id'), attribute('status')],
    BillingMode: 'PAY_PER_REQUEST',
    Replicas: [{ Region: 'eu-west-1', PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }],
    ...properties,
  },
  ...policies,
});
const stream = (properties: Properties = {}): Resource => ({
  Type: 'AWS::Kinesis::Stream',
  Properties: { ShardCount: 4, StreamEncryption: { EncryptionType: 'KMS', KeyId: 'alias/aws/kinesis' }, ...properties },
  ...kept,
});
const lambda = (Variables: Properties, properties: Properties = {}): Resource => ({
  Type: 'AWS::Lambda::Function',
  Properties: { Environment: { Variables }, ...properties },
});
const mapping = (properties: Properties = {}): Resource => ({
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { EventSourceArn: { 'Fn::GetAtt': ['Events', 'Arn'] }, StartingPosition: 'TRIM_HORIZON', ...properties },
});
const keyspacesTable = (properties: Properties = {}): Resource => ({
  Type: 'AWS::Cassandra::Table',
  Properties: {
    KeyspaceName: 'blogs',
    TableName: 'posts',
    RegularColumns: [{ ColumnName: 'title', ColumnType: 'text' }],
    ClusteringKeyColumns: [{ Column: { ColumnName: 'at', ColumnType: 'timestamp' } }],
    ...properties,
  },
});
const parameterGroup = (ttl: string): Resource => ({
  Type: 'AWS::DAX::ParameterGroup',
  Properties: { ParameterNameValues: { 'query-ttl-millis': ttl } },
});

/** Returns the findings of one stack as texts: the id without its prefix, the effect, the step and the logical id. */
function findingsOf(deployed: Template['Resources'], synthesized: Template['Resources']): string[] {
  const change = { stack: 'Orders', deployed: { Resources: deployed }, synthesized: { Resources: synthesized } };
  return deploymentFindings([change]).map(
    ({ id, effect, step, logicalId }) => `${id.replace('cdk-even-shards:', '')} ${effect} ${step} ${logicalId}`,
  );
}

function textsOf(deployed: Template['Resources'], synthesized: Template['Resources']): string {
  const change = { stack: 'Orders', deployed: { Resources: deployed }, synthesized: { Resources: synthesized } };
  return deploymentFindings([change])
    .map(({ text }) => text)
    .join('\n');
}

describe('the findings for a change of a stream', () => {
  test.each<[string, Properties, Properties, string[]]>([
    ['from 2 to 16 shards', { ShardCount: 2 }, { ShardCount: 16 }, ['Deployment.shardCount refused split Events']],
    ['from 9 to 4 shards', { ShardCount: 9 }, { ShardCount: 4 }, ['Deployment.shardCount refused split Events']],
    ['from 8 to 16 shards', { ShardCount: 8 }, { ShardCount: 16 }, []],
    ['from 8 to 4 shards', { ShardCount: 8 }, { ShardCount: 4 }, []],
    ['to a count that is a token', {}, { ShardCount: { Ref: 'Count' } }, []],
    [
      'to on-demand mode',
      { StreamModeDetails: { StreamMode: 'PROVISIONED' } },
      { StreamModeDetails: { StreamMode: 'ON_DEMAND' }, ShardCount: undefined },
      ['Deployment.streamMode uneven know Events'],
    ],
    ['to no encryption', {}, { StreamEncryption: undefined }, ['Deployment.encryptionRemoved exposed revise Events']],
    [
      'to another encryption key',
      {},
      { StreamEncryption: { EncryptionType: 'KMS', KeyId: 'alias/own' } },
      ['Deployment.encryptionKey failing prepare Events'],
    ],
    ['from no encryption to encryption', { StreamEncryption: undefined }, {}, []],
    ['to a shorter retention', { RetentionPeriodHours: 48 }, {}, ['Deployment.retentionLowered lost prepare Events']],
    ['to a longer retention', {}, { RetentionPeriodHours: 48 }, []],
    [
      'to a lower record size limit',
      { MaxRecordSizeInKiB: 2_048 },
      {},
      ['Deployment.recordSizeLowered failing prepare Events'],
    ],
    ['to another name', { Name: 'a' }, { Name: 'b' }, ['Deployment.replaced replaced revise Events']],
  ])('%s – are as expected', (_, deployed, synthesized, expected) => {
    expect(findingsOf({ Events: stream(deployed) }, { Events: stream(synthesized) })).toEqual(expected);
  });

  test('name the intermediate shard counts to deploy first', () => {
    const way = (from: number, to: number) =>
      /deploy ([\d, ]+) and then/.exec(
        textsOf({ Events: stream({ ShardCount: from }) }, { Events: stream({ ShardCount: to }) }),
      )?.[1];
    expect([way(2, 16), way(5, 11), way(16, 2), way(9, 4)]).toEqual(['4, 8', '10', '8, 4', '5']);
  });
});

describe('the findings for a change of a table', () => {
  test.each<[string, Properties, Properties, string[]]>([
    [
      'two new indexes in one deployment',
      {},
      { GlobalSecondaryIndexes: [index('a'), index('b')] },
      ['Deployment.severalIndexes refused split Table'],
    ],
    [
      'a new index and a removed index in one deployment',
      { GlobalSecondaryIndexes: [index('a')] },
      { GlobalSecondaryIndexes: [index('b')] },
      ['Deployment.severalIndexes refused split Table'],
    ],
    [
      'one new index',
      { GlobalSecondaryIndexes: [index('a')] },
      { GlobalSecondaryIndexes: [index('a'), index('b')] },
      [],
    ],
    [
      'another key of an index',
      { GlobalSecondaryIndexes: [index('a')] },
      { GlobalSecondaryIndexes: [index('a', 'other')] },
      ['Deployment.indexKeySchema refused revise Table'],
    ],
    [
      'another projection of an index',
      { GlobalSecondaryIndexes: [index('a')] },
      { GlobalSecondaryIndexes: [index('a', 'a', 'KEYS_ONLY')] },
      ['Deployment.indexProjection refused revise Table'],
    ],
    [
      'another type of a value attribute',
      {},
      { AttributeDefinitions: [attribute('id'), attribute('status', 'N')] },
      ['Deployment.keyType refused revise Table'],
    ],
    ['another primary key', {}, { KeySchema: [key('other')] }, ['Deployment.replaced replaced revise Table']],
    [
      'another primary key with the same table name',
      { TableName: 'orders' },
      { TableName: 'orders', KeySchema: [key('other')] },
      ['Deployment.replacementRefused refused revise Table'],
    ],
    [
      'two new replicas in one deployment',
      {},
      { Replicas: ['eu-west-1', 'us-east-1', 'us-west-2'].map((Region) => ({ ...RECOVERED, Region })) },
      ['Deployment.severalReplicas refused split Table'],
    ],
    [
      'a removed replica',
      { Replicas: ['eu-west-1', 'us-east-1'].map((Region) => ({ ...RECOVERED, Region })) },
      {},
      ['Deployment.replicaRemoved deleted prepare Table'],
    ],
    [
      'another view type of the table stream',
      { StreamSpecification: { StreamViewType: 'NEW_IMAGE' } },
      { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } },
      ['Deployment.changeStream lost split Table'],
    ],
    [
      'another attribute for the time to live',
      { TimeToLiveSpecification: { AttributeName: 'a', Enabled: true } },
      { TimeToLiveSpecification: { AttributeName: 'b', Enabled: true } },
      ['Deployment.timeToLive refused split Table'],
    ],
    ['provisioned capacity', {}, { BillingMode: 'PROVISIONED' }, ['Deployment.billingMode failing prepare Table']],
    [
      'no point-in-time recovery',
      {},
      { Replicas: [{ Region: 'eu-west-1' }] },
      ['Deployment.recoveryOff lost prepare Table'],
    ],
  ])('%s – are as expected', (_, deployed, synthesized, expected) => {
    expect(findingsOf({ Table: table(deployed) }, { Table: table(synthesized) })).toEqual(expected);
  });

  test.each<[string, Properties, string[]]>([
    [
      'a removed column',
      { RegularColumns: [{ ColumnName: 'other', ColumnType: 'text' }] },
      ['Deployment.columns refused revise Posts'],
    ],
    [
      'other clustering columns with the same table name',
      { ClusteringKeyColumns: [{ Column: { ColumnName: 'at', ColumnType: 'date' } }] },
      ['Deployment.replacementRefused refused revise Posts'],
    ],
    ['client-side timestamps that stay off', { ClientSideTimestampsEnabled: false }, []],
  ])('of Amazon Keyspaces, %s – are as expected', (_, synthesized, expected) => {
    expect(findingsOf({ Posts: keyspacesTable() }, { Posts: keyspacesTable(synthesized) })).toEqual(expected);
  });
});

describe('the findings for a removed logical id', () => {
  test('report a rename if the new template contains a resource with the same key', () => {
    expect(findingsOf({ Old: table() }, { New: table() })).toEqual(['Deployment.renamed replaced revise New']);
    expect(textsOf({ Old: table() }, { New: table() })).toContain(
      "the logical id of the table changes from Old to New: CloudFormation creates a new, empty resource, and the earlier resource stays in the account with its items, outside every stack. Keep the logical id with overrideLogicalId('Old')",
    );
  });

  test('report that the deployment fails if the new resource has the same physical name', () => {
    const named = table({ TableName: 'orders' });
    expect(findingsOf({ Old: named }, { New: named })).toEqual(['Deployment.renamed refused revise New']);
  });

  test('report what happens to the data because of the deletion policy and the deletion protection', () => {
    expect(findingsOf({ Table: table() }, {})).toEqual(['Deployment.removed left know Table']);
    expect(findingsOf({ Table: table({}, {}) }, {})).toEqual(['Deployment.removed deleted prepare Table']);
    const Replicas = [{ Region: 'eu-west-1', DeletionProtectionEnabled: true }];
    expect(textsOf({ Table: table({ Replicas }, {}) }, {})).toContain('because of its deletion protection');
  });

  test('report a removal if the new resource has a different key', () => {
    expect(findingsOf({ Old: table() }, { New: table({ KeySchema: [key('other')] }) })).toEqual([
      'Deployment.removed left know Old',
    ]);
  });

  test('report that the deployment fails if the logical id gets a resource of another type', () => {
    const old = { ...table(), Type: 'AWS::DynamoDB::Table' };
    expect(findingsOf({ Table: old }, { Table: table() })).toEqual(['Deployment.converted refused revise Table']);
  });

  test('include resources that refer to a replaced resource and cannot change in place', () => {
    const deployed = { Events: stream({ Name: 'a' }), Reader: mapping() };
    expect(findingsOf(deployed, { Events: stream({ Name: 'b' }), Reader: mapping() })).toEqual([
      'Deployment.replaced replaced revise Events',
      'Deployment.replaced replaced prepare Reader',
    ]);
  });
});

describe('the findings for functions and event sources', () => {
  test.each<[string, Resource, Resource, string[]]>([
    [
      'another number of hash buckets',
      lambda({ EVEN_SHARDS_HASH_BUCKETS: '256' }),
      lambda({ EVEN_SHARDS_HASH_BUCKETS: '512' }),
      ['Deployment.hashBuckets reordered prepare It'],
    ],
    [
      'new aggregation across keys, and no hash buckets in the deployed function',
      lambda({}),
      lambda({ EVEN_SHARDS_AGGREGATION: 'packed' }),
      ['Deployment.hashBuckets reordered prepare It'],
    ],
    [
      'new aggregation across keys, whose default is the deployed number of hash buckets',
      lambda({ EVEN_SHARDS_HASH_BUCKETS: '256' }),
      lambda({ EVEN_SHARDS_AGGREGATION: 'packed' }),
      [],
    ],
    [
      'another function name',
      lambda({}, { FunctionName: 'a' }),
      lambda({}, { FunctionName: 'b' }),
      ['Deployment.replaced replaced prepare It'],
    ],
    [
      'another starting position',
      mapping(),
      mapping({ StartingPosition: 'LATEST' }),
      ['Deployment.replaced replaced prepare It'],
    ],
    [
      'another parameter of a DAX cluster',
      parameterGroup('1000'),
      parameterGroup('2000'),
      ['Deployment.parameterGroup refused revise It'],
    ],
  ])('%s – are as expected', (_, deployed, synthesized, expected) => {
    expect(findingsOf({ It: deployed }, { It: synthesized })).toEqual(expected);
  });

  test('report that the deployment fails if one function gets a second event source mapping of the same stream', () => {
    expect(findingsOf({ Old: mapping() }, { New: mapping() })).toEqual(['Deployment.renamed refused revise New']);
  });
});

describe('the findings for resources in use', () => {
  const config = (table: unknown) => ({
    'Fn::Join': ['', ['{"byStatus":{"tableName":"', table, '","indexName":"byStatus"}}']],
  });
  const indexed = table({ GlobalSecondaryIndexes: [index('byStatus', 'status')] });
  const exported = { Outputs: { Name: { Value: { Ref: 'Table' }, Export: { Name: 'Orders:Name' } } } };
  const reader = lambda({ EVEN_SHARDS_INDEXES: config({ Ref: 'Table' }) });
  const otherReader = lambda({ EVEN_SHARDS_INDEXES: config({ 'Fn::ImportValue': 'Orders:Name' }) });

  const idsOf = (...changes: Parameters<typeof deploymentFindings>[0]) =>
    deploymentFindings(changes).map(({ id, text }) => `${id}: ${text.slice(0, 80)}`);

  test('include a removed index that a deployed function reads, even if the function is removed in the same deployment', () => {
    const change = {
      stack: 'Orders',
      deployed: { Resources: { Table: indexed, Reader: reader } },
      synthesized: { Resources: { Table: table() } },
    };
    expect(idsOf(change)).toEqual([
      expect.stringMatching(
        /Deployment.indexInUse: index byStatus would be deleted while Orders.Reader still reads it/,
      ),
    ]);
    expect(idsOf({ ...change, deployed: { Resources: { Table: indexed } } })).toEqual([]);
  });

  test('include a removed index that a function of another stack reads', () => {
    const orders = {
      stack: 'Orders',
      deployed: { Resources: { Table: indexed }, ...exported },
      synthesized: { Resources: { Table: table() }, ...exported },
    };
    const reports = { Resources: { Reader: otherReader } };
    expect(idsOf(orders, { stack: 'Reports', deployed: reports, synthesized: reports })).toEqual([
      expect.stringContaining('index byStatus would be deleted while Reports/Reader still reads it'),
    ]);
  });

  test('include a removed export that a deployed stack imports', () => {
    const deployed = { Resources: { Table: indexed }, ...exported };
    const reports = { Resources: { Reader: otherReader } };
    expect(
      idsOf(
        { stack: 'Orders', deployed, synthesized: { Resources: { Table: indexed } } },
        { stack: 'Reports', deployed: reports, synthesized: {} },
      ),
    ).toEqual([
      expect.stringContaining(
        'Deployment.exportInUse: the export Orders:Name would be deleted while Reports imports it',
      ),
    ]);
  });
});

test('there are no findings for a new stack and for an unchanged stack', () => {
  const all = { Table: table(), Events: stream(), Posts: keyspacesTable(), Reader: mapping() };
  expect(deploymentFindings([{ stack: 'Orders', synthesized: { Resources: all } }])).toEqual([]);
  expect(findingsOf(all, all)).toEqual([]);
});

test('findings are in the order in which the reader must act', () => {
  const deployed = { Events: stream({ ShardCount: 2, RetentionPeriodHours: 48 }), Table: table(), Old: table() };
  const synthesized = { Events: stream({ ShardCount: 16 }), New: table() };
  expect(findingsOf(deployed, synthesized).map((finding) => finding.split(' ')[2])).toEqual([
    'revise',
    'split',
    'prepare',
    'know',
  ]);
});

test('the properties that replace a resource agree with the CloudFormation schema in the CDK', () => {
  const file = join(__dirname, '../../../node_modules/aws-cdk/db.json.gz');
  const { schema } = JSON.parse(gunzipSync(readFileSync(file)).toString());
  const resources: { cloudFormationType: string; properties: Record<string, { causesReplacement?: string }> }[] =
    schema.resource.entities;
  const known = Object.keys(KEPT_TYPES).map((type) => {
    const { properties } = resources.find(({ cloudFormationType }) => cloudFormationType === type)!;
    const replacing = Object.entries(properties).filter(([, { causesReplacement }]) => causesReplacement === 'yes');
    return [type, replacing.map(([name]) => name).sort()];
  });
  expect(Object.entries(KEPT_TYPES).map(([type, { replacing }]) => [type, [...replacing].sort()])).toEqual(known);
});

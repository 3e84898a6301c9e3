// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders belong to Fn::Sub
import type { Properties, Resource, Template } from '../../../lib/cloudformation/template';
import { deploymentFindings } from '../../../lib/deployment-check/deployment-findings';

const key = (AttributeName: string, KeyType = 'HASH') => ({ AttributeName, KeyType });
const attribute = (AttributeName: string, AttributeType = 'S') => ({ AttributeName, AttributeType });
const index = (IndexName: string, by = IndexName, ProjectionType = 'ALL') => ({
  IndexName,
  KeySchema: [key(by)],
  Projection: { ProjectionType },
});
const indexes = (...GlobalSecondaryIndexes: readonly object[]): Properties => ({ GlobalSecondaryIndexes });
const RECOVERED = { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } };
const STRONG = { MultiRegionConsistency: 'STRONG' };
const PROVISIONED = { BillingMode: 'PROVISIONED' };
const replicasIn = (...regions: readonly string[]) => regions.map((Region) => ({ ...RECOVERED, Region }));
const including = (...NonKeyAttributes: readonly string[]) => ({ ProjectionType: 'INCLUDE', NonKeyAttributes });
const timeToLive = (AttributeName: string, Enabled = true) => ({ TimeToLiveSpecification: { AttributeName, Enabled } });
const warm = (units: number) => ({ WarmThroughput: { ReadUnitsPerSecond: units, WriteUnitsPerSecond: units } });
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
const encryptionKey = (Properties: Properties): Resource => ({ Type: 'AWS::KMS::Key', Properties });
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

/**
 * Returns the findings of one stack as texts: the id without `cdk-even-shards:Deployment.`, the effect, the step and the
 * logical id.
 */
function findingsOf(deployed: Template['Resources'], synthesized: Template['Resources']): string[] {
  const change = { stack: 'Orders', deployed: { Resources: deployed }, synthesized: { Resources: synthesized } };
  return deploymentFindings([change]).map(
    ({ id, effect, step, logicalId }) =>
      `${id.replace(/^cdk-even-shards:(Deployment\.)?/, '')} ${effect} ${step} ${logicalId}`,
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
    ['from 2 to 16 shards', { ShardCount: 2 }, { ShardCount: 16 }, ['shardCount refused split Events']],
    ['from 9 to 4 shards', { ShardCount: 9 }, { ShardCount: 4 }, ['shardCount refused split Events']],
    ['from 8 to 16 shards', { ShardCount: 8 }, { ShardCount: 16 }, []],
    ['from 8 to 4 shards', { ShardCount: 8 }, { ShardCount: 4 }, []],
    ['to a count that is a token', {}, { ShardCount: { Ref: 'Count' } }, []],
    [
      'to on-demand mode',
      { StreamModeDetails: { StreamMode: 'PROVISIONED' } },
      { StreamModeDetails: { StreamMode: 'ON_DEMAND' }, ShardCount: undefined },
      ['streamMode uneven know Events'],
    ],
    ['to no encryption', {}, { StreamEncryption: undefined }, ['encryptionRemoved exposed revise Events']],
    [
      'to another encryption key',
      {},
      { StreamEncryption: { EncryptionType: 'KMS', KeyId: 'alias/own' } },
      ['encryptionKey failing prepare Events'],
    ],
    ['from no encryption to encryption', { StreamEncryption: undefined }, {}, []],
    ['to a shorter retention', { RetentionPeriodHours: 48 }, {}, ['retentionLowered lost prepare Events']],
    ['to a longer retention', {}, { RetentionPeriodHours: 48 }, []],
    ['to a lower record size limit', { MaxRecordSizeInKiB: 2_048 }, {}, ['recordSizeLowered failing prepare Events']],
    ['to another name', { Name: 'a' }, { Name: 'b' }, ['replaced replaced revise Events']],
  ])('%s – are as expected', (_, deployed, synthesized, expected) => {
    expect(findingsOf({ Events: stream(deployed) }, { Events: stream(synthesized) })).toEqual(expected);
  });

  test('name the intermediate shard counts to deploy first', () => {
    const way = (from: number, to: number) =>
      /Deploy ([\d, ]+) and then/.exec(
        textsOf({ Events: stream({ ShardCount: from }) }, { Events: stream({ ShardCount: to }) }),
      )?.[1];
    expect([way(2, 16), way(5, 11), way(16, 2), way(9, 4)]).toEqual(['4, 8', '10', '8, 4', '5']);
  });
});

describe('the findings for a change of a table', () => {
  test.each<[string, Properties, Properties, string[]]>([
    ['two new indexes in one deployment', {}, indexes(index('a'), index('b')), ['severalIndexes refused split Table']],
    [
      'a new index and a removed index in one deployment',
      indexes(index('a')),
      indexes(index('b')),
      ['severalIndexes refused split Table', 'indexDeleted deleted prepare Table'],
    ],
    [
      'a new index and a new replica in one deployment',
      {},
      { GlobalSecondaryIndexes: [index('a')], Replicas: replicasIn('eu-west-1', 'us-east-1') },
      ['indexAndReplica refused split Table'],
    ],
    [
      'two new replicas of a table with multi-Region strong consistency',
      STRONG,
      { ...STRONG, Replicas: replicasIn('eu-west-1', 'us-east-1', 'us-west-2') },
      [],
    ],
    [
      'a projection whose attributes have another order',
      indexes({ ...index('a'), Projection: including('b', 'c') }),
      indexes({ ...index('a'), Projection: including('c', 'b') }),
      [],
    ],
    ['multi-Region strong consistency of an existing table', {}, STRONG, ['updateRejected refused revise Table']],
    ['the default consistency instead of an absent one', {}, { MultiRegionConsistency: 'EVENTUAL' }, []],
    ['time to live that is turned on', {}, timeToLive('a'), ['timeToLiveOn lost prepare Table']],
    ['time to live that is turned off', timeToLive('a'), timeToLive('a', false), []],
    ['lower warm throughput', warm(40_000), warm(20_000), ['warmThroughput refused revise Table']],
    ['higher warm throughput', warm(20_000), warm(40_000), []],
    ['warm throughput that leaves the template', warm(40_000), {}, []],
    [
      'a first warm throughput below the least of on-demand tables',
      {},
      warm(4_000),
      ['warmThroughput refused revise Table'],
    ],
    ['a first warm throughput of a provisioned table', PROVISIONED, { ...PROVISIONED, ...warm(4_000) }, []],
    [
      'lower warm throughput of an index',
      indexes({ ...index('a'), ...warm(40_000) }),
      indexes({ ...index('a'), WarmThroughput: { ReadUnitsPerSecond: 30_000 } }),
      ['warmThroughput refused revise Table'],
    ],
    ['one new index', indexes(index('a')), indexes(index('a'), index('b')), []],
    [
      'another key of an index',
      indexes(index('a')),
      indexes(index('a', 'other')),
      ['indexKeySchema refused revise Table'],
    ],
    [
      'another projection of an index',
      indexes(index('a')),
      indexes(index('a', 'a', 'KEYS_ONLY')),
      ['indexProjection refused revise Table'],
    ],
    [
      'another type of a value attribute',
      {},
      { AttributeDefinitions: [attribute('id'), attribute('status', 'N')] },
      ['keyType refused revise Table'],
    ],
    ['another primary key', {}, { KeySchema: [key('other')] }, ['replaced replaced revise Table']],
    [
      'another primary key with the same table name',
      { TableName: 'orders' },
      { TableName: 'orders', KeySchema: [key('other')] },
      ['replacementRefused refused revise Table'],
    ],
    [
      'two new replicas in one deployment',
      {},
      { Replicas: replicasIn('eu-west-1', 'us-east-1', 'us-west-2') },
      ['severalReplicas refused split Table'],
    ],
    [
      'a removed replica',
      { Replicas: replicasIn('eu-west-1', 'us-east-1') },
      {},
      ['replicaRemoved deleted prepare Table'],
    ],
    [
      'another view type of the table stream',
      { StreamSpecification: { StreamViewType: 'NEW_IMAGE' } },
      { StreamSpecification: { StreamViewType: 'KEYS_ONLY' } },
      ['changeStream lost split Table'],
    ],
    ['another attribute for the time to live', timeToLive('a'), timeToLive('b'), ['timeToLive refused split Table']],
    ['provisioned capacity', {}, { BillingMode: 'PROVISIONED' }, ['billingMode failing prepare Table']],
    ['no point-in-time recovery', {}, { Replicas: [{ Region: 'eu-west-1' }] }, ['recoveryOff lost prepare Table']],
  ])('%s – are as expected', (_, deployed, synthesized, expected) => {
    expect(findingsOf({ Table: table(deployed) }, { Table: table(synthesized) })).toEqual(expected);
  });

  test.each<[string, Properties, string[]]>([
    [
      'a removed column',
      { RegularColumns: [{ ColumnName: 'other', ColumnType: 'text' }] },
      ['columns refused revise Posts'],
    ],
    [
      'other clustering columns with the same table name',
      { ClusteringKeyColumns: [{ Column: { ColumnName: 'at', ColumnType: 'date' } }] },
      ['replacementRefused refused revise Posts'],
    ],
    ['client-side timestamps that stay off', { ClientSideTimestampsEnabled: false }, []],
    [
      'another type of a column with the same table name',
      { RegularColumns: [{ ColumnName: 'title', ColumnType: 'int' }] },
      ['replacementRefused refused revise Posts'],
    ],
    [
      'the default order instead of an absent one',
      { ClusteringKeyColumns: [{ OrderBy: 'ASC', Column: { ColumnType: 'timestamp', ColumnName: 'at' } }] },
      [],
    ],
  ])('of Amazon Keyspaces, %s – are as expected', (_, synthesized, expected) => {
    expect(findingsOf({ Posts: keyspacesTable() }, { Posts: keyspacesTable(synthesized) })).toEqual(expected);
  });
});

describe('the findings for a removed logical id', () => {
  test('report a rename if the new template contains a resource with the same key', () => {
    expect(findingsOf({ Old: table() }, { New: table() })).toEqual(['renamed replaced revise New']);
    expect(textsOf({ Old: table() }, { New: table() })).toContain(
      "the logical id of the table changes from Old to New: CloudFormation creates a new, empty resource, and the earlier resource stays in the account with its items, outside every stack. Keep the logical id with overrideLogicalId('Old')",
    );
  });

  test('report that the deployment fails if the new resource has the same physical name', () => {
    const named = table({ TableName: 'orders' });
    expect(findingsOf({ Old: named }, { New: named })).toEqual(['renamed refused revise New']);
  });

  test('report that the deployment fails if the new resource has the same physical name, which contains the account id', () => {
    const named = table({ TableName: { 'Fn::Join': ['-', ['orders', { Ref: 'AWS::AccountId' }]] } });
    expect(findingsOf({ Old: named }, { New: named })).toEqual(['renamed refused revise New']);
  });

  test('report what happens to the data because of the deletion policy and the deletion protection', () => {
    expect(findingsOf({ Table: table() }, {})).toEqual(['removed left know Table']);
    expect(findingsOf({ Table: table({}, {}) }, {})).toEqual(['removed deleted prepare Table']);
    const Replicas = [{ Region: 'eu-west-1', DeletionProtectionEnabled: true }];
    expect(textsOf({ Table: table({ Replicas }, {}) }, {})).toContain('because of its deletion protection');
  });

  test('report a removal if the new resource has a different key', () => {
    expect(findingsOf({ Old: table() }, { New: table({ KeySchema: [key('other')] }) })).toEqual([
      'removed left know Old',
    ]);
  });

  test('report that the deployment fails if the logical id gets a resource of another type', () => {
    const old = { ...table(), Type: 'AWS::DynamoDB::Table' };
    expect(findingsOf({ Table: old }, { Table: table() })).toEqual(['converted refused revise Table']);
  });
});

describe('the findings for functions and event sources', () => {
  test.each<[string, Resource, Resource, string[]]>([
    [
      'another number of hash buckets',
      lambda({ EVEN_SHARDS_HASH_BUCKETS: '256' }),
      lambda({ EVEN_SHARDS_HASH_BUCKETS: '512' }),
      ['hashBuckets reordered prepare It'],
    ],
    [
      'new aggregation across keys, and no hash buckets in the deployed function',
      lambda({}),
      lambda({ EVEN_SHARDS_AGGREGATION: 'packed' }),
      ['hashBuckets reordered prepare It'],
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
      ['replaced replaced prepare It'],
    ],
    ['the default package type instead of an absent one', lambda({}), lambda({}, { PackageType: 'Zip' }), []],
    [
      'another key spec',
      encryptionKey({}),
      encryptionKey({ KeySpec: 'RSA_2048' }),
      ['updateRejected refused revise It'],
    ],
    [
      'the default key spec instead of an absent one',
      encryptionKey({}),
      encryptionKey({ KeySpec: 'SYMMETRIC_DEFAULT' }),
      [],
    ],
    [
      'another parameter of a DAX cluster',
      parameterGroup('1000'),
      parameterGroup('2000'),
      ['updateRejected refused revise It'],
    ],
  ])('%s – are as expected', (_, deployed, synthesized, expected) => {
    expect(findingsOf({ It: deployed }, { It: synthesized })).toEqual(expected);
  });

  const REPLACED = 'replaced replaced prepare';
  const MOVED = 'mappingMoved replaced prepare';
  const RENAMED = 'renamed refused revise';
  const SECOND = 'secondMapping refused revise';
  const [one, other] = [mapping({ FunctionName: { Ref: 'One' } }), mapping({ FunctionName: { Ref: 'Other' } })];
  const alias = mapping({ FunctionName: { 'Fn::Join': ['', [{ 'Fn::GetAtt': ['One', 'Arn'] }, ':live']] } });
  const latest = mapping({ FunctionName: { Ref: 'One' }, StartingPosition: 'LATEST' });
  const queue = (name: string) => mapping({ FunctionName: { Ref: name }, StartingPosition: undefined });
  const topic = (name: string) => mapping({ FunctionName: { Ref: 'One' }, Topics: [name] });
  test.each<[string, Template['Resources'], Template['Resources'], string[]]>([
    ['another logical id', { A: one }, { B: one }, [`${RENAMED} B`]],
    [
      'another logical id, and the ARN instead of the name',
      { A: one },
      { B: mapping({ FunctionName: { 'Fn::GetAtt': ['One', 'Arn'] } }) },
      [`${RENAMED} B`],
    ],
    ['a second mapping', { A: one }, { A: one, B: one }, [`${SECOND} B`]],
    ['two new mappings with the same source', {}, { A: one, B: one }, [`${SECOND} B`]],
    ['a second mapping of an alias', { A: one }, { A: one, B: alias }, []],
    ['a second mapping of another topic', { A: topic('a') }, { A: topic('a'), B: topic('b') }, []],
    ['a second mapping of the same topic', { A: topic('a') }, { A: topic('a'), B: topic('a') }, [`${SECOND} B`]],
    ['another function, and the same logical id', { A: one }, { A: other }, []],
    ['another function, and another logical id', { A: one }, { B: other }, [`${MOVED} B`]],
    ['another function of a queue', { A: queue('One') }, { B: queue('Other') }, []],
    ['a mapping of another function, beside the earlier mapping', { A: one }, { A: one, B: other }, []],
    [
      'a function whose mapping gets the other function',
      { A: one },
      { A: other, B: one },
      ['secondMapping refused split B'],
    ],
    [
      'the function of a mapping that is removed, and the same logical id',
      { A: one, B: other },
      { A: other },
      ['secondMapping refused split A'],
    ],
    ['another starting position', { A: one }, { A: latest }, ['replacementRefused refused revise A']],
    ['another starting position of another function', { A: other }, { A: latest }, [`${REPLACED} A`]],
    [
      'another source',
      { A: one },
      { A: mapping({ EventSourceArn: 'arn:other', FunctionName: { Ref: 'One' } }) },
      [`${REPLACED} A`],
    ],
  ])('for an event source mapping, %s – are as expected', (_, deployed, synthesized, expected) => {
    const others = { Events: stream(), One: lambda({}), Other: lambda({}) };
    expect(findingsOf({ ...others, ...deployed }, { ...others, ...synthesized })).toEqual(expected);
  });

  test('say which records Lambda delivers twice or never, and how to keep the position', () => {
    const text = (moved: Resource) => textsOf({ A: one }, { B: moved });
    expect(text(other)).toContain('Lambda delivers all stored records again');
    expect(text(mapping({ FunctionName: { Ref: 'Other' }, StartingPosition: 'LATEST' }))).toContain(
      'Lambda never delivers the records that the earlier mapping has not read. To continue where the earlier mapping stopped, keep its logical id ' +
        "with overrideLogicalId('A')",
    );
  });

  test('report a mapping that moves to another stack, because the deployed stack still has it, but not a mapping of another stage', () => {
    const change = (stack: string, deployed: Template['Resources'], synthesized: Template['Resources']) => ({
      stack,
      deployed: { Resources: deployed! },
      synthesized: { Resources: synthesized! },
    });
    const fixed = mapping({ FunctionName: 'reader', EventSourceArn: 'arn:events' });
    const findings = deploymentFindings([change('Old', { A: fixed }, {}), change('New', {}, { A: fixed })]);
    expect(findings.map(({ id, stack, step }) => [id, stack, step])).toEqual([
      ['cdk-even-shards:Deployment.renamed', 'New', 'split'],
    ]);
    const ofStage = (directory: string) => ({ ...change(directory, {}, { A: fixed }), directory });
    expect(deploymentFindings([ofStage('Dev'), ofStage('Prod')])).toEqual([]);
  });
});

describe('the findings for resources in use', () => {
  const config = (table: unknown) => ({
    'Fn::Join': ['', ['{"byStatus":{"tableName":"', table, '","indexName":"byStatus"}}']],
  });
  const indexed = table(indexes(index('byStatus', 'status')));
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
    expect(idsOf({ ...change, deployed: { Resources: { Table: indexed } } })).toEqual([
      expect.stringContaining('Deployment.indexDeleted: index byStatus would be deleted'),
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

describe('the finding for a deleted index', () => {
  const allowed = (Action: unknown, Resource: unknown) => {
    const PolicyDocument = { Statement: [{ Effect: 'Allow', Action, Resource }] };
    return {
      Role: { Type: 'AWS::IAM::Role', Properties: {} },
      Reader: lambda({}, { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } }),
      Policy: { Type: 'AWS::IAM::Policy', Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument } },
    };
  };
  const arn = { 'Fn::GetAtt': ['Table', 'Arn'] };
  const ofIndex = (name: string) => ({ 'Fn::Join': ['', [arn, `/index/${name}`]] });
  const byName = ['arn:aws:dynamodb:eu-west-1:', { Ref: 'AWS::AccountId' }, ':table/', { Ref: 'Table' }, '/index/*'];
  const NONE = 'First check that no application queries the index.';
  test.each<[string, object, string]>([
    ['all indexes', allowed('dynamodb:Query', [arn, ofIndex('*')]), 'Orders/Reader'],
    ['the index', allowed(['dynamodb:GetItem', 'dynamodb:Query'], ofIndex('a')), 'Orders/Reader'],
    ['each action, and a computed ARN', allowed('dynamodb:*', { 'Fn::Join': ['', byName] }), 'Orders/Reader'],
    ['another index', allowed('dynamodb:Query', ofIndex('b')), NONE],
    ['only the table', allowed('dynamodb:Query', arn), NONE],
    ['another action', allowed('dynamodb:GetItem', [arn, ofIndex('*')]), NONE],
  ])('with a policy that allows %s – names the functions that may query the index', (_, others, expected) => {
    const text = textsOf({ ...others, Table: table(indexes(index('a'))) }, { ...others, Table: table() });
    expect(text).toContain(expected);
  });
});

describe('the findings for a sharded index that a deployed table gets', () => {
  const arn = { 'Fn::GetAtt': ['Table', 'Arn'] };
  const sharded = (names: readonly string[], keptIndexes: readonly string[] = []): Resource => ({
    ...table({ GlobalSecondaryIndexes: names.map((name) => index(name)) }),
    Metadata: {
      'EvenShards::ShardedIndexes': Object.fromEntries(
        names.map((name) => [
          name,
          { shardAttribute: `shard${name.charAt(0)}`, shards: { default: { write: 2, read: 2 } } },
        ]),
      ),
      'EvenShards::KeptIndexes': keptIndexes,
    },
  });
  const role = (id: string, Action: string, Resource: unknown): Template['Resources'] => ({
    [`${id}Role`]: {
      Type: 'AWS::IAM::Role',
      Properties: { Policies: [{ PolicyDocument: { Statement: { Effect: 'Allow', Action, Resource } } }] },
    },
  });
  const policy = (id: string, Statement: Properties): Template['Resources'] => ({
    [`${id}Policy`]: {
      Type: 'AWS::IAM::Policy',
      Properties: { Roles: [{ Ref: `${id}Role` }], PolicyDocument: { Statement } },
    },
  });
  const withRole = (id: string, variables: Properties, Action: string, Resource: unknown): Template['Resources'] => ({
    ...role(id, Action, Resource),
    [id]: lambda(variables, { Role: { 'Fn::GetAtt': [`${id}Role`, 'Arn'] } }),
  });
  const config = { CONFIG: { 'Fn::Join': ['', ['{"tableName":"', { Ref: 'Table' }, '","indexName":"a"}']] } };
  const ofIndex = (name: string) => ({ 'Fn::Join': ['', [arn, `/index/${name}`]] });
  const reader = withRole('Reader', config, 'dynamodb:Query', ofIndex('a'));
  const AT_ONCE = 'ShardedIndex.adoptedAtOnce missed split Table';
  const UNBOUND = 'ShardedIndex.unboundWriters missed know Table';
  const first = sharded(['a']);
  test.each<[string, Template['Resources'], string[], string?, Resource?]>([
    ['with a reader', reader, [AT_ONCE, UNBOUND], 'Orders/Reader would query it'],
    [
      'with a reader that may query all indexes',
      withRole('Reader', config, 'dynamodb:*', ofIndex('*')),
      [AT_ONCE, UNBOUND],
    ],
    [
      'with a role that is not of a function',
      role('Task', 'dynamodb:Query', ofIndex('a')),
      [AT_ONCE, UNBOUND],
      'Orders/TaskRole would query it',
    ],
    [
      'with a function that may query all indexes and has no configuration',
      withRole('Other', {}, 'dynamodb:Query', ofIndex('*')),
      [UNBOUND],
    ],
    ['without a reader', {}, [UNBOUND], 'no function of this app writes items without them'],
    ['with a keeper and a reader', reader, [AT_ONCE], '', sharded(['a'], ['a'])],
    ['with a keeper', {}, [], '', sharded(['a'], ['a'])],
  ])('%s – are as expected', (_, others, expected, text = '', adopted = first) => {
    expect(findingsOf({ Table: table() }, { Table: adopted, ...others })).toEqual(expected);
    expect(textsOf({ Table: table() }, { Table: adopted, ...others })).toContain(text);
  });

  const permitted = (id: string, permissions: [string, unknown][]): [string, Template['Resources']][] =>
    permissions.map(([action, resource]) => [
      `may do ${action} on ${JSON.stringify(resource)}`,
      withRole(id, {}, action, resource),
    ]);
  const ofAccount = 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${Table}';
  const Condition = { Bool: { 'aws:SecureTransport': 'false' } };
  const ManagedPolicyArns = ['arn:aws:iam::aws:policy/AmazonDynamoDBFullAccess'];

  test.each<[string, Template['Resources']]>([
    ...permitted('Writer', [
      ['dynamodb:PutItem', arn],
      ['dynamodb:*', '*'],
      ['dynamodb:Put*', 'arn:aws:dynamodb:*:*:table/*'],
      ['*', 'arn:aws:dynamodb:*'],
      ['dynamodb:PutItem', { 'Fn::Sub': ofAccount }],
      ['dynamodb:PutItem', ['arn:aws:s3:::bucket', { 'Fn::Join': ['', [arn, '*']] }]],
    ]),
    [
      'may write unless a condition is true',
      {
        ...withRole('Writer', {}, 'dynamodb:*', '*'),
        ...policy('Writer', { Effect: 'Deny', Action: '*', Resource: '*', Condition }),
      },
    ],
    [
      'may do everything else',
      {
        ...withRole('Writer', {}, 's3:*', '*'),
        ...policy('Writer', { Effect: 'Allow', NotAction: 'iam:*', NotResource: 'arn:aws:s3:::*' }),
      },
    ],
    [
      'has a policy of AWS',
      {
        Writer: lambda({}, { Role: { 'Fn::GetAtt': ['Admin', 'Arn'] } }),
        Admin: { Type: 'AWS::IAM::Role', Properties: { ManagedPolicyArns } },
      },
    ],
  ])('name an unbound writer that %s', (_, writer) => {
    expect(findingsOf({ Table: table() }, { Table: first, ...writer })).toEqual([UNBOUND]);
    expect(textsOf({ Table: table() }, { Table: first, ...writer })).toContain('without them: Orders/Writer.');
  });

  test.each<[string, Template['Resources']]>([
    ['is bound and may write', withRole('Writer', config, 'dynamodb:PutItem', arn)],
    ...permitted('Other', [
      ['dynamodb:PutItem', 'arn:aws:dynamodb:*:*:table/other'],
      ['dynamodb:PutItem', { 'Fn::Join': ['', [arn, '/index/*']] }],
      ['dynamodb:Get*', '*'],
      ['s3:*', '*'],
    ]),
    [
      'may not write because of another policy',
      {
        ...withRole('Other', {}, 'dynamodb:*', '*'),
        ...policy('Other', { Effect: 'Deny', Action: 'dynamodb:*Item', Resource: arn }),
      },
    ],
  ])('name no writer if a function %s', (_, others) => {
    expect(findingsOf({ Table: table() }, { Table: first, ...others })).toEqual([UNBOUND]);
    expect(textsOf({ Table: table() }, { Table: first, ...others })).toContain('no function of this app');
  });

  test.each<[string, Properties, string[]]>([
    ['reads', {}, [AT_ONCE, UNBOUND]],
    ['keeps', { EVEN_SHARDS_CORRECTS_ITEMS: 'true' }, [AT_ONCE]],
  ])('for an index of a table without metadata that a function %s – are as expected', (_, variables, expected) => {
    const configuration = ['', ['{"tableName":"', { Ref: 'Table' }, '","indexName":"a","shardAttribute":"shard"}']];
    const others = withRole(
      'Reader',
      { CONFIG: { 'Fn::Join': configuration }, ...variables },
      'dynamodb:Query',
      ofIndex('a'),
    );
    const adopted = table(indexes(index('a')));
    expect(findingsOf({ Table: table() }, { Table: adopted, ...others })).toEqual(expected);
  });

  test('name the unbound writers of an index that loses its keeper, but no keeper and no mover of another index', () => {
    const bound = withRole('Bound', config, 'dynamodb:PutItem', arn);
    const keeper = withRole('Keeper', { EVEN_SHARDS_CORRECTS_ITEMS: 'true' }, 'dynamodb:UpdateItem', arn);
    const mover = withRole('Mover', { EVEN_SHARDS_SEGMENTS_AT_ONCE: '8' }, 'dynamodb:UpdateItem', arn);
    const writers = { ...bound, ...keeper, ...mover, ...withRole('Writer', {}, 'dynamodb:PutItem', arn) };
    const change = [
      { Table: sharded(['a'], ['a']), ...writers },
      { Table: first, ...writers },
    ] as const;
    expect(findingsOf(...change)).toEqual(['ShardedIndex.keeperRemoved missed prepare Table']);
    expect(textsOf(...change)).toContain('without them: Orders/Writer.');
  });

  test.each<[string, Template['Resources'], string, string[]]>([
    ['a writer that is not bound', withRole('Writer', {}, 'dynamodb:PutItem', arn), 'false', ['prepare']],
    ['no known writer', {}, 'false', ['know']],
    ['a keeper that corrects items', withRole('Writer', {}, 'dynamodb:PutItem', arn), 'true', []],
  ])('name a new reader of a deployed index whose keeper only counts items, with %s', (_, writer, corrects, steps) => {
    const keeper = withRole('Keeper', { ...config, EVEN_SHARDS_CORRECTS_ITEMS: corrects }, 'dynamodb:UpdateItem', arn);
    const before = { Table: sharded(['a'], corrects === 'true' ? ['a'] : []), ...keeper, ...writer };
    const expected = steps.map((step) => `ShardedIndex.adoptedAtOnce missed ${step} Table`);
    expect(findingsOf(before, { ...before, ...reader })).toEqual(expected);
    expect(findingsOf({ ...before, ...reader }, { ...before, ...reader })).toEqual([]);
  });

  test('name a writer whose policy has the name of the table', () => {
    const named = (resource: Resource) => ({
      ...resource,
      Properties: { ...resource.Properties, TableName: 'orders' },
    });
    const writer = withRole('Writer', {}, 'dynamodb:PutItem', 'arn:aws:dynamodb:eu-west-1:*:table/orders');
    expect(textsOf({ Table: named(table()) }, { Table: named(first), ...writer })).toContain(
      'without them: Orders/Writer.',
    );
  });

  test.each<[string, Resource, Resource, string[]]>([
    ['a second index', first, sharded(['a', 'b']), [UNBOUND]],
    ['a second index with the same shard attribute', sharded(['b1']), sharded(['b1', 'b2']), []],
    ['a plain index that becomes a sharded index', table(indexes(index('a'))), first, []],
    ['an unchanged index', first, first, []],
    ['an index that a keeper still keeps', sharded(['a'], ['a']), sharded(['a'], ['a']), []],
    [
      'an index that loses its keeper, if no writer is known',
      sharded(['a'], ['a']),
      first,
      ['ShardedIndex.keeperRemoved missed know Table'],
    ],
    [
      'an index that is removed with its keeper',
      sharded(['a'], ['a']),
      table(),
      ['indexDeleted deleted prepare Table'],
    ],
  ])('for %s – are as expected', (_, deployed, adopted, expected) => {
    expect(findingsOf({ Table: deployed }, { Table: adopted })).toEqual(expected);
  });
});

test.each<[string, number, number, string[], string[]]>([
  ['a second mapping', 1, 2, ['eu-west-1'], []],
  ['a third mapping', 2, 3, ['eu-west-1'], ['streamReaders failing know Table']],
  ['no other mapping', 3, 3, ['eu-west-1'], []],
  ['a second mapping and replicas', 1, 2, ['eu-west-1', 'eu-west-2'], ['streamReaders failing know Table']],
])('the findings for a table whose stream gets %s are as expected', (_, before, after, regions, expected) => {
  const app = (count: number): Template['Resources'] => ({
    Table: table({ Replicas: replicasIn(...regions), StreamSpecification: { StreamViewType: 'NEW_IMAGE' } }),
    ...Object.fromEntries(
      Array.from({ length: count }, (_, number) => [
        `Mapping${number}`,
        mapping({ FunctionName: `f${number}`, EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] } }),
      ]),
    ),
  });
  expect(findingsOf(app(before), app(after))).toEqual(expected);
});

test('a null in a list, and metadata without counts, cause no error', () => {
  const app = (shards: unknown): Template['Resources'] => ({
    Table: {
      ...table({ GlobalSecondaryIndexes: [null, index('a')], AttributeDefinitions: [null, attribute('id')] }),
      Metadata: { 'EvenShards::ShardedIndexes': { a: { shardAttribute: 'shard', shards } } },
    },
  });
  for (const shards of [undefined, {}, { default: {} }, { default: 7 }])
    expect(findingsOf(app(shards), app({ default: { write: 1, read: 1 } }))).toEqual([]);
});

test('an export of a table with a fixed name does not change, because CloudFormation rejects the replacement', () => {
  const app = (by: string) => ({
    Resources: { Table: table({ TableName: 'orders', KeySchema: [key(by)] }) },
    Outputs: { Name: { Value: { Ref: 'Table' }, Export: { Name: 'Orders:Name' } } },
  });
  const reports = { Resources: { Reader: lambda({ TABLE: { 'Fn::ImportValue': 'Orders:Name' } }) } };
  const findings = deploymentFindings([
    { stack: 'Orders', deployed: app('id'), synthesized: app('other') },
    { stack: 'Reports', deployed: reports, synthesized: reports },
  ]);
  expect(findings.map(({ id }) => id)).toEqual(['cdk-even-shards:Deployment.replacementRefused']);
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

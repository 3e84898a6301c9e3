import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ClusteringOrder,
  CqlType,
  KeyspacesBilling,
  KeyspacesCapacity,
  KeyspacesChangeView,
  ShardCounts,
  ShardedKeyspacesTable,
  type ShardedKeyspacesTableProps,
  ShardingStrategy,
} from '../../../lib';
import { InvalidTableConfigError } from '../../../lib/core';
import { plainFunction } from '../../support/minimal-constructs';

const blogs: ShardedKeyspacesTableProps = {
  keyspaceName: 'tracker',
  tableName: 'blogs',
  partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
  clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
  regularColumns: [{ name: 'description', cqlType: CqlType.INT }],
  shardCounts: ShardCounts.uniform(200),
};

function stackWith(props: Partial<ShardedKeyspacesTableProps> = {}) {
  const stack = new Stack(new App(), 'Stack', { env: { account: '111111111111', region: 'eu-west-1' } });
  const table = new ShardedKeyspacesTable(stack, 'Blogs', { ...blogs, ...props });
  return { stack, table };
}

const templateOf = (props: Partial<ShardedKeyspacesTableProps> = {}) => Template.fromStack(stackWith(props).stack);

describe('ShardedKeyspacesTable', () => {
  test('has the shard as the last column of its partition key, on-demand billing and point-in-time recovery', () => {
    templateOf().hasResource('AWS::Cassandra::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        KeyspaceName: 'tracker',
        TableName: 'blogs',
        PartitionKeyColumns: [
          { ColumnName: 'publish_date', ColumnType: 'date' },
          { ColumnName: 'shard', ColumnType: 'int' },
        ],
        ClusteringKeyColumns: [{ Column: { ColumnName: 'title', ColumnType: 'text' }, OrderBy: 'ASC' }],
        RegularColumns: [{ ColumnName: 'description', ColumnType: 'int' }],
        BillingMode: { Mode: 'ON_DEMAND' },
        PointInTimeRecoveryEnabled: true,
        EncryptionSpecification: { EncryptionType: 'AWS_OWNED_KMS_KEY' },
        DefaultTimeToLive: Match.absent(),
        ClientSideTimestampsEnabled: Match.absent(),
        CdcSpecification: Match.absent(),
      },
    });
  });

  test('passes its props on to the CDK table', () => {
    const template = templateOf({
      clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT, order: ClusteringOrder.DESCENDING }],
      shardColumn: 'bucket',
      pointInTimeRecovery: false,
      defaultTimeToLive: Duration.days(30),
      clientSideTimestamps: true,
      changeStream: KeyspacesChangeView.NEW_AND_OLD_IMAGES,
      removalPolicy: RemovalPolicy.DESTROY,
      billing: KeyspacesBilling.provisioned({
        readCapacity: KeyspacesCapacity.constant(10),
        writeCapacity: KeyspacesCapacity.autoscaled({ minCapacity: 5, maxCapacity: 50, targetUtilizationPercent: 60 }),
      }),
    });
    template.hasResource('AWS::Cassandra::Table', {
      DeletionPolicy: 'Delete',
      Properties: {
        PartitionKeyColumns: Match.arrayWith([{ ColumnName: 'bucket', ColumnType: 'int' }]),
        ClusteringKeyColumns: [Match.objectLike({ OrderBy: 'DESC' })],
        PointInTimeRecoveryEnabled: false,
        DefaultTimeToLive: 2_592_000,
        ClientSideTimestampsEnabled: true,
        CdcSpecification: { Status: 'ENABLED', ViewType: 'NEW_AND_OLD_IMAGES' },
        BillingMode: {
          Mode: 'PROVISIONED',
          ProvisionedThroughput: { ReadCapacityUnits: 10, WriteCapacityUnits: 5 },
        },
        AutoScalingSpecifications: {
          ReadCapacityAutoScaling: Match.absent(),
          WriteCapacityAutoScaling: {
            MinimumUnits: 5,
            MaximumUnits: 50,
            ScalingPolicy: { TargetTrackingScalingPolicyConfiguration: { TargetValue: 60 } },
          },
        },
      },
    });
  });

  test('emits the complete configuration', () => {
    const { stack, table } = stackWith({
      firstShard: 1,
      shardCounts: ShardCounts.byValue({ '2020-07-09': 400 }, 200).alsoReading(ShardCounts.uniform(300)),
    });
    expect(JSON.parse(stack.resolve(table.toConfigJson()))).toEqual({
      keyspaceName: 'tracker',
      tableName: 'blogs',
      partitionKey: [{ name: 'publish_date', type: 'date' }],
      shardColumn: 'shard',
      firstShard: 1,
      clusteringColumns: [{ name: 'title', type: 'text', order: 'ASC' }],
      columns: ['description'],
      shards: { default: { write: 200, read: 300 }, byValue: { '2020-07-09': { write: 400, read: 400 } } },
      strategy: 'calculated',
    });
  });
});

describe('ShardedKeyspacesTable, bound or imported', () => {
  test('gives a bound function the configuration in an environment variable', () => {
    const { stack, table } = stackWith();
    table.bindWriter(plainFunction(stack, 'Writer'));
    table.bindReader(plainFunction(stack, 'Reader'), { environmentVariable: 'TABLE' });
    const variables = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function')).map(
      ({ Properties }) => Object.keys(Properties.Environment.Variables),
    );
    expect(variables).toEqual([['BLOGS'], ['TABLE']]);
  });

  test('provides the configuration and the permissions of an imported table, and adds no table', () => {
    const stack = new Stack(new App(), 'Stack', { env: { account: '111111111111', region: 'eu-west-1' } });
    const table = ShardedKeyspacesTable.fromTableAttributes(stack, 'Blogs', {
      ...blogs,
      columnNames: ['description', 'weather'],
      strategy: ShardingStrategy.RANDOM,
    });
    table.grants.selectRows(new Role(stack, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }));
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike({ Action: 'cassandra:Select' })]) },
    });
    template.resourceCountIs('AWS::Cassandra::Table', 0);
    expect(JSON.parse(stack.resolve(table.toConfigJson()))).toMatchObject({
      columns: ['description', 'weather'],
      strategy: 'random',
    });
  });
});

test('an import accepts the table of the document, whose primary key is the date and the shard', () => {
  const stack = new Stack(new App(), 'Stack');
  const table = ShardedKeyspacesTable.fromTableAttributes(stack, 'Blogs', {
    keyspaceName: 'tracker',
    tableName: 'blogs',
    partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
    clusteringColumns: [],
    columnNames: ['title', 'description'],
    shardCounts: ShardCounts.uniform(200),
    firstShard: 1,
    strategy: ShardingStrategy.RANDOM,
  });
  expect(JSON.parse(stack.resolve(table.toConfigJson()))).toMatchObject({ clusteringColumns: [], strategy: 'random' });
});

test('an import accepts the strategy PRODUCT_OF_CODE_POINTS', () => {
  const stack = new Stack(new App(), 'Stack');
  const strategy = ShardingStrategy.PRODUCT_OF_CODE_POINTS;
  const table = ShardedKeyspacesTable.fromTableAttributes(stack, 'Blogs', { ...blogs, strategy });
  expect(JSON.parse(stack.resolve(table.toConfigJson()))).toMatchObject({ strategy: 'product' });
});

describe('ShardedKeyspacesTable', () => {
  test('rejects missing shard counts', () => {
    expect(() => stackWith({ shardCounts: undefined as never })).toThrow(
      'Stack/Blogs: shardCounts must be shard counts, such as ShardCounts.uniform(8)',
    );
  });

  test.each<[string, Partial<ShardedKeyspacesTableProps>, string]>([
    [
      'a shard column that is also a clustering column',
      { shardColumn: 'title' },
      'shardColumn must be a separate column',
    ],
    [
      'no clustering column',
      { clusteringColumns: [], strategy: ShardingStrategy.RANDOM },
      'one or more columns that identify the rows of a partition, such as an id (otherwise each row overwrites',
    ],
    [
      'a collection in the key',
      { clusteringColumns: [{ name: 'tags', cqlType: CqlType.of('list<text>') }] },
      'clusteringColumns.tags.type must be one of ascii, bigint',
    ],
    [
      'a column that is listed twice',
      { regularColumns: [{ name: 'title', cqlType: CqlType.TEXT }] },
      'names that differ, got "title"',
    ],
    [
      'a column name that Keyspaces does not allow',
      { shardColumn: '_shard' },
      'do not start with an underscore, got "_shard"',
    ],
    ['calculatedFrom with a regular column', { calculatedFrom: ['description'] }, 'of title, each once'],
    [
      'calculatedFrom with the strategy RANDOM',
      { calculatedFrom: ['title'], strategy: ShardingStrategy.RANDOM },
      'for calculated shards',
    ],
    [
      'a new table with the strategy PRODUCT_OF_CODE_POINTS',
      { strategy: ShardingStrategy.PRODUCT_OF_CODE_POINTS },
      'strategy must be CALCULATED or RANDOM',
    ],
    ['a negative first shard', { firstShard: -1 }, 'firstShard must be a whole number from 0'],
    [
      'shard counts with since, which only a KeyShardedTable has',
      { shardCounts: ShardCounts.uniform(6).since(ShardCounts.uniform(5)) },
      'shards.default.since must be absent',
    ],
  ])('rejects %s with an error that names the construct', (_, props, message) => {
    expect(() => stackWith(props)).toThrow(InvalidTableConfigError);
    expect(() => stackWith(props)).toThrow(message);
    expect(() => stackWith(props)).toThrow('Stack/Blogs: ');
  });
});

describe('ShardedKeyspacesTable, at synthesis', () => {
  const refuses = (props: Partial<ShardedKeyspacesTableProps>, field: string) =>
    expect(() => stackWith(props)).toThrow(
      expect.objectContaining({ code: 'INVALID_TABLE_CONFIG', field: `Stack/Blogs: ${field}` }),
    );
  const columns = (...types: string[]) => ({
    regularColumns: types.map((cql, index) => ({ name: `c${index}`, cqlType: CqlType.of(cql) })),
  });

  test.each(['b', '_blogs', 'my-blogs', 'b'.repeat(49)])('rejects the table name %s', (tableName) => {
    refuses({ tableName }, 'tableName');
  });

  test.each(['system', 'System_Schema', 'system_schema_mcs'])('rejects the keyspace %s', (keyspaceName) => {
    refuses({ keyspaceName }, 'keyspaceName');
  });

  test.each(['strnig', 'list<strnig>', 'map<text>', 'frozen<list<int>', 'address', 'vector<float, 3>'])(
    'rejects the column type %s',
    (type) => refuses(columns(type), 'regularColumns.c0'),
  );

  test.each([
    'TEXT',
    'list<text>',
    'map<text, frozen<address>>',
    'tuple<int, text, float>',
    'frozen<map<text, set<int>>>',
  ])('accepts the column type %s', (type) => expect(() => stackWith(columns(type))).not.toThrow());

  test('rejects counters if the table also has other columns or a time to live', () => {
    refuses(columns('counter', 'text'), 'regularColumns.c1');
    refuses({ ...columns('counter', 'counter'), defaultTimeToLive: Duration.days(1) }, 'defaultTimeToLive');
    expect(() => stackWith(columns('counter', 'counter'))).not.toThrow();
  });

  test('rejects more columns than one INSERT can write', () => {
    const many = (count: number) => columns(...Array.from({ length: count }, () => 'int'));
    refuses(many(226), 'regularColumns');
    refuses({ ...many(167), defaultTimeToLive: Duration.days(1) }, 'regularColumns');
    expect(() => stackWith(many(225))).not.toThrow();
  });

  test('rejects a count for an invalid date, and normalizes how a valid date is written', () => {
    refuses({ shardCounts: ShardCounts.byValue({ '2020-02-30': 50 }, 1) }, 'shards.byValue');
    const { table, stack } = stackWith({ shardCounts: ShardCounts.byValue({ '2020-7-9': 50 }, 1) });
    expect(Object.keys(JSON.parse(stack.resolve(table.toConfigJson())).shards.byValue)).toEqual(['2020-07-09']);
  });
});

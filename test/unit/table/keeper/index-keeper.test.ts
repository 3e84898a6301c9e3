import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import {
  AttributeType,
  Billing,
  MultiRegionConsistency,
  StreamViewType,
  Table,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import {
  IndexKeeper,
  type IndexKeeperProps,
  type IShardedIndex,
  KeyShardedTable,
  ShardCounts,
  ShardedIndex,
  ShardedTable,
  type ShardedTableProps,
} from '../../../../lib';

const string = (name: string) => ({ name, type: AttributeType.STRING });
const byStatus = { indexName: 'byStatus', valueAttribute: string('status'), shardCounts: ShardCounts.uniform(4) };
const byTime = { indexName: 'byTime', sortKey: string('createdAt'), shardCounts: ShardCounts.uniform(2) };

function stackOf() {
  return new Stack(new App(), 'Test', { env: { account: '111111111111', region: 'us-east-1' } });
}

function keeper(props: Partial<IndexKeeperProps> = {}, tableProps: Partial<ShardedTableProps> = {}) {
  const stack = stackOf();
  const table = new ShardedTable(stack, 'Jobs', { partitionKey: string('jobId'), ...tableProps });
  const indexes = [table.addShardedIndex(byStatus), table.addShardedIndex(byTime)];
  const construct = new IndexKeeper(stack, 'Keeper', { indexes, ...props });
  return { stack, table, construct, template: () => Template.fromStack(stack) };
}

test('a table without a stream gets a stream with both images, and the keeper reads it from its beginning', () => {
  const found = keeper().template();
  found.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
    KeySchema: [{ AttributeName: 'jobId', KeyType: 'HASH' }],
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  found.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('Jobs'), 'StreamArn'] },
    StartingPosition: 'TRIM_HORIZON',
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    MaximumRetryAttempts: Match.absent(),
    MaximumRecordAgeInSeconds: Match.absent(),
  });
});

test.each(Object.values(StreamViewType))('a stream with the view type %s keeps this view type', (dynamoStream) => {
  keeper({}, { dynamoStream })
    .template()
    .hasResourceProperties('AWS::DynamoDB::GlobalTable', { StreamSpecification: { StreamViewType: dynamoStream } });
});

test('the function has the configurations of all indexes, and corrects items unless correct is false', () => {
  const variables = (props: Partial<IndexKeeperProps>) => {
    const functions = keeper(props).template().findResources('AWS::Lambda::Function');
    return Object.values(functions)[0]!.Properties.Environment.Variables;
  };
  const indexes = JSON.stringify(variables({}).EVEN_SHARDS_INDEXES);
  expect([indexes.includes('byStatus'), indexes.includes('byTime')]).toEqual([true, true]);
  expect(variables({}).EVEN_SHARDS_CORRECTS_ITEMS).toBe('true');
  expect(variables({ correct: false }).EVEN_SHARDS_CORRECTS_ITEMS).toBe('false');
  expect(variables({ sweepReadUnitsPerSecond: 50 }).EVEN_SHARDS_READ_UNITS_PER_SECOND).toBe('50');
});

test('a schedule invokes the function every minute, and its own table is deleted with it', () => {
  const found = keeper().template();
  found.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    Targets: [Match.objectLike({ Input: '{}', RetryPolicy: { MaximumRetryAttempts: 0 } })],
  });
  found.hasResource('AWS::DynamoDB::GlobalTable', {
    DeletionPolicy: 'Delete',
    Properties: {
      KeySchema: [
        { AttributeName: 'id', KeyType: 'HASH' },
        { AttributeName: 'item', KeyType: 'RANGE' },
      ],
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    },
  });
});

test('without its keeper, a table has no stream, and keeps its indexes', () => {
  const propertiesWith = (hasKeeper: boolean) => {
    const stack = stackOf();
    const index = new ShardedTable(stack, 'Jobs', { partitionKey: string('jobId') }).addShardedIndex(byStatus);
    if (hasKeeper) new IndexKeeper(stack, 'Keeper', { indexes: [index] });
    const [table] = Object.values(Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable')).filter(
      ({ Properties }) => Properties.GlobalSecondaryIndexes !== undefined,
    );
    return table!.Properties;
  };
  const { StreamSpecification, ...kept } = propertiesWith(true);
  expect(StreamSpecification).toBeDefined();
  expect(propertiesWith(false)).toEqual(kept);
});

describe('the metadata of the table', () => {
  const kept = (...keepers: { only: number; correct?: boolean }[]) => {
    const stack = stackOf();
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: string('jobId') });
    const indexes = [table.addShardedIndex(byStatus), table.addShardedIndex(byTime)];
    for (const [at, { only, correct }] of keepers.entries()) {
      new IndexKeeper(stack, `Keeper${at}`, { indexes: [indexes[only]!], ...(correct !== undefined && { correct }) });
    }
    const template = Template.fromStack(stack);
    return Object.values(template.findResources('AWS::DynamoDB::GlobalTable'))[0]!.Metadata['EvenShards::KeptIndexes'];
  };

  test('names the indexes of all keepers of the table', () => {
    expect(kept({ only: 1 }, { only: 0 })).toEqual(['byStatus', 'byTime']);
  });

  test('does not name the indexes of a keeper that only counts, because its items stay wrong', () => {
    expect(kept({ only: 0, correct: false })).toBeUndefined();
  });
});

describe('a table with replicas', () => {
  const replicas = [{ region: 'eu-west-1' }];

  test('is rejected, because a correction could undo a concurrent write of another region', () => {
    expect(keeper({}, { replicas }).template).toThrow(/Test\/Keeper: allWritersInRegion must be true.*replicas/);
  });

  test('is rejected if a replica is added after the keeper', () => {
    const { table, template } = keeper();
    table.addReplica(replicas[0]!);
    expect(template).toThrow(/Test\/Keeper: allWritersInRegion must be true/);
  });

  test('is rejected if it is a Table with replication regions', () => {
    const stack = stackOf();
    const table = new Table(stack, 'Table', { partitionKey: string('jobId'), replicationRegions: ['eu-west-1'] });
    const index = ShardedIndex.fromShardedIndexAttributes({ ...byStatus, table, tableKey: ['jobId'] });
    new IndexKeeper(stack, 'Keeper', { indexes: [index] });
    expect(() => Template.fromStack(stack)).toThrow(/Test\/Keeper: allWritersInRegion must be true/);
  });

  test('is accepted if all writers are in the region of the keeper', () => {
    expect(keeper({ allWritersInRegion: true }, { replicas }).template).not.toThrow();
  });

  test('is accepted with multi-Region strong consistency', () => {
    const strong = {
      replicas: [{ region: 'us-east-2' }, { region: 'us-west-2' }],
      multiRegionConsistency: MultiRegionConsistency.STRONG,
      billing: Billing.onDemand(),
    };
    expect(keeper({}, strong).template).not.toThrow();
  });
});

describe('indexes', () => {
  const imported = (stack: Stack, tableStreamArn?: string): IShardedIndex => {
    const tableArn = 'arn:aws:dynamodb:us-east-1:111111111111:table/jobs';
    const table = TableV2.fromTableAttributes(stack, 'Imported', {
      tableArn,
      ...(tableStreamArn && { tableStreamArn }),
    });
    return ShardedIndex.fromShardedIndexAttributes({ ...byStatus, table, tableKey: ['jobId'] });
  };

  test('may be of an imported table with the ARN of its stream', () => {
    const stack = stackOf();
    const streamArn = 'arn:aws:dynamodb:us-east-1:111111111111:table/jobs/stream/2026-01-01T00:00:00.000';
    new IndexKeeper(stack, 'Keeper', { indexes: [imported(stack, streamArn)] });
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::EventSourceMapping', { EventSourceArn: streamArn });
  });

  test.each([
    [undefined, 'table must be a table whose stream is on'],
    [
      'arn:aws:dynamodb:us-east-1:111111111111:table/other/stream/2026-01-01T00:00:00.000',
      'table.tableStreamArn must be the ARN of the stream of table jobs, got ',
    ],
    ['arn:aws:kinesis:us-east-1:111111111111:stream/jobs', 'table.tableStreamArn must be the ARN of the stream of'],
    ['jobs', 'table.tableStreamArn must be the ARN of the stream of table jobs, got '],
  ])('must not be of an imported table whose stream has the ARN %s', (arn, message) => {
    const stack = stackOf();
    const build = () => new IndexKeeper(stack, 'Keeper', { indexes: [imported(stack, arn)] });
    expect(build).toThrow(`Test/Keeper: ${message}`);
  });

  test('must not be a table that is sharded by its own key, because no update changes the key of an item', () => {
    const stack = stackOf();
    const table = new KeyShardedTable(stack, 'Table', {
      partitionKey: string('tenant'),
      sortKey: string('at'),
      shardCounts: ShardCounts.uniform(2),
    });
    const build = () => new IndexKeeper(stack, 'Keeper', { indexes: [table as unknown as IShardedIndex] });
    expect(build).toThrow(
      /indexes must be sharded indexes \(a keeper cannot keep a table by its own key.*KeyShardedTable/,
    );
  });

  test('must belong to one table', () => {
    const stack = stackOf();
    const [one, other] = ['One', 'Other'].map((id) =>
      new ShardedTable(stack, id, { partitionKey: string('jobId') }).addShardedIndex(byStatus),
    ) as [ShardedIndex, ShardedIndex];
    const build = () => new IndexKeeper(stack, 'Keeper', { indexes: [one, other] });
    expect(build).toThrow(/Test\/Keeper: indexes must be indexes of the table of byStatus/);
  });
});

test('an imported keeper has metrics', () => {
  const arn = 'arn:aws:lambda:us-east-1:111111111111:function:keeper';
  const found = IndexKeeper.fromFunctionArn(stackOf(), 'Keeper', arn);
  expect(found.metric('CorrectedItems')).toMatchObject({
    namespace: 'EvenShards',
    dimensions: { FunctionName: 'keeper' },
    statistic: 'Sum',
  });
});

import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { KeyLayout, ShardCounts, type ShardedIndex, ShardedTable, ShardingStrategy } from '../../../../lib';
import { checkShardedConfig } from '../../../../lib/core/sharded-index/config/check-sharded-config';

describe('ShardedIndex', () => {
  let app: App;
  let stack: Stack;
  let table: ShardedTable;
  beforeEach(() => {
    app = new App();
    stack = new Stack(app, 'EvenShards');
    table = new ShardedTable(stack, 'Jobs', {
      partitionKey: { name: 'tenant', type: AttributeType.STRING },
      sortKey: { name: 'jobId', type: AttributeType.STRING },
    });
  });

  /** The configuration as a deployed application reads it, the table being named "jobs". */
  function deployedConfig(index: ShardedIndex): unknown {
    new CfnOutput(stack, 'Config', { value: index.toConfigJson() });
    const { Value } = Template.fromStack(stack).findOutputs('Config').Config!;
    const [separator, parts] = Value['Fn::Join'];
    return JSON.parse(parts.map((part: unknown) => (typeof part === 'string' ? part : 'jobs')).join(separator));
  }

  test('has a table, a name and an ARN', () => {
    const index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });

    expect(index.table).toBe(table);
    expect(index.indexName).toBe('byTime');
    expect(stack.resolve(index.indexArn)).toEqual({
      'Fn::Join': ['', [stack.resolve(table.tableArn), '/index/byTime']],
    });
  });

  test('tells applications everything about an index by value', () => {
    const index = table.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      sortKey: { name: 'createdAt', type: AttributeType.STRING },
      tieBreakers: [{ name: 'priority', type: AttributeType.NUMBER }],
      shardCounts: ShardCounts.byValue({ succeeded: 35 }, 1),
    });

    const config = deployedConfig(index);
    expect(config).toEqual({
      tableName: 'jobs',
      indexName: 'byStatus',
      tableKey: ['tenant', 'jobId'],
      keyLayout: 'multi-attribute',
      valueAttribute: 'status',
      shardAttribute: 'byStatusShard',
      sortKeyAttributes: ['createdAt', 'priority'],
      shards: { default: { write: 1, read: 1 }, byValue: { succeeded: { write: 35, read: 35 } } },
      strategy: 'calculated',
    });
    expect(() => checkShardedConfig(config as never)).not.toThrow();
  });

  test('tells applications everything about an index of the whole table', () => {
    const index = table.addShardedIndex({
      indexName: 'byTime',
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
      strategy: ShardingStrategy.RANDOM,
      shardCounts: ShardCounts.uniform(5),
    });

    const config = deployedConfig(index);
    expect(config).toEqual({
      tableName: 'jobs',
      indexName: 'byTime',
      tableKey: ['tenant', 'jobId'],
      keyLayout: 'single-attribute',
      shardAttribute: 'byTimeShard',
      sortKeyAttributes: [],
      shards: { default: { write: 5, read: 5 } },
      strategy: 'random',
    });
    expect(() => checkShardedConfig(config as never)).not.toThrow();
  });

  test('tells applications of another stack the name of the table', () => {
    const index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });
    const other = new Stack(app, 'Other');
    new StringParameter(other, 'Config', { stringValue: index.toConfigJson() });

    const [parameter] = Object.values(Template.fromStack(other).findResources('AWS::SSM::Parameter'));
    expect(parameter!.Properties.Value['Fn::Join'][1][1]).toEqual({
      'Fn::ImportValue': expect.stringMatching(/^EvenShards:ExportsOutputRefJobs/),
    });
  });
});

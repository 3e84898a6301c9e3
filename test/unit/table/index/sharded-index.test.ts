import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { ShardCounts, type ShardedIndex, ShardedTable } from '../../../../lib';
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

  /** The configuration of a deployed application, with the table name "jobs". */
  function deployedConfig(index: ShardedIndex): unknown {
    new CfnOutput(stack, 'Config', { value: index.toConfigJson() });
    const { Value } = Template.fromStack(stack).findOutputs('Config').Config!;
    const [separator, parts] = Value['Fn::Join'];
    return JSON.parse(parts.map((part: unknown) => (typeof part === 'string' ? part : 'jobs')).join(separator));
  }

  test('emits the complete configuration of an index with counts by value', () => {
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
});

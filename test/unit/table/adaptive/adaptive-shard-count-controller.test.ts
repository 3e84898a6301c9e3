import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { AdaptiveShardCountController, ShardCounts, ShardedTable, ShardMonitoring } from '../../../../lib';

const ENV = { account: '111111111111', region: 'eu-west-1' };

function stackWith(shardCounts = ShardCounts.adaptive()) {
  const stack = new Stack(new App(), 'EvenShards', { env: ENV });
  const table = new ShardedTable(stack, 'Orders', {
    partitionKey: { name: 'orderId', type: AttributeType.STRING },
    tableName: 'orders',
  });
  const index = table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    shardCounts,
  });
  return { stack, index };
}

describe('AdaptiveShardCountController', () => {
  test('runs every minute, and makes no alarm', () => {
    const { stack, index } = stackWith();
    new AdaptiveShardCountController(stack, 'Controller', { index });
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' });
    template.resourceCountIs('AWS::Events::Rule', 1);
    template.resourceCountIs('AWS::CloudWatch::Alarm', 0);
  });

  test('rejects an index with fixed shard counts', () => {
    const { stack, index } = stackWith(ShardCounts.uniform(4));
    expect(() => new AdaptiveShardCountController(stack, 'Controller', { index })).toThrow(
      /INVALID_INDEX_CONFIG.*ShardCounts\.adaptive/,
    );
  });

  test('fails synthesis if the counts are too long for the environment of a function', () => {
    const initialByValue = Object.fromEntries(Array.from({ length: 300 }, (_, each) => [`value-${each}`, 2]));
    const { stack, index } = stackWith(ShardCounts.adaptive({ initialByValue }));
    new AdaptiveShardCountController(stack, 'Controller', { index });

    expect(() => Template.fromStack(stack)).toThrow(
      /EvenShards\/Controller: index must be at most 4096 bytes of configuration, .*set shard counts for fewer values/,
    );
  });

  test('gets alarms and graphs together with its index', () => {
    const { stack, index } = stackWith();
    const shardCountController = new AdaptiveShardCountController(stack, 'Controller', { index });
    const alarms = new ShardMonitoring(stack, 'Monitoring').addIndex(index, { shardCountController });
    expect(Object.keys(alarms).sort()).toEqual(['controllerStopped', 'valuesAtMaximum', 'writeThrottles']);
    Template.fromStack(stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ValuesAtMaximum',
      AlarmDescription: {
        'Fn::Join': [
          '',
          Match.arrayWith([
            Match.stringLikeRegexp('Increase the maximum of its ShardCounts.adaptive.*#values-at-the-maximum$'),
          ]),
        ],
      },
    });
  });
});

test('grants.reportWrites rejects an index with fixed shard counts', () => {
  const { stack, index } = stackWith(ShardCounts.uniform(4));
  const writer = new Role(stack, 'Writer', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  expect(() => index.grants.reportWrites(writer)).toThrow(/INVALID_INDEX_CONFIG/);
});

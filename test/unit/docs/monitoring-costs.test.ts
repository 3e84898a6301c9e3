import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { ShardCounts, ShardedTable, ShardMonitoring, type StreamMonitoringOptions, UniformStream } from '../../../lib';

const guide = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'guides', 'monitoring.md'), 'utf8');

/** The price of one alarm metric for a month in US East (N. Virginia). Source: the price list of CloudWatch. */
const ALARM_METRIC_CENTS = 10;
const CUSTOM_METRIC_CENTS = 30;

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;

function threeOfEach(optionsOf: (stream: UniformStream) => StreamMonitoringOptions): Template {
  const stack = new Stack(new App(), 'Three');
  const monitoring = new ShardMonitoring(stack, 'Monitoring');
  const table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
  for (const number of [1, 2, 3]) {
    const stream = new UniformStream(stack, `Stream${number}`, { shardCount: 64 });
    monitoring.addStream(stream, optionsOf(stream));
    const valueAttribute = { name: `status${number}`, type: AttributeType.STRING };
    monitoring.addIndex(
      table.addShardedIndex({ indexName: `by${number}`, valueAttribute, shardCounts: ShardCounts.uniform(8) }),
    );
  }
  return Template.fromStack(stack);
}

describe('the costs in the guide to monitoring', () => {
  test.each<[string, (stream: UniformStream) => StreamMonitoringOptions]>([
    ['streams of a fixed count', () => ({})],
    ['with `reconciliation`', (stream) => ({ reconciliation: stream.addReconciliation() })],
    [
      'with `autoScaling`, its own alarms included',
      (stream) => ({ autoScaling: stream.autoScaleShardCount({ minCapacity: 4, maxCapacity: 64 }) }),
    ],
  ])('agree with the number of alarms: %s', (row, optionsOf) => {
    const alarms = Object.values(threeOfEach(optionsOf).findResources('AWS::CloudWatch::Alarm'));
    const metrics = alarms.flatMap(({ Properties }) =>
      Properties.Metrics ? Properties.Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat) : [1],
    );
    expect(guide).toContain(
      `| ${row} | ${alarms.length} | ${metrics.length} | ${dollars(metrics.length * ALARM_METRIC_CENTS)} |`,
    );
  });

  test('agree with the number of shard-level metrics', () => {
    const streams = Object.values(threeOfEach(() => ({})).findResources('AWS::Kinesis::Stream'));
    const metrics = streams.reduce(
      (sum, { Properties }) => sum + Properties.ShardCount * Properties.DesiredShardLevelMetrics.length,
      0,
    );
    expect(guide).toContain(
      `| shard-level metrics of 3 x 64 shards | | ${metrics} | ${dollars(metrics * CUSTOM_METRIC_CENTS)} |`,
    );
  });
});

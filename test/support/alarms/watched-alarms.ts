import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  AdaptiveShardCountController,
  FanOutQueryFunction,
  IndexKeeper,
  OrderedProducerFunction,
  OrderedStreamConsumer,
  ShardCounts,
  ShardedTable,
  ShardMonitoring,
  StreamConsumerMetrics,
  UniformStream,
} from '../../../lib';
import type { AlarmProperties, MetricIdentity } from '../../../lib/testing/parsed-alarm';
import { CachedStack } from '../stacks/cached-stack';
import { RelayStack } from '../stacks/relay-stack';

/** The metrics that an alarm watches, without duplicates. */
export function metricsOf({ Metrics, ...metric }: AlarmProperties): MetricIdentity[] {
  const all = Metrics?.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : [])) ?? [metric];
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}

/** Metric values by metric name, or by namespace and name where two metrics have the same name. */
export type Measured = Readonly<Record<string, number | undefined>>;

export function measuredOf({ Namespace, MetricName }: MetricIdentity, measured: Measured): number | undefined {
  const full = `${Namespace} ${MetricName}`;
  return full in measured ? measured[full] : measured[MetricName as string];
}

/** All alarms of `ShardMonitoring`, by their logical ids without hashes. */
export function watchedAlarms(): Map<string, AlarmProperties> {
  const app = new App();
  const stack = new Stack(app, 'Watched');
  const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
  const other = new UniformStream(stack, 'Other', { shardCount: 4 });
  const table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
  const index = table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    shardCounts: ShardCounts.adaptive(),
  });
  const shardCountController = new AdaptiveShardCountController(stack, 'Controller', { index });
  const consumer = new lambda.Function(stack, 'Consumer', {
    runtime: lambda.Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: lambda.Code.fromInline('exports.handler = async () => {}'),
  });
  const orders = new OrderedStreamConsumer(stack, 'Orders', {
    handler: consumer,
    stream,
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
  });
  const monitoring = new ShardMonitoring(stack, 'Monitoring', { dashboard: false });
  monitoring.addStream(stream, { autoScaling: stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 8 }) });
  monitoring.addStream(other, {
    reconciliation: other.addReconciliation(),
    writeThrottleAlarm: false,
    iteratorAgeAlarm: false,
  });
  monitoring.addConsumer(stream, StreamConsumerMetrics.fromFunction(consumer));
  monitoring.addConsumer(stream, StreamConsumerMetrics.fromOrderedConsumer(orders));
  monitoring.addConsumer(stream, StreamConsumerMetrics.fromEnhancedFanOut(stream, 'audit'));
  monitoring.addIndex(index, { shardCountController });
  monitoring.addIndexKeeper(new IndexKeeper(stack, 'Keeper', { indexes: [index] }));
  monitoring.addQuery(new FanOutQueryFunction(stack, 'Query', { indexes: [index] }));
  monitoring.addProducer(new OrderedProducerFunction(stack, 'Producer', { stream }));
  monitoring.addDeadLetterQueue(new Queue(stack, 'Dead'));
  const outbox = new RelayStack(app);
  outbox.monitoring.addOutbox(outbox.relay);
  const resources = [stack, outbox, new CachedStack(app)].map((each) =>
    Template.fromStack(each).findResources('AWS::CloudWatch::Alarm'),
  );
  const named = resources
    .flatMap((alarms) => Object.entries(alarms))
    .filter(([id]) => /^(Monitoring|Controller)/.test(id));
  return new Map(
    named.map(([id, { Properties }]) => [
      id.replaceAll(/[0-9A-F]{8}|Monitoring|Watched|Outbox|Cached/g, ''),
      Properties,
    ]),
  );
}

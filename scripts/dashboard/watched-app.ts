import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  FanOutQueryFunction,
  OrderedProducerFunction,
  ShardCounts,
  ShardedTable,
  ShardMonitoring,
  UniformStream,
} from '../../lib';
import type { AlarmProperties } from '../../lib/testing';

export const SHARD_COUNT = 4;

/** One widget of a dashboard's body, as CloudWatch reads it. */
export interface Widget {
  readonly type: 'text' | 'metric' | 'alarm';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly metrics?: unknown[][];
    readonly annotations?: { readonly horizontal: readonly { readonly value: number; readonly label: string }[] };
    readonly alarms?: readonly string[];
  };
}

export interface WatchedApp {
  readonly widgets: readonly Widget[];
  /** The alarms by their names. */
  readonly alarms: ReadonlyMap<string, AlarmProperties>;
}

/** Synthesizes a small app with all the constructs that a dashboard shows. */
export function synthesize(): WatchedApp {
  const stack = new Stack(new App(), 'Orders');
  const events = new UniformStream(stack, 'Events', { shardCount: SHARD_COUNT });
  const autoScaling = events.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });
  const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
  const byStatus = table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    sortKey: { name: 'createdAt', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(8),
  });
  const monitoring = new ShardMonitoring(stack, 'Monitoring');
  monitoring.addStream(events, { autoScaling, reconciliation: events.addReconciliation() });
  monitoring.addProducer(new OrderedProducerFunction(stack, 'Writer', { stream: events }));
  monitoring.addIndex(byStatus);
  monitoring.addQuery(new FanOutQueryFunction(stack, 'Reader', { indexes: [byStatus] }));
  monitoring.addDeadLetterQueue(new Queue(stack, 'DeadLetters'));

  const template = Template.fromStack(stack);
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
  return {
    widgets: JSON.parse(deployed(dashboard!.Properties.DashboardBody) as string).widgets,
    alarms: new Map(alarms.map(([id, { Properties }]) => [nameOf(id), deployed(Properties) as AlarmProperties])),
  };
}

/** Replaces references with names, as a deployment does. */
function deployed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deployed);
  if (typeof value !== 'object' || value === null) return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, unknown>;
  if (Ref !== undefined) return nameOf(Ref as string);
  if (attribute !== undefined) return nameOf((attribute as string[])[0]!);
  if (join !== undefined) return (join as [string, unknown[]])[1].map(deployed).join('');
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, deployed(each)]));
}

/** A logical id without the hash that CDK appends. */
function nameOf(logicalId: string): string {
  return logicalId.replace(/^Monitoring(Orders)?/, '').replaceAll(/(Function)?[0-9A-F]{8}/g, '');
}

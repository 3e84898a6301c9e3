import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as shards from 'cdk-even-shards';
import type { Written } from './written';

type Resource = { Type: string; Properties: Record<string, never>; Metadata?: Record<string, unknown> };
type Config = Record<string, unknown>;

export async function template(): Promise<Written> {
  const folder = mkdtempSync(join(tmpdir(), 'golden-'));
  try {
    const { configs, metadata } = configurations(join(folder, 'configurations'));
    const versionOf = (config: Config) => (config.version === undefined ? 1 : config.version);
    const indexes = Object.entries(configs.indexes);
    const ofVersion = (version: number) =>
      Object.fromEntries(indexes.filter(([, { config }]) => versionOf(config) === version));
    return {
      'index configuration@1': ofVersion(1),
      'index configuration@2': ofVersion(2),
      'Keyspaces configuration': configs.tables,
      'sharding metadata': metadata,
      names: await names(join(folder, 'names')),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The configurations and metadata of tables with fixed names. */
function configurations(outdir: string) {
  const app = new App({ outdir, analyticsReporting: false });
  const stack = new Stack(app, 'Golden', { env: { account: '111111111111', region: 'eu-west-1' } });
  const reader = new lambda.Function(stack, 'Reader', {
    runtime: lambda.Runtime.NODEJS_22_X,
    handler: 'index.handler',
    code: lambda.Code.fromInline('exports.handler = async () => {}'),
  });
  const text = (name: string) => ({ name, type: AttributeType.STRING });
  const jobs = new shards.ShardedTable(stack, 'Jobs', { tableName: 'Jobs', partitionKey: text('jobId') });
  const status = { valueAttribute: text('status'), sortKey: text('createdAt') };
  const counts = shards.ShardCounts.byValue({ succeeded: 35, '7': 2 }, 1);
  const indexes = [
    jobs.addShardedIndex({
      ...status,
      indexName: 'byStatus',
      tieBreakers: [text('jobId')],
      shardCounts: counts.alsoReading(shards.ShardCounts.byValue({ succeeded: 70 }, 2)),
    }),
    jobs.addShardedIndex({
      indexName: 'byTime',
      sortKey: text('createdAt'),
      keyLayout: shards.KeyLayout.SINGLE_ATTRIBUTE,
      strategy: shards.ShardingStrategy.RANDOM,
      shardCounts: shards.ShardCounts.uniform(5),
    }),
    jobs.addShardedIndex({
      indexName: 'byOwner',
      valueAttribute: text('owner'),
      keyLayout: shards.KeyLayout.SINGLE_ATTRIBUTE,
      shardCounts: shards.ShardCounts.uniform(2),
      firstShard: 1,
      separator: '-',
      shardWidth: 2,
    }),
    jobs.addShardedIndex({
      ...status,
      indexName: 'byPriority',
      valueAttribute: { name: 'priority', type: AttributeType.NUMBER },
      shardCounts: shards.ShardCounts.adaptive({ initial: 1, initialByValue: { '1': 3 }, maximum: 32 }),
    }),
  ];
  for (const index of indexes) index.bindReader(reader);
  const invoices = new shards.KeyShardedTable(stack, 'Invoices', {
    tableName: 'Invoices',
    partitionKey: text('invoice'),
    sortKey: text('transaction'),
    shardCounts: shards.ShardCounts.uniform(6).since(shards.ShardCounts.uniform(5)),
  });
  const posts = new shards.ShardedKeyspacesTable(stack, 'Posts', {
    keyspaceName: 'blogs',
    tableName: 'posts',
    partitionKey: [{ name: 'day', cqlType: shards.CqlType.TEXT }],
    clusteringColumns: [
      { name: 'at', cqlType: shards.CqlType.TIMESTAMP, order: shards.ClusteringOrder.DESCENDING },
      { name: 'id', cqlType: shards.CqlType.BIGINT },
    ],
    regularColumns: [{ name: 'body', cqlType: shards.CqlType.TEXT }],
    shardCounts: shards.ShardCounts.byValue({ '2026-12-01': 4, '2026-11-30': 3 }, 2),
    calculatedFrom: ['id'],
  });
  const assembly = app.synth();
  const resources: Record<string, Resource> = assembly.getStackByName('Golden').template.Resources;
  const resolved = (json: string): Config => JSON.parse(plainText(stack.resolve(json)));
  const all = [...indexes, invoices];
  const nameOf = ({ indexName, tableName }: Config) => String(indexName ?? tableName);
  const ofIndexes = all.map((each) => resolved(each.toConfigJson())).map((config) => [nameOf(config), { config }]);
  const metadata = Object.entries(resources).flatMap(([id, { Metadata = {} }]) => {
    const own = Object.entries(Metadata).filter(([name]) => name.startsWith('EvenShards::'));
    return own.length === 0 ? [] : [[id, { metadata: Object.fromEntries(own) }]];
  });
  return {
    configs: {
      indexes: Object.fromEntries(ofIndexes) as Record<string, { config: Config }>,
      tables: { posts: { config: resolved(posts.toConfigJson()) } },
    },
    metadata: Object.fromEntries(metadata),
  };
}

/** Synthesizes a table with an index of this shard count. Returns the configuration of the index. */
export function synthesizeTables(outdir: string, shardCount: number) {
  const app = new App({ outdir, analyticsReporting: false });
  const stack = new Stack(app, 'Golden');
  const text = (name: string) => ({ name, type: AttributeType.STRING });
  const jobs = new shards.ShardedTable(stack, 'Jobs', { tableName: 'Jobs', partitionKey: text('jobId') });
  const index = jobs.addShardedIndex({
    indexName: 'byOwner',
    valueAttribute: text('owner'),
    keyLayout: shards.KeyLayout.SINGLE_ATTRIBUTE,
    shardCounts: shards.ShardCounts.uniform(shardCount),
    firstShard: 1,
    separator: '-',
    shardWidth: 2,
  });
  const config: Config = JSON.parse(plainText(stack.resolve(index.toConfigJson())));
  app.synth();
  return { config };
}

/** The text of a template value. The names of resources without a fixed name are replaced by their logical ids. */
function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  const { Ref, 'Fn::Join': join, 'Fn::Select': select } = Object(value);
  if (Ref !== undefined) return String(Ref);
  if (join !== undefined) return join[1].map(plainText).join(join[0]);
  return JSON.stringify(select ?? value).replaceAll('"', "'");
}

/** The names in the template of an app that uses every construct. */
async function names(outdir: string) {
  process.env.CDK_OUTDIR = outdir;
  require('../../test/conformance/languages/every-method');
  const { Resources } = JSON.parse(readFileSync(join(outdir, 'Languages.template.json'), 'utf8'));
  const resources: Resource[] = Object.values(Resources);
  const of = (type: string) => resources.filter(({ Type }) => Type === type).map(({ Properties }) => Properties);
  const environment = of('AWS::Lambda::Function').flatMap(({ Environment }) =>
    Object.keys(Object(Object(Environment).Variables)),
  );
  const alarmMetrics = of('AWS::CloudWatch::Alarm').flatMap(metricsOfAlarm);
  const alarmNames = of('AWS::CloudWatch::Alarm').flatMap(({ AlarmName }) =>
    AlarmName === undefined ? [] : [plainText(AlarmName)],
  );
  const dashboards = of('AWS::CloudWatch::Dashboard').flatMap(({ DashboardBody }) =>
    metricsOfDashboard(plainText(DashboardBody)),
  );
  const sorted = (texts: string[]) => [...new Set(texts)].sort();
  return {
    'environment variables': sorted(environment),
    'metrics of alarms': sorted(alarmMetrics),
    'names of alarms': sorted(alarmNames),
    'metrics of dashboards': sorted(dashboards),
  };
}

interface AlarmMetric {
  Namespace?: string;
  MetricName?: string;
  Dimensions?: { Name: string }[];
  Metrics?: { MetricStat?: { Metric: AlarmMetric } }[];
}

function metricsOfAlarm(alarm: object): string[] {
  const { Namespace, MetricName, Dimensions = [], Metrics = [] } = alarm as AlarmMetric;
  const own =
    MetricName === undefined
      ? []
      : [
          metricText(
            Namespace,
            MetricName,
            Dimensions.map(({ Name }) => Name),
          ),
        ];
  return [
    ...own,
    ...Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : metricsOfAlarm(MetricStat.Metric))),
  ];
}

/** A metric of a dashboard is an array: the namespace, the metric, and then each dimension and its value. */
function metricsOfDashboard(body: string): string[] {
  const { widgets }: { widgets: { properties?: { metrics?: unknown[][] } }[] } = JSON.parse(body);
  return widgets.flatMap(({ properties }) =>
    (properties?.metrics ?? []).flatMap((metric) => {
      const [namespace, name, ...dimensions] = metric.filter((part) => typeof part === 'string') as string[];
      return name === undefined
        ? []
        : [
            metricText(
              namespace,
              name,
              dimensions.filter((_, n) => n % 2 === 0),
            ),
          ];
    }),
  );
}

function metricText(namespace: string | undefined, name: string, dimensions: readonly string[]): string {
  return `${namespace} ${name} by ${[...dimensions].sort().join(', ')}`;
}

import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import {
  CqlType,
  DaxCluster,
  KeyShardedTable,
  ShardCounts,
  ShardedKeyspacesTable,
  ShardMonitoring,
  type ShardMonitoringProps,
} from '../../../lib';

/** A table that is sharded by its own key, a cluster of DAX in front of it, and a table of Amazon Keyspaces. */
function watched(props: ShardMonitoringProps = {}) {
  const stack = new Stack(new App(), 'EvenShards');
  const table = new KeyShardedTable(stack, 'Invoices', {
    partitionKey: { name: 'InvoiceNumber', type: AttributeType.STRING },
    sortKey: { name: 'ClientTransactionId', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(5),
  });
  const cluster = new DaxCluster(stack, 'Dax', { vpc: new Vpc(stack, 'Vpc'), tables: [table] });
  const blogs = new ShardedKeyspacesTable(stack, 'Blogs', {
    keyspaceName: 'tracker',
    tableName: 'blogs',
    partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
    shardCounts: ShardCounts.uniform(5),
  });
  return { stack, table, blogs, cluster, monitoring: new ShardMonitoring(stack, 'Monitoring', props) };
}

test('the alarms of tables and of a DAX cluster have the given thresholds', () => {
  const { table, blogs, cluster, monitoring } = watched();
  const options = { maxWriteThrottles: 10, maxReadThrottles: 20 };
  const ofCluster = { maxThrottledRequests: 5, maxFaults: 6, maxCpuUtilizationPercent: 70 };
  const thresholds = (alarms: object) =>
    Object.fromEntries(Object.entries(alarms).map(([name, alarm]) => [name, alarm.toAnnotation().value]));
  for (const alarms of [monitoring.addTable(table, options), monitoring.addKeyspacesTable(blogs, options)]) {
    expect(thresholds(alarms)).toEqual({ writeThrottles: 10, readThrottles: 20 });
  }
  expect(thresholds(monitoring.addDaxCluster(cluster, ofCluster))).toEqual({
    throttles: 5,
    faults: 6,
    cpu: 70,
    memory: 95,
  });
});

test('the alarms of a table use the metrics of the table, not the metrics of its indexes', () => {
  const { stack, table, monitoring } = watched();
  monitoring.addTable(table);
  const alarms = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm'));
  const metrics = alarms.flatMap(({ Properties }) =>
    Properties.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: object } }) => MetricStat?.Metric ?? []),
  );
  expect(metrics).toHaveLength(4);
  for (const { Namespace, Dimensions } of metrics) {
    expect(Namespace).toBe('AWS/DynamoDB');
    expect(Dimensions).toEqual([{ Name: 'TableName', Value: expect.anything() }]);
  }
});

test('each alarm of a table can be switched off separately', () => {
  const { table, blogs, monitoring } = watched();
  const off = { writeThrottleAlarm: false, readThrottleAlarm: false };
  expect([monitoring.addTable(table, off), monitoring.addKeyspacesTable(blogs, off)]).toEqual([{}, {}]);
});

/** Source: the Amazon Keyspaces developer guide, "Amazon Keyspaces metrics and dimensions". */
test('the write alarm of a Keyspaces table uses the metrics of the write operations, and the read alarm the metrics of SELECT', () => {
  const { stack, blogs, monitoring } = watched();
  monitoring.addKeyspacesTable(blogs);
  const alarms = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm'));
  const operations = alarms.map(({ Properties }) =>
    Properties.Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: Record<string, unknown> } }) => {
      if (MetricStat === undefined) return [];
      const { Namespace, MetricName, Dimensions } = MetricStat.Metric;
      const values = (Dimensions as { Name: string; Value: string }[]).map(({ Name, Value }) => `${Name}=${Value}`);
      expect(Namespace).toBe('AWS/Cassandra');
      expect(values).toEqual(expect.arrayContaining(['Keyspace=tracker', 'TableName=blogs']));
      return [[MetricName, ...values.filter((value) => value.startsWith('Operation='))].join(' ')];
    }),
  );
  const refused = 'StoragePartitionThroughputCapacityExceeded Operation=';
  expect(operations.map((each) => each.sort())).toEqual([
    ['ConsumedWriteCapacityUnits', ...['DELETE', 'INSERT', 'UPDATE'].map((operation) => refused + operation)],
    ['ConsumedReadCapacityUnits', `${refused}SELECT`],
  ]);
});

/**
 * Source: the DynamoDB developer guide, "Viewing DAX metrics and dimensions". Source of the throttling metrics: AWS
 * re:Post, "fix-dax-throttling".
 */
const METRICS_OF_DAX = [
  'CPUUtilization',
  'CacheMemoryUtilization',
  'ErrorRequestCount',
  'EvictedSize',
  'FaultRequestCount',
  'ItemCacheHits',
  'ItemCacheMisses',
  'QueryCacheHits',
  'QueryCacheMisses',
  'ThrottledRequestCount',
];

test('the graphs of DAX have metrics that AWS documents, and the cluster as their dimension', () => {
  const { stack, cluster, monitoring } = watched();
  monitoring.addDaxCluster(cluster);
  const template = JSON.stringify(Template.fromStack(stack).toJSON());
  const drawn = [...template.matchAll(/AWS\/DAX\\",\\"(\w+)\\",\\"(\w+)\\"/g)].map(([, name, dimension]) => [
    name,
    dimension,
  ]);
  expect(new Set(drawn.map(([name]) => name))).toEqual(new Set(METRICS_OF_DAX));
  expect(new Set(drawn.map(([, dimension]) => dimension))).toEqual(new Set(['ClusterId']));
});

test('ShardMonitoring with alarms: false creates no alarms for a table and a DAX cluster', () => {
  const { table, cluster, monitoring } = watched({ alarms: false });
  expect([monitoring.addTable(table), monitoring.addDaxCluster(cluster)]).toEqual([{}, {}]);
});

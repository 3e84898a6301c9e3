// Uses features that can fail in a single language. The apps of the other languages repeat this app line by line.
import * as cdk from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as shards from 'cdk-even-shards';

const app = new cdk.App({ analyticsReporting: false });
const stack = new cdk.Stack(app, 'Languages', { env: { account: '111111111111', region: 'eu-west-1' } });
const text = (name: string) => ({ name, type: dynamodb.AttributeType.STRING });
const role = new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });

// a nested struct, and the return value of a method
const events = new shards.UniformStream(stack, 'Events', {
  shardCount: 4,
  expectedTraffic: { recordsPerSecond: 100, bytesPerSecond: 1000, keys: 50 },
  deployedShardCount: 2,
  reshardingProvider: new shards.StreamReshardingProvider(stack, 'Provider', { timeout: cdk.Duration.minutes(2) }),
});
const reconciliation = events.addReconciliation({ repair: false });
events.produceGrants.produce(role);

// an interface of the CDK, and an interface of the library
const clicks = kinesis.Stream.fromStreamArn(stack, 'Clicks', 'arn:aws:kinesis:eu-west-1:111111111111:stream/clicks');
shards.StreamReshardGrants.fromStream(clicks).reshard(role);
const imported = shards.OrderedProducerFunction.fromFunctionAttributes(stack, 'Imported', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:producer',
  sameEnvironment: true,
});
imported.grantInvoke(role);

// maps whose values are numbers or any type, lists of structs, enumerations
const table = new shards.ShardedTable(stack, 'Table', {
  partitionKey: text('jobId'),
  dynamoStream: dynamodb.StreamViewType.NEW_IMAGE,
});
const byStatus = table.addShardedIndex({
  indexName: 'byStatus',
  valueAttribute: text('status'),
  sortKey: text('createdAt'),
  tieBreakers: [text('jobId')],
  keyLayout: shards.KeyLayout.MULTI_ATTRIBUTE,
  shardCounts: shards.ShardCounts.byValue({ succeeded: 35, failed: 10, '7': 2 }, 1).alsoReading(
    shards.ShardCounts.uniform(2),
  ),
});
const producer = new shards.OrderedProducerFunction(stack, 'Producer', { stream: clicks, sequence: true });
producer.addTableStream({
  table,
  filters: [lambda.FilterCriteria.filter({ eventName: lambda.FilterRule.isEqual('INSERT') })],
});
new cdk.CfnOutput(stack, 'Config', { value: byStatus.toConfigJson() });
new shards.ShardedKeyspacesTable(stack, 'Posts', {
  keyspaceName: 'blog',
  tableName: 'posts',
  partitionKey: [],
  clusteringColumns: [{ name: 'at', cqlType: shards.CqlType.TIMESTAMP, order: shards.ClusteringOrder.DESCENDING }],
  regularColumns: [{ name: 'tags', cqlType: shards.CqlType.of('set<text>') }],
  shardCounts: shards.ShardCounts.uniform(4),
  billing: shards.KeyspacesBilling.onDemand(),
});

// lists of constructs, and omitted options
const query = new shards.FanOutQueryFunction(stack, 'Query', { indexes: [byStatus] });
const monitoring = new shards.ShardMonitoring(stack, 'Monitoring', { dashboardName: 'shards' });
monitoring.addStream(events, { reconciliation });
monitoring.addProducer(producer);
monitoring.addProducer(imported, { maxFailures: 10 });
monitoring.addQuery(query);
const metrics: cloudwatch.IMetric[] = [
  query.metricPages({ period: cdk.Duration.minutes(1) }),
  producer.metricUserRecordsFailedByReason('RECORD_REJECTED'),
  shards.StreamConsumerMetrics.fromPolling(events).metricMillisBehindLatest(),
];
new cloudwatch.Dashboard(stack, 'Dashboard').addWidgets(new cloudwatch.GraphWidget({ left: metrics }));

// errors with their codes, from a constructor and from a method
const refused = (code: string, act: () => unknown) => {
  try {
    act();
  } catch (error) {
    if ((error as Error).message.includes(`[${code}] `)) return;
  }
  throw new Error(`not rejected with ${code}`);
};
refused('INVALID_SHARD_COUNT', () => new shards.UniformStream(new cdk.Stack(), 'None', { shardCount: 0 }));
refused('INVALID_SHARD_COUNT', () => shards.ShardCounts.uniform(10_001));

app.synth();

// Uses every public construct and every public method. The translator of jsii creates the same program in Python. The translator
// does not translate functions, so this file is a list of statements.
import * as cdk from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sources from 'aws-cdk-lib/aws-lambda-event-sources';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import * as shards from 'cdk-even-shards';

const app = new cdk.App({ analyticsReporting: false });
const stack = new cdk.Stack(app, 'Languages', { env: { account: '111111111111', region: 'eu-west-1' } });
const application = new lambda.Function(stack, 'Application', {
  runtime: lambda.Runtime.NODEJS_22_X,
  handler: 'index.handler',
  code: lambda.Code.fromInline('exports.handler = async () => {}'),
});
const role = new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });

// streams
const provider = new shards.StreamReshardingProvider(stack, 'Provider', { timeout: cdk.Duration.minutes(2) });
const events = new shards.UniformStream(stack, 'Events', {
  shardCount: 4,
  hashBuckets: 64,
  expectedTraffic: { recordsPerSecond: 100, bytesPerSecond: 1000, keys: 50 },
  deployedShardCount: 2,
  reshardingProvider: provider,
});
const reconciliation = events.addReconciliation({ repair: false });
events.produceGrants.produce(role);
const busy = new shards.UniformStream(stack, 'Busy', { shardCount: 2 });
const scaling = busy.autoScaleShardCount({ minCapacity: 1, maxCapacity: 8, targetUtilizationPercent: 60 });
busy.reshardGrants.inspect(role);
const clicks = kinesis.Stream.fromStreamArn(stack, 'Clicks', 'arn:aws:kinesis:eu-west-1:111111111111:stream/clicks');
const resharding = new shards.StreamResharding(stack, 'Resharding', { stream: clicks, shardCount: 3, provider });
new cdk.CfnOutput(stack, 'OpenShardCount', { value: cdk.Token.asString(resharding.openShardCount) });
new shards.StreamReconciliation(stack, 'Reconciliation', { stream: clicks, shardCount: 3, repair: true });
const views = shards.UniformStream.fromUniformStreamAttributes(stack, 'Views', {
  streamArn: 'arn:aws:kinesis:eu-west-1:111111111111:stream/views',
  hashBuckets: 64,
});
new shards.StreamAutoScaling(stack, 'Scaling', { stream: views, minCapacity: 2, maxCapacity: 4 });
shards.StreamProduceGrants.fromStream(clicks).produce(role);
const reshardGrants = shards.StreamReshardGrants.fromStream(clicks);
reshardGrants.inspect(role);
reshardGrants.reshard(role);
reshardGrants.scale(role);

// hash keys
const registry = new shards.HashKeyRegistry(stack, 'Registry', { stream: events });
const registryGrants = registry.grants;
registryGrants.administer(role);
registryGrants.allocate(role);
registryGrants.query(role);
registryGrants.read(role);
const importedRegistry = shards.HashKeyRegistry.fromHashKeyRegistryAttributes(stack, 'ImportedRegistry', {
  stream: clicks,
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:registry',
  tableArn: 'arn:aws:dynamodb:eu-west-1:111111111111:table/registry',
});

// producers
const producer = new shards.OrderedProducerFunction(stack, 'Producer', {
  stream: events,
  aggregation: true,
  sequence: true,
  hashKeyRegistry: registry,
  allocateHashKeys: true,
  requestTimeout: cdk.Duration.seconds(3),
});
producer.grantInvoke(role);
const fifo = producer.addFifoQueue('Queue', { maxReceiveCount: 5, visibilityTimeout: cdk.Duration.minutes(6) });
new shards.OrderedProducerFunction(stack, 'ClickProducer', { stream: clicks, hashKeyRegistry: importedRegistry });
const importedProducer = shards.OrderedProducerFunction.fromFunctionArn(
  stack,
  'ImportedProducer',
  'arn:aws:lambda:eu-west-1:111111111111:function:producer',
);
shards.OrderedProducerFunction.fromFunctionAttributes(stack, 'SameProducer', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:same-producer',
  sameEnvironment: true,
}).grantInvoke(role);

// consumers
const orderedConsumer = new shards.OrderedStreamConsumer(stack, 'Consumer', {
  handler: application,
  stream: events,
  startingPosition: lambda.StartingPosition.TRIM_HORIZON,
  batchSize: 500,
  parallelizationFactor: 2,
  retryInterval: cdk.Duration.minutes(5),
  onFailure: new sources.SqsDlq(new sqs.Queue(stack, 'TooLarge')),
});
orderedConsumer.grantOperate(role);
const importedConsumer = shards.OrderedStreamConsumer.fromOrderedStreamConsumerAttributes(stack, 'ImportedConsumer', {
  consumerName: 'orders',
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:consumer',
  parkingTableArn: 'arn:aws:dynamodb:eu-west-1:111111111111:table/parked',
});

// tables
const table = new shards.ShardedTable(stack, 'Table', {
  partitionKey: { name: 'jobId', type: dynamodb.AttributeType.STRING },
  dynamoStream: dynamodb.StreamViewType.NEW_IMAGE,
  replicas: [{ region: 'us-east-1' }],
});
const counts = shards.ShardCounts.byValue({ succeeded: 35, failed: 10, '7': 2, aborted: 3 }, 1);
const byStatus = table.addShardedIndex({
  indexName: 'byStatus',
  valueAttribute: { name: 'status', type: dynamodb.AttributeType.STRING },
  sortKey: { name: 'createdAt', type: dynamodb.AttributeType.STRING },
  tieBreakers: [{ name: 'jobId', type: dynamodb.AttributeType.STRING }],
  shardCounts: counts.alsoReading(shards.ShardCounts.byValue({ succeeded: 70, new: 4 }, 2)),
  expectedTraffic: { writesPerSecond: 500, shares: { succeeded: 70, failed: 20, aborted: 10 } },
});
const byTime = table.addShardedIndex({
  indexName: 'byTime',
  sortKey: { name: 'createdAt', type: dynamodb.AttributeType.STRING },
  keyLayout: shards.KeyLayout.SINGLE_ATTRIBUTE,
  strategy: shards.ShardingStrategy.RANDOM,
  shardCounts: shards.ShardCounts.uniform(5),
});
const failed = new sqs.Queue(stack, 'Failed');
producer.addTableStream({
  table,
  batchSize: 50,
  // biome-ignore format: the translator would take a key without quotes for a name, and write event_name
  filters: [lambda.FilterCriteria.filter({ 'eventName': lambda.FilterRule.isEqual('INSERT') })],
  maxRecordAge: cdk.Duration.hours(2),
  onFailure: new sources.SqsDlq(failed),
});
byStatus.bindWriter(application);
byStatus.bindReader(application);
byTime.bindReader(application, { environmentVariable: 'TIME_INDEX' });
byStatus.grants.query(role);
const importedIndex = shards.ShardedIndex.fromShardedIndexAttributes({
  table: dynamodb.TableV2.fromTableArn(stack, 'Orders', 'arn:aws:dynamodb:eu-west-1:111111111111:table/orders'),
  tableKey: ['orderId'],
  indexName: 'byState',
  valueAttribute: { name: 'state', type: dynamodb.AttributeType.STRING },
  shardCounts: shards.ShardCounts.adaptive({ initial: 1, initialByValue: { new: 3 }, maximum: 32 }),
  shardCountTable: dynamodb.TableV2.fromTableName(stack, 'Counts', 'counts'),
});
const indexGrants = importedIndex.grants;
indexGrants.query(role);
indexGrants.write(role);
indexGrants.changeShardCounts(role);
indexGrants.reportWrites(role);
const controller = new shards.AdaptiveShardCountController(stack, 'AdaptiveShardCountController', {
  index: importedIndex,
  timeout: cdk.Duration.minutes(2),
  memorySize: 512,
});
controller.metricShardCountIncreases();
controller.metricThrottledValues();
controller.metricValuesAtMaximum();
controller.metricMostShards();
controller.metric('ShardCountIncreases');
new cdk.CfnOutput(stack, 'Config', { value: importedIndex.toConfigJson() });
new cdk.CfnOutput(stack, 'ReplicaConfig', { value: byStatus.onReplica('us-east-1').toConfigJson() });
const keeper = new shards.IndexKeeper(stack, 'IndexKeeper', { indexes: [byTime], allWritersInRegion: true });
keeper.metricContestedItems();
keeper.metricCorrectedItems();
keeper.metricCorrectionDelay();
keeper.metricSweepDue();
const indexItemMover = new shards.IndexItemMover(stack, 'IndexItemMover', {
  index: byTime,
  readUnitsPerSecond: 100,
  writeUnitsPerSecond: 50,
});
indexItemMover.grantStartExecution(role);
const invoices = new shards.KeyShardedTable(stack, 'Invoices', {
  partitionKey: { name: 'invoice', type: dynamodb.AttributeType.STRING },
  sortKey: { name: 'transaction', type: dynamodb.AttributeType.STRING },
  shardCounts: shards.ShardCounts.uniform(6).since(shards.ShardCounts.uniform(5)),
});
const invoiceGrants = invoices.shardGrants;
invoiceGrants.item(role);
invoiceGrants.query(role);
invoiceGrants.write(role);
invoiceGrants.reshard(role);
const importedInvoices = shards.KeyShardedTable.fromKeyShardedTableAttributes({
  table: dynamodb.TableV2.fromTableName(stack, 'ImportedInvoices', 'invoices'),
  tableKey: ['invoice', 'transaction'],
  shardCounts: shards.ShardCounts.uniform(5),
});
new cdk.CfnOutput(stack, 'InvoicesConfig', { value: importedInvoices.toConfigJson() });
const tableItemMover = new shards.TableItemMover(stack, 'TableItemMover', {
  table: invoices,
  itemVersion: shards.ItemVersion.attribute('version'),
  readUnitsPerSecond: 100,
  writeUnitsPerSecond: 50,
});
tableItemMover.grantStartExecution(role);
new shards.TableItemMover(stack, 'ImportedTableItemMover', {
  table: importedInvoices,
  itemVersion: shards.ItemVersion.none(),
  readUnitsPerSecond: 100,
  writeUnitsPerSecond: 50,
});

// queries
const query = new shards.FanOutQueryFunction(stack, 'Query', { indexes: [byStatus, byTime], memorySize: 512 });
query.grantInvoke(application);
shards.FanOutQueryFunction.fromFunctionArn(
  stack,
  'ImportedQuery',
  'arn:aws:lambda:eu-west-1:111111111111:function:query',
).grantInvoke(role);
shards.FanOutQueryFunction.fromFunctionAttributes(stack, 'SameQuery', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:same-query',
  sameEnvironment: true,
}).grantInvoke(role);

// Amazon Keyspaces
const posts = new shards.ShardedKeyspacesTable(stack, 'Posts', {
  keyspaceName: 'blog',
  tableName: 'posts',
  partitionKey: [{ name: 'day', cqlType: shards.CqlType.DATE }],
  clusteringColumns: [
    { name: 'at', cqlType: shards.CqlType.TIMESTAMP, order: shards.ClusteringOrder.DESCENDING },
    { name: 'id', cqlType: shards.CqlType.UUID },
  ],
  regularColumns: [{ name: 'tags', cqlType: shards.CqlType.of('set<text>') }],
  shardCounts: shards.ShardCounts.uniform(4),
  changeStream: shards.KeyspacesChangeView.NEW_IMAGE,
  billing: shards.KeyspacesBilling.provisioned({
    readCapacity: shards.KeyspacesCapacity.constant(10),
    writeCapacity: shards.KeyspacesCapacity.autoscaled({ minCapacity: 1, maxCapacity: 20 }),
  }),
});
posts.bindWriter(application);
posts.bindReader(application, { environmentVariable: 'POSTS_TO_READ' });
const drafts = new shards.ShardedKeyspacesTable(stack, 'Drafts', {
  keyspaceName: 'blog',
  tableName: 'drafts',
  partitionKey: [],
  clusteringColumns: [{ name: 'id', cqlType: shards.CqlType.TEXT }],
  shardCounts: shards.ShardCounts.uniform(2),
  billing: shards.KeyspacesBilling.onDemand(),
});
const comments = shards.ShardedKeyspacesTable.fromTableAttributes(stack, 'Comments', {
  keyspaceName: 'blog',
  tableName: 'comments',
  partitionKey: [{ name: 'post', cqlType: shards.CqlType.UUID }],
  clusteringColumns: [{ name: 'at', cqlType: shards.CqlType.TIMESTAMP }],
  columnNames: ['words'],
  shardCounts: shards.ShardCounts.uniform(3),
});
new cdk.CfnOutput(stack, 'CommentsConfig', { value: comments.toConfigJson() });
const rowGrants = comments.grants;
rowGrants.modifyRows(role);
rowGrants.selectRows(role);
const rows = new shards.KeyspacesFanOutQueryFunction(stack, 'Rows', { tables: [posts, drafts, comments] });
rows.grantInvoke(application);
shards.KeyspacesFanOutQueryFunction.fromFunctionArn(
  stack,
  'ImportedRows',
  'arn:aws:lambda:eu-west-1:111111111111:function:rows',
).grantInvoke(role);
shards.KeyspacesFanOutQueryFunction.fromFunctionAttributes(stack, 'SameRows', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:same-rows',
  sameEnvironment: true,
}).grantInvoke(role);

// outbox
const vpc = ec2.Vpc.fromVpcAttributes(stack, 'Vpc', {
  vpcId: 'vpc-1',
  availabilityZones: ['eu-west-1a', 'eu-west-1b'],
  privateSubnetIds: ['subnet-1', 'subnet-2'],
});
const securityGroups = [ec2.SecurityGroup.fromSecurityGroupId(stack, 'DatabaseGroup', 'sg-1')];
const cluster = rds.DatabaseCluster.fromDatabaseClusterAttributes(stack, 'Cluster', {
  clusterIdentifier: 'cluster',
  clusterResourceIdentifier: 'cluster-1',
  clusterEndpointAddress: 'cluster.example.com',
  port: 5432,
  securityGroups,
});
const instance = rds.DatabaseInstance.fromDatabaseInstanceAttributes(stack, 'Instance', {
  instanceIdentifier: 'instance',
  instanceResourceId: 'db-1',
  instanceEndpointAddress: 'instance.example.com',
  port: 5432,
  securityGroups,
});
const proxied = new rds.DatabaseInstance(stack, 'Proxied', {
  engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_17 }),
  vpc,
});
const proxy = new rds.DatabaseProxy(stack, 'Proxy', {
  proxyTarget: rds.ProxyTarget.fromInstance(proxied),
  secrets: [proxied.secret!],
  vpc,
});
const relay = new shards.OutboxRelayFunction(stack, 'Relay', {
  stream: events,
  database: shards.OutboxRelayDatabase.fromCluster(cluster, { iamUser: 'relay' }),
  vpc,
});
const daxCluster = new shards.DaxCluster(stack, 'DaxCluster', { tables: [invoices], vpc });
daxCluster.grantRead(role);
shards.DaxCluster.fromDaxClusterAttributes(stack, 'ImportedDaxCluster', {
  clusterArn: 'arn:aws:dax:eu-west-1:111111111111:cache/elsewhere',
  endpoint: 'daxs://elsewhere.dax-clusters.eu-west-1.amazonaws.com',
  securityGroups,
}).grantRead(role);
shards.StreamAutoScaling.fromStreamAutoScalingAttributes(stack, 'ImportedScaling', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:scaler',
  stream: clicks,
}).metricUtilization();
shards.StreamReconciliation.fromStreamReconciliationAttributes(stack, 'ImportedReconciliation', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:reconciler',
  stream: clicks,
}).metric('Skew');
shards.AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes(stack, 'ImportedController', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:controller',
  index: importedIndex,
}).metric('ShardCountIncreases');
shards.StreamReshardingProvider.fromStreamReshardingProviderAttributes(stack, 'ImportedProvider', {
  serviceToken: 'arn:aws:lambda:eu-west-1:111111111111:function:provider',
  role,
});
relay.grantInvoke(role);
new shards.OutboxRelayFunction(stack, 'InstanceRelay', {
  stream: clicks,
  database: shards.OutboxRelayDatabase.fromInstance(instance, { iamUser: 'relay', databaseName: 'shop' }),
  vpc,
});
new shards.OutboxRelayFunction(stack, 'ProxyRelay', {
  stream: views,
  database: shards.OutboxRelayDatabase.fromProxy(proxy, { secret: proxied.secret! }),
  vpc,
});
const importedRelay = shards.OutboxRelayFunction.fromFunctionArn(
  stack,
  'ImportedRelay',
  'arn:aws:lambda:eu-west-1:111111111111:function:relay',
);
shards.OutboxRelayFunction.fromFunctionAttributes(stack, 'SameRelay', {
  functionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:same-relay',
  sameEnvironment: true,
}).grantInvoke(role);

// monitoring
const monitoring = new shards.ShardMonitoring(stack, 'Monitoring', { dashboardName: 'shards' });
const consumer = shards.StreamConsumerMetrics.fromFunction(application);
monitoring.addStream(events, { reconciliation });
monitoring.addStream(busy, { autoScaling: scaling, maxIteratorAge: cdk.Duration.minutes(30) });
monitoring.addConsumer(events, consumer, { silenceAlarm: false });
monitoring.addConsumer(events, shards.StreamConsumerMetrics.fromOrderedConsumer(orderedConsumer), {
  maxParkedTime: cdk.Duration.minutes(20),
});
monitoring.addProducer(producer);
monitoring.addProducer(importedProducer, { maxFailures: 10 });
monitoring.addDeadLetterQueue(fifo.deadLetterQueue, { maxMessages: 3 });
monitoring.addDeadLetterQueue(failed);
monitoring.addIndex(byStatus, { writeThrottleAlarm: false, shardCountController: controller });
monitoring.addQuery(query);
monitoring.addQuery(rows);
monitoring.addOutbox(relay, { maxLag: cdk.Duration.minutes(3) });
monitoring.addOutbox(importedRelay);
monitoring.addIndexKeeper(keeper, { maxDelay: cdk.Duration.seconds(30) });
monitoring.addTable(invoices, { maxWriteThrottles: 5 });
monitoring.addKeyspacesTable(posts, { maxReadThrottles: 5 });
posts.metricOfOperation('PerConnectionRequestRateExceeded', 'SELECT');
monitoring.addDaxCluster(daxCluster, { maxFaults: 1 });

const streamMetrics = shards.StreamShardMetrics.fromStream(events);
const age = new cloudwatch.Metric({ namespace: 'Mine', metricName: 'Age' });
const metrics: cloudwatch.IMetric[] = [
  shards.StreamConsumerMetrics.fromPolling(events).metricMillisBehindLatest(),
  shards.StreamConsumerMetrics.fromEnhancedFanOut(events, 'reports').metricMillisBehindLatest(),
  shards.StreamConsumerMetrics.fromMetric('mine', age).metricReports(),
  query.metricPages({ period: cdk.Duration.minutes(1) }),
  scaling.metric('Utilization'),
  scaling.metricHighLoadAtMaximum(),
  scaling.metricOpenShards(),
  scaling.metricShardCountUpdatesLeft(),
  scaling.metricUtilization(),
  reconciliation.metric('Skew'),
  reconciliation.metricSkew(),
  streamMetrics.metric('IncomingBytes'),
  streamMetrics.metricHottestToMeanBytes(),
  streamMetrics.metricHottestToMeanRecords(),
  streamMetrics.metricIncomingBytes(),
  streamMetrics.metricIncomingRecords(),
  streamMetrics.metricWriteProvisionedThroughputExceeded(),
  consumer.metricMillisBehindLatest(),
  consumer.metricReports(),
  producer.metric('UserRecordsPut'),
  producer.metricAllErrors(),
  producer.metricRequestTime(),
  producer.metricRetriesPerRecord(),
  producer.metricUserRecordsFailed(),
  producer.metricUserRecordsFailedByReason('RECORD_REJECTED'),
  producer.metricUserRecordsPut(),
  producer.metricUserRecordsReceived(),
  importedConsumer.metric('ParkedKeys'),
  orderedConsumer.metricBusyHandlers(),
  orderedConsumer.metricDeadKeys(),
  orderedConsumer.metricLongestKey(),
  orderedConsumer.metricParkedKeys(),
  orderedConsumer.metricParkedSeconds(),
  query.metric('Pages'),
  query.metricConsumedReadUnits(),
  query.metricOverRead(),
  query.metricPages(),
  query.metricRequests(),
  query.metricWaves(),
  rows.metric('Pages'),
  rows.metricOverRead(),
  rows.metricPages(),
  rows.metricRequests(),
  rows.metricWaves(),
  byStatus.metric('ReturnedItemCount'),
  byStatus.metricConsumedReadCapacityUnits(),
  byStatus.metricConsumedWriteCapacityUnits(),
  byStatus.metricOnlineIndexConsumedWriteCapacity(),
  byStatus.metricReadKeyRangeThroughputThrottleEvents(),
  byStatus.metricReadThrottleEvents(),
  byStatus.metricWriteKeyRangeThroughputThrottleEvents(),
  byStatus.metricWriteThrottleEvents(),
  indexItemMover.metric('Strays'),
  indexItemMover.metricHiddenStrays(),
  daxCluster.metric('EvictedSize'),
  daxCluster.metricQueryCacheHits(),
  daxCluster.metricQueryCacheMisses(),
  daxCluster.metricItemCacheHits(),
  daxCluster.metricItemCacheMisses(),
  daxCluster.metricThrottledRequestCount(),
  daxCluster.metricFaultRequestCount(),
  daxCluster.metricErrorRequestCount(),
  daxCluster.metricEvictedSize(),
  daxCluster.metricCacheMemoryUtilization(),
  daxCluster.metricCpuUtilization(),
  relay.metric('ParkedRows'),
  relay.metricGivenUpRows(),
  relay.metricRefusals(),
  relay.metricParkedRows(),
  relay.metricRejections(),
  relay.metricRelayedRows(),
  relay.metricWaitingRows(),
  relay.metricWaitingSeconds(),
];
const dashboard = new cloudwatch.Dashboard(stack, 'Dashboard');
for (const metric of metrics) dashboard.addWidgets(new cloudwatch.GraphWidget({ left: [metric] }));

app.synth();

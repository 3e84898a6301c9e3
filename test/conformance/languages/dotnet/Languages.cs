// Every public construct and every public method: the app in TypeScript, line by line.
using Amazon.CDK;
using Amazon.CDK.AWS.CloudWatch;
using Amazon.CDK.AWS.DynamoDB;
using Amazon.CDK.AWS.EC2;
using Amazon.CDK.AWS.IAM;
using Amazon.CDK.AWS.Kinesis;
using Amazon.CDK.AWS.Lambda;
using Amazon.CDK.AWS.Lambda.EventSources;
using Amazon.CDK.AWS.RDS;
using Amazon.CDK.AWS.SQS;
using CdkEvenShards;
using Attribute = Amazon.CDK.AWS.DynamoDB.Attribute;
using Environment = Amazon.CDK.Environment;
using Function = Amazon.CDK.AWS.Lambda.Function;
using FunctionAttributes = Amazon.CDK.AWS.Lambda.FunctionAttributes;
using FunctionProps = Amazon.CDK.AWS.Lambda.FunctionProps;
using Stream = Amazon.CDK.AWS.Kinesis.Stream;

var app = new App(new AppProps { AnalyticsReporting = false });
var stack = new Stack(app, "Languages", new StackProps {
    Env = new Environment { Account = "111111111111", Region = "eu-west-1" }
});
Attribute text(string name) => new Attribute { Name = name, Type = AttributeType.STRING };
var application = new Function(stack, "Application", new FunctionProps {
    Runtime = Runtime.NODEJS_22_X,
    Handler = "index.handler",
    Code = Code.FromInline("exports.handler = async () => {}")
});
var role = new Role(stack, "Role", new RoleProps { AssumedBy = new AccountRootPrincipal() });

// streams
var provider = new StreamReshardingProvider(stack, "Provider", new StreamReshardingProviderProps { Timeout = Duration.Minutes(2) });
var events = new UniformStream(stack, "Events", new UniformStreamProps {
    ShardCount = 4,
    HashBuckets = 64,
    ExpectedTraffic = new ExpectedStreamTraffic { RecordsPerSecond = 100, BytesPerSecond = 1000, Keys = 50 },
    DeployedShardCount = 2,
    ReshardingProvider = provider
});
var reconciliation = events.AddReconciliation(new StreamReconciliationOptions { Repair = false });
events.ProduceGrants.Produce(role);
var busy = new UniformStream(stack, "Busy", new UniformStreamProps { ShardCount = 2 });
var scaling = busy.AutoScaleShardCount(new StreamAutoScalingOptions { MinCapacity = 1, MaxCapacity = 8, TargetUtilizationPercent = 60 });
busy.ReshardGrants.Inspect(role);
var clicks = Stream.FromStreamArn(stack, "Clicks", "arn:aws:kinesis:eu-west-1:111111111111:stream/clicks");
var resharding = new StreamResharding(stack, "Resharding", new StreamReshardingProps { Stream = clicks, ShardCount = 3, Provider = provider });
new CfnOutput(stack, "OpenShardCount", new CfnOutputProps { Value = Token.AsString(resharding.OpenShardCount) });
new StreamReconciliation(stack, "Reconciliation", new StreamReconciliationProps { Stream = clicks, ShardCount = 3, Repair = true });
var views = UniformStream.FromUniformStreamAttributes(stack, "Views", new UniformStreamAttributes {
    StreamArn = "arn:aws:kinesis:eu-west-1:111111111111:stream/views",
    HashBuckets = 64
});
new StreamAutoScaling(stack, "Scaling", new StreamAutoScalingProps { Stream = views, MinCapacity = 2, MaxCapacity = 4 });
StreamProduceGrants.FromStream(clicks).Produce(role);
var reshardGrants = StreamReshardGrants.FromStream(clicks);
reshardGrants.Inspect(role);
reshardGrants.Reshard(role);
reshardGrants.Scale(role);

// hash keys
var registry = new HashKeyRegistry(stack, "Registry", new HashKeyRegistryProps { Stream = events });
var registryGrants = registry.Grants;
registryGrants.Administer(role);
registryGrants.Allocate(role);
registryGrants.Query(role);
registryGrants.Read(role);
var importedRegistry = HashKeyRegistry.FromHashKeyRegistryAttributes(stack, "ImportedRegistry", new HashKeyRegistryAttributes {
    Stream = clicks,
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:registry",
    TableArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/registry"
});

// producers
var producer = new OrderedProducerFunction(stack, "Producer", new OrderedProducerFunctionProps {
    Stream = events,
    Aggregation = true,
    Sequence = true,
    HashKeyRegistry = registry,
    AllocateHashKeys = true,
    RequestTimeout = Duration.Seconds(3)
});
producer.GrantInvoke(role);
var fifo = producer.AddFifoQueue("Queue", new ProducerFifoQueueOptions { MaxReceiveCount = 5, VisibilityTimeout = Duration.Minutes(6) });
new OrderedProducerFunction(stack, "ClickProducer", new OrderedProducerFunctionProps { Stream = clicks, HashKeyRegistry = importedRegistry });
var importedProducer = OrderedProducerFunction.FromFunctionArn(stack, "ImportedProducer", "arn:aws:lambda:eu-west-1:111111111111:function:producer");
OrderedProducerFunction.FromFunctionAttributes(stack, "SameProducer", new FunctionAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:same-producer",
    SameEnvironment = true
}).GrantInvoke(role);

// consumers
var orderedConsumer = new OrderedStreamConsumer(stack, "Consumer", new OrderedStreamConsumerProps {
    Handler = application,
    Stream = events,
    StartingPosition = StartingPosition.TRIM_HORIZON,
    BatchSize = 500,
    ParallelizationFactor = 2,
    RetryInterval = Duration.Minutes(5)
});
orderedConsumer.GrantOperate(role);
var importedConsumer = OrderedStreamConsumer.FromOrderedStreamConsumerAttributes(stack, "ImportedConsumer", new OrderedStreamConsumerAttributes {
    ConsumerName = "orders",
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:consumer",
    ParkingTableArn = "arn:aws:dynamodb:eu-west-1:111111111111:table/parked"
});

// tables
var table = new ShardedTable(stack, "Table", new ShardedTableProps {
    PartitionKey = text("jobId"),
    DynamoStream = StreamViewType.NEW_IMAGE,
    Replicas = new[] { new ReplicaTableProps { Region = "us-east-1" } }
});
var counts = ShardCounts.ByValue(new Dictionary<string, double> { { "succeeded", 35 }, { "failed", 10 }, { "7", 2 }, { "aborted", 3 } }, 1);
var byStatus = table.AddShardedIndex(new ShardedIndexOptions {
    IndexName = "byStatus",
    ValueAttribute = text("status"),
    SortKey = text("createdAt"),
    TieBreakers = new[] { text("jobId") },
    ShardCounts = counts.AlsoReading(ShardCounts.ByValue(new Dictionary<string, double> { { "succeeded", 70 }, { "new", 4 } }, 2)),
    ExpectedTraffic = new ExpectedIndexTraffic { WritesPerSecond = 500, Shares = new Dictionary<string, double> { { "succeeded", 70 }, { "failed", 20 }, { "aborted", 10 } } }
});
var byTime = table.AddShardedIndex(new ShardedIndexOptions {
    IndexName = "byTime",
    SortKey = text("createdAt"),
    KeyLayout = KeyLayout.SINGLE_ATTRIBUTE,
    Strategy = ShardingStrategy.RANDOM,
    ShardCounts = ShardCounts.Uniform(5)
});
var failed = new Queue(stack, "Failed");
producer.AddTableStream(new ProducerTableStreamOptions {
    Table = table,
    BatchSize = 50,
    Filters = new[] { FilterCriteria.Filter(new Dictionary<string, object> { { "eventName", FilterRule.IsEqual("INSERT") } }) },
    MaxRecordAge = Duration.Hours(2),
    OnFailure = new SqsDlq(failed)
});
byStatus.BindWriter(application);
byStatus.BindReader(application);
byTime.BindReader(application, new ShardedIndexBindingOptions { EnvironmentVariable = "TIME_INDEX" });
byStatus.Grants.Query(role);
var importedIndex = ShardedIndex.FromShardedIndexAttributes(new ShardedIndexAttributes {
    Table = TableV2.FromTableArn(stack, "Orders", "arn:aws:dynamodb:eu-west-1:111111111111:table/orders"),
    TableKey = new[] { "orderId" },
    IndexName = "byState",
    ValueAttribute = text("state"),
    ShardCounts = ShardCounts.Adaptive(new AdaptiveShardCountsOptions {
        Initial = 1,
        InitialByValue = new Dictionary<string, double> { ["new"] = 3 },
        Maximum = 32
    }),
    ShardCountTable = TableV2.FromTableName(stack, "Counts", "counts")
});
var indexGrants = importedIndex.Grants;
indexGrants.Query(role);
indexGrants.Write(role);
indexGrants.ChangeShardCounts(role);
indexGrants.ReportWrites(role);
var controller = new AdaptiveShardCountController(stack, "AdaptiveShardCountController", new AdaptiveShardCountControllerProps {
    Index = importedIndex,
    Timeout = Duration.Minutes(2),
    MemorySize = 512
});
controller.MetricShardCountRaises();
controller.MetricThrottledValues();
controller.MetricValuesAtMaximum();
controller.MetricMostShards();
controller.Metric("ShardCountRaises");
new CfnOutput(stack, "Config", new CfnOutputProps { Value = importedIndex.ToConfigJson() });
new CfnOutput(stack, "ReplicaConfig", new CfnOutputProps { Value = byStatus.OnReplica("us-east-1").ToConfigJson() });
var indexItemMover = new IndexItemMover(stack, "IndexItemMover", new IndexItemMoverProps {
    Index = byTime,
    ReadUnitsPerSecond = 100,
    WriteUnitsPerSecond = 50
});
indexItemMover.GrantStartExecution(role);
var invoices = new KeyShardedTable(stack, "Invoices", new KeyShardedTableProps {
    PartitionKey = text("invoice"),
    SortKey = text("transaction"),
    ShardCounts = ShardCounts.Uniform(6).Since(ShardCounts.Uniform(5))
});
var invoiceGrants = invoices.ShardGrants;
invoiceGrants.Item(role);
invoiceGrants.Query(role);
invoiceGrants.Write(role);
invoiceGrants.Reshard(role);
var importedInvoices = KeyShardedTable.FromKeyShardedTableAttributes(new KeyShardedTableAttributes {
    Table = TableV2.FromTableName(stack, "ImportedInvoices", "invoices"),
    TableKey = new[] { "invoice", "transaction" },
    ShardCounts = ShardCounts.Uniform(5)
});
new CfnOutput(stack, "InvoicesConfig", new CfnOutputProps { Value = importedInvoices.ToConfigJson() });
var tableItemMover = new TableItemMover(stack, "TableItemMover", new TableItemMoverProps {
    Table = invoices,
    ItemVersion = ItemVersion.Attribute("version"),
    ReadUnitsPerSecond = 100,
    WriteUnitsPerSecond = 50
});
tableItemMover.GrantStartExecution(role);
new TableItemMover(stack, "ImportedTableItemMover", new TableItemMoverProps {
    Table = importedInvoices,
    ItemVersion = ItemVersion.None(),
    ReadUnitsPerSecond = 100,
    WriteUnitsPerSecond = 50
});

// queries
var query = new FanOutQueryFunction(stack, "Query", new FanOutQueryFunctionProps { Indexes = new IShardedIndex[] { byStatus, byTime }, MemorySize = 512 });
query.GrantInvoke(application);
FanOutQueryFunction.FromFunctionArn(stack, "ImportedQuery", "arn:aws:lambda:eu-west-1:111111111111:function:query").GrantInvoke(role);
FanOutQueryFunction.FromFunctionAttributes(stack, "SameQuery", new FunctionAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:same-query",
    SameEnvironment = true
}).GrantInvoke(role);

// Amazon Keyspaces
var posts = new ShardedKeyspacesTable(stack, "Posts", new ShardedKeyspacesTableProps {
    KeyspaceName = "blog",
    TableName = "posts",
    PartitionKey = new[] { new KeyspacesColumn { Name = "day", CqlType = CqlType.DATE } },
    ClusteringColumns = new[] { new KeyspacesClusteringColumn { Name = "at", CqlType = CqlType.TIMESTAMP, Order = ClusteringOrder.DESCENDING }, new KeyspacesClusteringColumn { Name = "id", CqlType = CqlType.UUID } },
    RegularColumns = new[] { new KeyspacesColumn { Name = "tags", CqlType = CqlType.Of("set<text>") } },
    ShardCounts = ShardCounts.Uniform(4),
    ChangeStream = KeyspacesChangeView.NEW_IMAGE,
    Billing = KeyspacesBilling.Provisioned(new KeyspacesProvisionedThroughput {
        ReadCapacity = KeyspacesCapacity.Constant(10),
        WriteCapacity = KeyspacesCapacity.Autoscaled(new KeyspacesAutoscaledCapacityOptions { MinCapacity = 1, MaxCapacity = 20 })
    })
});
posts.BindWriter(application);
posts.BindReader(application, new KeyspacesTableBindingOptions { EnvironmentVariable = "POSTS_TO_READ" });
var drafts = new ShardedKeyspacesTable(stack, "Drafts", new ShardedKeyspacesTableProps {
    KeyspaceName = "blog",
    TableName = "drafts",
    PartitionKey = new KeyspacesColumn[] { },
    ClusteringColumns = new[] { new KeyspacesClusteringColumn { Name = "id", CqlType = CqlType.TEXT } },
    ShardCounts = ShardCounts.Uniform(2),
    Billing = KeyspacesBilling.OnDemand()
});
var comments = ShardedKeyspacesTable.FromTableAttributes(stack, "Comments", new ShardedKeyspacesTableAttributes {
    KeyspaceName = "blog",
    TableName = "comments",
    PartitionKey = new[] { new KeyspacesColumn { Name = "post", CqlType = CqlType.UUID } },
    ClusteringColumns = new[] { new KeyspacesClusteringColumn { Name = "at", CqlType = CqlType.TIMESTAMP } },
    ColumnNames = new[] { "words" },
    ShardCounts = ShardCounts.Uniform(3)
});
new CfnOutput(stack, "CommentsConfig", new CfnOutputProps { Value = comments.ToConfigJson() });
var rowGrants = comments.Grants;
rowGrants.ModifyRows(role);
rowGrants.SelectRows(role);
var rows = new KeyspacesFanOutQueryFunction(stack, "Rows", new KeyspacesFanOutQueryFunctionProps { Tables = new IShardedKeyspacesTable[] { posts, drafts, comments } });
rows.GrantInvoke(application);
KeyspacesFanOutQueryFunction.FromFunctionArn(stack, "ImportedRows", "arn:aws:lambda:eu-west-1:111111111111:function:rows").GrantInvoke(role);
KeyspacesFanOutQueryFunction.FromFunctionAttributes(stack, "SameRows", new FunctionAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:same-rows",
    SameEnvironment = true
}).GrantInvoke(role);

// outbox
var vpc = Vpc.FromVpcAttributes(stack, "Vpc", new VpcAttributes {
    VpcId = "vpc-1",
    AvailabilityZones = new[] { "eu-west-1a", "eu-west-1b" },
    PrivateSubnetIds = new[] { "subnet-1", "subnet-2" }
});
var securityGroups = new[] { SecurityGroup.FromSecurityGroupId(stack, "DatabaseGroup", "sg-1") };
var cluster = DatabaseCluster.FromDatabaseClusterAttributes(stack, "Cluster", new DatabaseClusterAttributes {
    ClusterIdentifier = "cluster",
    ClusterResourceIdentifier = "cluster-1",
    ClusterEndpointAddress = "cluster.example.com",
    Port = 5432,
    SecurityGroups = securityGroups
});
var instance = DatabaseInstance.FromDatabaseInstanceAttributes(stack, "Instance", new DatabaseInstanceAttributes {
    InstanceIdentifier = "instance",
    InstanceResourceId = "db-1",
    InstanceEndpointAddress = "instance.example.com",
    Port = 5432,
    SecurityGroups = securityGroups
});
var proxied = new DatabaseInstance(stack, "Proxied", new DatabaseInstanceProps {
    Engine = DatabaseInstanceEngine.Postgres(new PostgresInstanceEngineProps { Version = PostgresEngineVersion.VER_17 }),
    Vpc = vpc
});
var proxy = new DatabaseProxy(stack, "Proxy", new DatabaseProxyProps {
    ProxyTarget = ProxyTarget.FromInstance(proxied),
    Secrets = new[] { proxied.Secret! },
    Vpc = vpc
});
var relay = new OutboxRelayFunction(stack, "Relay", new OutboxRelayFunctionProps {
    Stream = events,
    Database = OutboxRelayDatabase.FromCluster(cluster, new OutboxRelayDatabaseOptions { IamUser = "relay" }),
    Vpc = vpc
});
var daxCluster = new DaxCluster(stack, "DaxCluster", new DaxClusterProps { Tables = new ITableV2[] { invoices }, Vpc = vpc });
daxCluster.GrantRead(role);
DaxCluster.FromDaxClusterAttributes(stack, "ImportedDaxCluster", new DaxClusterAttributes {
    ClusterArn = "arn:aws:dax:eu-west-1:111111111111:cache/elsewhere",
    Endpoint = "daxs://elsewhere.dax-clusters.eu-west-1.amazonaws.com",
    SecurityGroups = securityGroups
}).GrantRead(role);
StreamAutoScaling.FromStreamAutoScalingAttributes(stack, "ImportedScaling", new StreamAutoScalingAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:scaler",
    Stream = clicks
}).MetricUtilization();
StreamReconciliation.FromStreamReconciliationAttributes(stack, "ImportedReconciliation", new StreamReconciliationAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:reconciler",
    Stream = clicks
}).Metric("Skew");
AdaptiveShardCountController.FromAdaptiveShardCountControllerAttributes(stack, "ImportedController", new AdaptiveShardCountControllerAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:controller",
    Index = importedIndex
}).Metric("ShardCountRaises");
StreamReshardingProvider.FromStreamReshardingProviderAttributes(stack, "ImportedProvider", new StreamReshardingProviderAttributes {
    ServiceToken = "arn:aws:lambda:eu-west-1:111111111111:function:provider",
    Role = role
});
relay.GrantInvoke(role);
new OutboxRelayFunction(stack, "InstanceRelay", new OutboxRelayFunctionProps {
    Stream = clicks,
    Database = OutboxRelayDatabase.FromInstance(instance, new OutboxRelayDatabaseOptions { IamUser = "relay", DatabaseName = "shop" }),
    Vpc = vpc
});
new OutboxRelayFunction(stack, "ProxyRelay", new OutboxRelayFunctionProps {
    Stream = views,
    Database = OutboxRelayDatabase.FromProxy(proxy, new OutboxRelayDatabaseOptions { Secret = proxied.Secret! }),
    Vpc = vpc
});
var importedRelay = OutboxRelayFunction.FromFunctionArn(stack, "ImportedRelay", "arn:aws:lambda:eu-west-1:111111111111:function:relay");
OutboxRelayFunction.FromFunctionAttributes(stack, "SameRelay", new FunctionAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:same-relay",
    SameEnvironment = true
}).GrantInvoke(role);

// monitoring
var monitoring = new ShardMonitoring(stack, "Monitoring", new ShardMonitoringProps { DashboardName = "shards" });
var consumer = StreamConsumerMetrics.FromFunction(application);
monitoring.AddStream(events, new StreamMonitoringOptions { Reconciliation = reconciliation });
monitoring.AddStream(busy, new StreamMonitoringOptions { AutoScaling = scaling, MaxIteratorAge = Duration.Minutes(30) });
monitoring.AddConsumer(events, consumer, new ConsumerMonitoringOptions { SilenceAlarm = false });
monitoring.AddConsumer(events, StreamConsumerMetrics.FromOrderedConsumer(orderedConsumer), new ConsumerMonitoringOptions { MaxParkedTime = Duration.Minutes(20) });
monitoring.AddProducer(producer);
monitoring.AddProducer(importedProducer, new ProducerMonitoringOptions { FailureAlarm = false });
monitoring.AddDeadLetterQueue(fifo.DeadLetterQueue, new DeadLetterQueueMonitoringOptions { MaxMessages = 3 });
monitoring.AddDeadLetterQueue(failed);
monitoring.AddIndex(byStatus, new IndexMonitoringOptions {
    WriteThrottleAlarm = false,
    ShardCountController = controller
});
monitoring.AddQuery(query);
monitoring.AddQuery(rows);
monitoring.AddOutbox(relay, new OutboxMonitoringOptions { MaxLag = Duration.Minutes(3) });
monitoring.AddOutbox(importedRelay);
monitoring.AddTable(invoices, new TableMonitoringOptions { MaxWriteThrottles = 5 });
monitoring.AddKeyspacesTable(posts, new TableMonitoringOptions { MaxReadThrottles = 5 });
_ = posts.MetricOfOperation("PerConnectionRequestRateExceeded", "SELECT");
monitoring.AddDaxCluster(daxCluster, new DaxMonitoringOptions { MaxFaults = 1 });

var streamMetrics = StreamShardMetrics.FromStream(events);
var age = new Metric(new MetricProps { Namespace = "Mine", MetricName = "Age" });
var metrics = new IMetric[] {
    StreamConsumerMetrics.FromPolling(events).MetricMillisBehindLatest(),
    StreamConsumerMetrics.FromEnhancedFanOut(events, "reports").MetricMillisBehindLatest(),
    StreamConsumerMetrics.FromMetric("mine", age).MetricReports(),
    query.MetricPages(new MetricOptions { Period = Duration.Minutes(1) }),
    scaling.Metric("Utilization"),
    scaling.MetricHighLoadAtMaximum(),
    scaling.MetricOpenShards(),
    scaling.MetricShardCountUpdatesLeft(),
    scaling.MetricUtilization(),
    reconciliation.Metric("Skew"),
    reconciliation.MetricSkew(),
    streamMetrics.Metric("IncomingBytes"),
    streamMetrics.MetricHottestToMeanBytes(),
    streamMetrics.MetricHottestToMeanRecords(),
    streamMetrics.MetricIncomingBytes(),
    streamMetrics.MetricIncomingRecords(),
    streamMetrics.MetricWriteProvisionedThroughputExceeded(),
    consumer.MetricMillisBehindLatest(),
    consumer.MetricReports(),
    producer.Metric("UserRecordsPut"),
    producer.MetricAllErrors(),
    producer.MetricRequestTime(),
    producer.MetricRetriesPerRecord(),
    producer.MetricUserRecordsFailed(),
    producer.MetricUserRecordsFailedByReason("RECORD_REJECTED"),
    producer.MetricUserRecordsPut(),
    producer.MetricUserRecordsReceived(),
    importedConsumer.Metric("ParkedKeys"),
    orderedConsumer.MetricBusyHandlers(),
    orderedConsumer.MetricDeadKeys(),
    orderedConsumer.MetricLongestKey(),
    orderedConsumer.MetricParkedKeys(),
    orderedConsumer.MetricParkedSeconds(),
    query.Metric("Pages"),
    query.MetricConsumedReadUnits(),
    query.MetricOverRead(),
    query.MetricPages(),
    query.MetricRequests(),
    query.MetricWaves(),
    rows.Metric("Pages"),
    rows.MetricOverRead(),
    rows.MetricPages(),
    rows.MetricRequests(),
    rows.MetricWaves(),
    byStatus.Metric("ReturnedItemCount"),
    byStatus.MetricConsumedReadCapacityUnits(),
    byStatus.MetricConsumedWriteCapacityUnits(),
    byStatus.MetricOnlineIndexConsumedWriteCapacity(),
    byStatus.MetricReadKeyRangeThroughputThrottleEvents(),
    byStatus.MetricReadThrottleEvents(),
    byStatus.MetricWriteKeyRangeThroughputThrottleEvents(),
    byStatus.MetricWriteThrottleEvents(),
    indexItemMover.Metric("Strays"),
    indexItemMover.MetricHiddenStrays(),
    daxCluster.Metric("EvictedSize"),
    daxCluster.MetricQueryCacheHits(),
    daxCluster.MetricQueryCacheMisses(),
    daxCluster.MetricItemCacheHits(),
    daxCluster.MetricItemCacheMisses(),
    daxCluster.MetricThrottledRequestCount(),
    daxCluster.MetricFaultRequestCount(),
    daxCluster.MetricErrorRequestCount(),
    daxCluster.MetricEvictedSize(),
    daxCluster.MetricCacheMemoryUtilization(),
    daxCluster.MetricCpuUtilization(),
    relay.Metric("ParkedRows"),
    relay.MetricGivenUpRows(),
    relay.MetricParkedRows(),
    relay.MetricRejections(),
    relay.MetricRelayedRows(),
    relay.MetricWaitingRows(),
    relay.MetricWaitingSeconds()
};
var dashboard = new Dashboard(stack, "Dashboard");
foreach (var metric in metrics) {
    dashboard.AddWidgets(new GraphWidget(new GraphWidgetProps { Left = new[] { metric } }));
}

// what is wrong says so by its code, from a constructor and from a method
void refused(string code, Action act) {
    try {
        act();
    } catch (Exception error) {
        if (error.Message.Contains($"[{code}] ")) return;
        throw;
    }
    throw new Exception($"not refused with {code}");
}
refused("INVALID_SHARD_COUNT", () => new UniformStream(new Stack(), "None", new UniformStreamProps { ShardCount = 0 }));
refused("INVALID_SHARD_COUNT", () => ShardCounts.Uniform(10_001));
refused("INVALID_ARGUMENT", () => byStatus.BindReader(application, new ShardedIndexBindingOptions { EnvironmentVariable = "1" }));

app.Synth();

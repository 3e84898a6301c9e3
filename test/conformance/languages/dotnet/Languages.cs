// Uses features that can fail in a single language. Repeats the app in TypeScript line by line.
using Amazon.CDK;
using Amazon.CDK.AWS.CloudWatch;
using Amazon.CDK.AWS.DynamoDB;
using Amazon.CDK.AWS.IAM;
using Amazon.CDK.AWS.Lambda;
using CdkEvenShards;
using Attribute = Amazon.CDK.AWS.DynamoDB.Attribute;
using Environment = Amazon.CDK.Environment;
using FunctionAttributes = Amazon.CDK.AWS.Lambda.FunctionAttributes;
using Stream = Amazon.CDK.AWS.Kinesis.Stream;

var app = new App(new AppProps { AnalyticsReporting = false });
var stack = new Stack(app, "Languages", new StackProps {
    Env = new Environment { Account = "111111111111", Region = "eu-west-1" }
});
Attribute text(string name) => new Attribute { Name = name, Type = AttributeType.STRING };
var role = new Role(stack, "Role", new RoleProps { AssumedBy = new AccountRootPrincipal() });

// a nested struct, and the return value of a method
var events = new UniformStream(stack, "Events", new UniformStreamProps {
    ShardCount = 4,
    ExpectedTraffic = new ExpectedStreamTraffic { RecordsPerSecond = 100, BytesPerSecond = 1000, Keys = 50 },
    DeployedShardCount = 2,
    ReshardingProvider = new StreamReshardingProvider(stack, "Provider", new StreamReshardingProviderProps { Timeout = Duration.Minutes(2) })
});
var reconciliation = events.AddReconciliation(new StreamReconciliationOptions { Repair = false });
events.ProduceGrants.Produce(role);

// an interface of the CDK, and an interface of the library
var clicks = Stream.FromStreamArn(stack, "Clicks", "arn:aws:kinesis:eu-west-1:111111111111:stream/clicks");
StreamReshardGrants.FromStream(clicks).Reshard(role);
var imported = OrderedProducerFunction.FromFunctionAttributes(stack, "Imported", new FunctionAttributes {
    FunctionArn = "arn:aws:lambda:eu-west-1:111111111111:function:producer",
    SameEnvironment = true
});
imported.GrantInvoke(role);

// maps whose values are numbers or any type, lists of structs, enumerations
var table = new ShardedTable(stack, "Table", new ShardedTableProps {
    PartitionKey = text("jobId"),
    DynamoStream = StreamViewType.NEW_IMAGE
});
var byStatus = table.AddShardedIndex(new ShardedIndexOptions {
    IndexName = "byStatus",
    ValueAttribute = text("status"),
    SortKey = text("createdAt"),
    TieBreakers = new[] { text("jobId") },
    KeyLayout = KeyLayout.MULTI_ATTRIBUTE,
    ShardCounts = ShardCounts.ByValue(new Dictionary<string, double> { { "succeeded", 35 }, { "failed", 10 }, { "7", 2 } }, 1)
        .AlsoReading(ShardCounts.Uniform(2))
});
var producer = new OrderedProducerFunction(stack, "Producer", new OrderedProducerFunctionProps { Stream = clicks, Sequence = true });
producer.AddTableStream(new ProducerTableStreamOptions {
    Table = table,
    Filters = new[] { FilterCriteria.Filter(new Dictionary<string, object> { { "eventName", FilterRule.IsEqual("INSERT") } }) }
});
new CfnOutput(stack, "Config", new CfnOutputProps { Value = byStatus.ToConfigJson() });
new ShardedKeyspacesTable(stack, "Posts", new ShardedKeyspacesTableProps {
    KeyspaceName = "blog",
    TableName = "posts",
    PartitionKey = new KeyspacesColumn[] { },
    ClusteringColumns = new[] { new KeyspacesClusteringColumn { Name = "at", CqlType = CqlType.TIMESTAMP, Order = ClusteringOrder.DESCENDING } },
    RegularColumns = new[] { new KeyspacesColumn { Name = "tags", CqlType = CqlType.Of("set<text>") } },
    ShardCounts = ShardCounts.Uniform(4),
    Billing = KeyspacesBilling.OnDemand()
});

// lists of constructs, and omitted options
var query = new FanOutQueryFunction(stack, "Query", new FanOutQueryFunctionProps { Indexes = new IShardedIndex[] { byStatus } });
var monitoring = new ShardMonitoring(stack, "Monitoring", new ShardMonitoringProps { DashboardName = "shards" });
monitoring.AddStream(events, new StreamMonitoringOptions { Reconciliation = reconciliation });
monitoring.AddProducer(producer);
monitoring.AddProducer(imported, new ProducerMonitoringOptions { MaxFailures = 10 });
monitoring.AddQuery(query);
var metrics = new IMetric[] {
    query.MetricPages(new MetricOptions { Period = Duration.Minutes(1) }),
    producer.MetricUserRecordsFailedByReason("RECORD_REJECTED"),
    StreamConsumerMetrics.FromPolling(events).MetricMillisBehindLatest()
};
new Dashboard(stack, "Dashboard").AddWidgets(new GraphWidget(new GraphWidgetProps { Left = metrics }));

// errors with their codes, from a constructor and from a method
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

app.Synth();

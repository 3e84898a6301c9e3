import io.github.cdkevenshards.*;
import java.util.List;
import java.util.Map;
import software.amazon.awscdk.App;
import software.amazon.awscdk.AppProps;
import software.amazon.awscdk.CfnOutput;
import software.amazon.awscdk.CfnOutputProps;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.Environment;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.StackProps;
import software.amazon.awscdk.services.cloudwatch.Dashboard;
import software.amazon.awscdk.services.cloudwatch.GraphWidget;
import software.amazon.awscdk.services.cloudwatch.IMetric;
import software.amazon.awscdk.services.cloudwatch.MetricOptions;
import software.amazon.awscdk.services.dynamodb.Attribute;
import software.amazon.awscdk.services.dynamodb.AttributeType;
import software.amazon.awscdk.services.dynamodb.StreamViewType;
import software.amazon.awscdk.services.iam.AccountRootPrincipal;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.kinesis.Stream;
import software.amazon.awscdk.services.lambda.FilterCriteria;
import software.amazon.awscdk.services.lambda.FilterRule;
import software.amazon.awscdk.services.lambda.FunctionAttributes;

/** Uses features that can fail in a single language. Repeats the app in TypeScript line by line. */
public final class Languages {
    private static Attribute text(String name) {
        return Attribute.builder().name(name).type(AttributeType.STRING).build();
    }

    public static void main(String[] ignored) {
        var app = new App(AppProps.builder().analyticsReporting(false).build());
        var environment = Environment.builder().account("111111111111").region("eu-west-1").build();
        var stack = new Stack(app, "Languages", StackProps.builder().env(environment).build());
        var role = Role.Builder.create(stack, "Role").assumedBy(new AccountRootPrincipal()).build();

        // a nested struct, and the return value of a method
        var events = new UniformStream(stack, "Events", UniformStreamProps.builder()
            .shardCount(4)
            .expectedTraffic(ExpectedStreamTraffic.builder().recordsPerSecond(100).bytesPerSecond(1000).keys(50).build())
            .deployedShardCount(2)
            .reshardingProvider(new StreamReshardingProvider(stack, "Provider", StreamReshardingProviderProps.builder()
                .timeout(Duration.minutes(2))
                .build()))
            .build());
        var reconciliation = events.addReconciliation(StreamReconciliationOptions.builder().repair(false).build());
        events.getProduceGrants().produce(role);

        // an interface of the CDK, and an interface of the library
        var clicks = Stream.fromStreamArn(stack, "Clicks", "arn:aws:kinesis:eu-west-1:111111111111:stream/clicks");
        StreamReshardGrants.fromStream(clicks).reshard(role);
        var imported = OrderedProducerFunction.fromFunctionAttributes(stack, "Imported", FunctionAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:producer")
            .sameEnvironment(true)
            .build());
        imported.grantInvoke(role);

        // maps whose values are numbers or any type, lists of structs, enumerations
        var table = new ShardedTable(stack, "Table", ShardedTableProps.builder()
            .partitionKey(text("jobId"))
            .dynamoStream(StreamViewType.NEW_IMAGE)
            .build());
        var byStatus = table.addShardedIndex(ShardedIndexOptions.builder()
            .indexName("byStatus")
            .valueAttribute(text("status"))
            .sortKey(text("createdAt"))
            .tieBreakers(List.of(text("jobId")))
            .keyLayout(KeyLayout.MULTI_ATTRIBUTE)
            .shardCounts(ShardCounts.byValue(Map.of("succeeded", 35, "failed", 10, "7", 2), 1)
                .alsoReading(ShardCounts.uniform(2)))
            .build());
        var producer = new OrderedProducerFunction(stack, "Producer", OrderedProducerFunctionProps.builder()
            .stream(clicks)
            .sequence(true)
            .build());
        producer.addTableStream(ProducerTableStreamOptions.builder()
            .table(table)
            .filters(List.of(FilterCriteria.filter(Map.of("eventName", FilterRule.isEqual("INSERT")))))
            .build());
        new CfnOutput(stack, "Config", CfnOutputProps.builder().value(byStatus.toConfigJson()).build());
        new ShardedKeyspacesTable(stack, "Posts", ShardedKeyspacesTableProps.builder()
            .keyspaceName("blog")
            .tableName("posts")
            .partitionKey(List.of())
            .clusteringColumns(List.of(KeyspacesClusteringColumn.builder()
                .name("at")
                .cqlType(CqlType.TIMESTAMP)
                .order(ClusteringOrder.DESCENDING)
                .build()))
            .regularColumns(List.of(KeyspacesColumn.builder().name("tags").cqlType(CqlType.of("set<text>")).build()))
            .shardCounts(ShardCounts.uniform(4))
            .billing(KeyspacesBilling.onDemand())
            .build());

        // lists of constructs, and omitted options
        var query = new FanOutQueryFunction(stack, "Query", FanOutQueryFunctionProps.builder()
            .indexes(List.of(byStatus))
            .build());
        var monitoring = new ShardMonitoring(stack, "Monitoring", ShardMonitoringProps.builder()
            .dashboardName("shards")
            .build());
        monitoring.addStream(events, StreamMonitoringOptions.builder().reconciliation(reconciliation).build());
        monitoring.addProducer(producer);
        monitoring.addProducer(imported, ProducerMonitoringOptions.builder().maxFailures(10).build());
        monitoring.addQuery(query);
        var metrics = List.<IMetric>of(
            query.metricPages(MetricOptions.builder().period(Duration.minutes(1)).build()),
            producer.metricUserRecordsFailedByReason("RECORD_REJECTED"),
            StreamConsumerMetrics.fromPolling(events).metricMillisBehindLatest());
        new Dashboard(stack, "Dashboard").addWidgets(GraphWidget.Builder.create().left(metrics).build());

        // errors with their codes, from a constructor and from a method
        refused("INVALID_SHARD_COUNT", () -> UniformStream.Builder.create(new Stack(), "None").shardCount(0).build());
        refused("INVALID_SHARD_COUNT", () -> ShardCounts.uniform(10_001));

        app.synth();
    }

    private static void refused(String code, Runnable act) {
        try {
            act.run();
        } catch (RuntimeException error) {
            if (error.getMessage().contains("[" + code + "] ")) return;
            throw error;
        }
        throw new AssertionError("not refused with " + code);
    }
}

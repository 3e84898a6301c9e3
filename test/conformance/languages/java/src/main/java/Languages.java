import java.util.List;
import java.util.Map;
import io.github.cdkevenshards.*;
import software.amazon.awscdk.App;
import software.amazon.awscdk.AppProps;
import software.amazon.awscdk.CfnOutput;
import software.amazon.awscdk.CfnOutputProps;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.Environment;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.StackProps;
import software.amazon.awscdk.Token;
import software.amazon.awscdk.services.cloudwatch.Dashboard;
import software.amazon.awscdk.services.cloudwatch.GraphWidget;
import software.amazon.awscdk.services.cloudwatch.IMetric;
import software.amazon.awscdk.services.cloudwatch.Metric;
import software.amazon.awscdk.services.cloudwatch.MetricOptions;
import software.amazon.awscdk.services.dynamodb.Attribute;
import software.amazon.awscdk.services.dynamodb.AttributeType;
import software.amazon.awscdk.services.dynamodb.ReplicaTableProps;
import software.amazon.awscdk.services.dynamodb.StreamViewType;
import software.amazon.awscdk.services.dynamodb.TableV2;
import software.amazon.awscdk.services.ec2.SecurityGroup;
import software.amazon.awscdk.services.ec2.Vpc;
import software.amazon.awscdk.services.ec2.VpcAttributes;
import software.amazon.awscdk.services.iam.AccountRootPrincipal;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.kinesis.Stream;
import software.amazon.awscdk.services.lambda.Code;
import software.amazon.awscdk.services.lambda.FilterCriteria;
import software.amazon.awscdk.services.lambda.FilterRule;
import software.amazon.awscdk.services.lambda.Function;
import software.amazon.awscdk.services.lambda.FunctionAttributes;
import software.amazon.awscdk.services.lambda.Runtime;
import software.amazon.awscdk.services.lambda.StartingPosition;
import software.amazon.awscdk.services.lambda.eventsources.SqsDlq;
import software.amazon.awscdk.services.rds.*;
import software.amazon.awscdk.services.sqs.Queue;

/** Every public construct and every public method: the app in TypeScript, line by line. */
public final class Languages {
    private static Attribute text(String name) {
        return Attribute.builder().name(name).type(AttributeType.STRING).build();
    }

    public static void main(String[] ignored) {
        var app = new App(AppProps.builder().analyticsReporting(false).build());
        var environment = Environment.builder().account("111111111111").region("eu-west-1").build();
        var stack = new Stack(app, "Languages", StackProps.builder().env(environment).build());
        var application = Function.Builder.create(stack, "Application")
            .runtime(Runtime.NODEJS_22_X)
            .handler("index.handler")
            .code(Code.fromInline("exports.handler = async () => {}"))
            .build();
        var role = Role.Builder.create(stack, "Role").assumedBy(new AccountRootPrincipal()).build();

        // streams
        var provider = new StreamReshardingProvider(stack, "Provider", StreamReshardingProviderProps.builder()
            .timeout(Duration.minutes(2))
            .build());
        var events = new UniformStream(stack, "Events", UniformStreamProps.builder()
            .shardCount(4)
            .hashBuckets(64)
            .expectedTraffic(ExpectedStreamTraffic.builder().recordsPerSecond(100).bytesPerSecond(1000).keys(50).build())
            .deployedShardCount(2)
            .reshardingProvider(provider)
            .build());
        var reconciliation = events.addReconciliation(StreamReconciliationOptions.builder().repair(false).build());
        events.getProduceGrants().produce(role);
        var busy = new UniformStream(stack, "Busy", UniformStreamProps.builder().shardCount(2).build());
        var scaling = busy.autoScaleShardCount(StreamAutoScalingOptions.builder()
            .minCapacity(1)
            .maxCapacity(8)
            .targetUtilizationPercent(60)
            .build());
        busy.getReshardGrants().inspect(role);
        var clicks = Stream.fromStreamArn(stack, "Clicks", "arn:aws:kinesis:eu-west-1:111111111111:stream/clicks");
        var resharding = new StreamResharding(stack, "Resharding", StreamReshardingProps.builder()
            .stream(clicks)
            .shardCount(3)
            .provider(provider)
            .build());
        new CfnOutput(stack, "OpenShardCount", CfnOutputProps.builder()
            .value(Token.asString(resharding.getOpenShardCount()))
            .build());
        new StreamReconciliation(stack, "Reconciliation", StreamReconciliationProps.builder()
            .stream(clicks)
            .shardCount(3)
            .repair(true)
            .build());
        var views = UniformStream.fromUniformStreamAttributes(stack, "Views", UniformStreamAttributes.builder()
            .streamArn("arn:aws:kinesis:eu-west-1:111111111111:stream/views")
            .hashBuckets(64)
            .build());
        new StreamAutoScaling(stack, "Scaling", StreamAutoScalingProps.builder()
            .stream(views)
            .minCapacity(2)
            .maxCapacity(4)
            .build());
        StreamProduceGrants.fromStream(clicks).produce(role);
        var reshardGrants = StreamReshardGrants.fromStream(clicks);
        reshardGrants.inspect(role);
        reshardGrants.reshard(role);
        reshardGrants.scale(role);

        // hash keys
        var registry = new HashKeyRegistry(stack, "Registry", HashKeyRegistryProps.builder().stream(events).build());
        var registryGrants = registry.getGrants();
        registryGrants.administer(role);
        registryGrants.allocate(role);
        registryGrants.query(role);
        registryGrants.read(role);
        var importedRegistry = HashKeyRegistry.fromHashKeyRegistryAttributes(stack, "ImportedRegistry", HashKeyRegistryAttributes.builder()
            .stream(clicks)
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:registry")
            .tableArn("arn:aws:dynamodb:eu-west-1:111111111111:table/registry")
            .build());

        // producers
        var producer = new OrderedProducerFunction(stack, "Producer", OrderedProducerFunctionProps.builder()
            .stream(events)
            .aggregation(true)
            .sequence(true)
            .hashKeyRegistry(registry)
            .allocateHashKeys(true)
            .requestTimeout(Duration.seconds(3))
            .build());
        producer.grantInvoke(role);
        var fifo = producer.addFifoQueue("Queue", ProducerFifoQueueOptions.builder()
            .maxReceiveCount(5)
            .visibilityTimeout(Duration.minutes(6))
            .build());
        new OrderedProducerFunction(stack, "ClickProducer", OrderedProducerFunctionProps.builder()
            .stream(clicks)
            .hashKeyRegistry(importedRegistry)
            .build());
        var importedProducer = OrderedProducerFunction
            .fromFunctionArn(stack, "ImportedProducer", "arn:aws:lambda:eu-west-1:111111111111:function:producer");
        OrderedProducerFunction.fromFunctionAttributes(stack, "SameProducer", FunctionAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:same-producer")
            .sameEnvironment(true)
            .build()).grantInvoke(role);

        // consumers
        var orderedConsumer = new OrderedStreamConsumer(stack, "Consumer", OrderedStreamConsumerProps.builder()
            .handler(application)
            .stream(events)
            .startingPosition(StartingPosition.TRIM_HORIZON)
            .batchSize(500)
            .parallelizationFactor(2)
            .retryInterval(Duration.minutes(5))
            .build());
        orderedConsumer.grantOperate(role);
        var importedConsumer = OrderedStreamConsumer.fromOrderedStreamConsumerAttributes(stack, "ImportedConsumer",
            OrderedStreamConsumerAttributes.builder()
                .consumerName("orders")
                .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:consumer")
                .parkingTableArn("arn:aws:dynamodb:eu-west-1:111111111111:table/parked")
                .build());

        // tables
        var table = new ShardedTable(stack, "Table", ShardedTableProps.builder()
            .partitionKey(text("jobId"))
            .dynamoStream(StreamViewType.NEW_IMAGE)
            .replicas(List.of(ReplicaTableProps.builder().region("us-east-1").build()))
            .build());
        var counts = ShardCounts.byValue(Map.of("succeeded", 35, "failed", 10, "7", 2, "aborted", 3), 1);
        var byStatus = table.addShardedIndex(ShardedIndexOptions.builder()
            .indexName("byStatus")
            .valueAttribute(text("status"))
            .sortKey(text("createdAt"))
            .tieBreakers(List.of(text("jobId")))
            .shardCounts(counts.alsoReading(ShardCounts.byValue(Map.of("succeeded", 70, "new", 4), 2)))
            .expectedTraffic(ExpectedIndexTraffic.builder().writesPerSecond(500).shares(Map.of("succeeded", 70, "failed", 20, "aborted", 10)).build())
            .build());
        var byTime = table.addShardedIndex(ShardedIndexOptions.builder()
            .indexName("byTime")
            .sortKey(text("createdAt"))
            .keyLayout(KeyLayout.SINGLE_ATTRIBUTE)
            .strategy(ShardingStrategy.RANDOM)
            .shardCounts(ShardCounts.uniform(5))
            .build());
        var failed = new Queue(stack, "Failed");
        producer.addTableStream(ProducerTableStreamOptions.builder()
            .table(table)
            .batchSize(50)
            .filters(List.of(FilterCriteria.filter(Map.of("eventName", FilterRule.isEqual("INSERT")))))
            .maxRecordAge(Duration.hours(2))
            .onFailure(new SqsDlq(failed))
            .build());
        byStatus.bindWriter(application);
        byStatus.bindReader(application);
        byTime.bindReader(application, ShardedIndexBindingOptions.builder().environmentVariable("TIME_INDEX").build());
        byStatus.getGrants().query(role);
        var importedIndex = ShardedIndex.fromShardedIndexAttributes(ShardedIndexAttributes.builder()
            .table(TableV2.fromTableArn(stack, "Orders", "arn:aws:dynamodb:eu-west-1:111111111111:table/orders"))
            .tableKey(List.of("orderId"))
            .indexName("byState")
            .valueAttribute(text("state"))
            .shardCounts(ShardCounts.adaptive(AdaptiveShardCountsOptions.builder()
                .initial(1)
                .initialByValue(Map.of("new", 3))
                .maximum(32)
                .build()))
            .shardCountTable(TableV2.fromTableName(stack, "Counts", "counts"))
            .build());
        var indexGrants = importedIndex.getGrants();
        indexGrants.query(role);
        indexGrants.write(role);
        indexGrants.changeShardCounts(role);
        indexGrants.reportWrites(role);
        var controller = new AdaptiveShardCountController(stack, "AdaptiveShardCountController", AdaptiveShardCountControllerProps.builder()
            .index(importedIndex)
            .timeout(Duration.minutes(2))
            .memorySize(512)
            .build());
        controller.metricShardCountRaises();
        controller.metricThrottledValues();
        controller.metricValuesAtMaximum();
        controller.metricMostShards();
        controller.metric("ShardCountRaises");
        new CfnOutput(stack, "Config", CfnOutputProps.builder().value(importedIndex.toConfigJson()).build());
        new CfnOutput(stack, "ReplicaConfig", CfnOutputProps.builder()
            .value(byStatus.onReplica("us-east-1").toConfigJson())
            .build());
        var indexItemMover = new IndexItemMover(stack, "IndexItemMover", IndexItemMoverProps.builder()
            .index(byTime)
            .readUnitsPerSecond(100)
            .writeUnitsPerSecond(50)
            .build());
        indexItemMover.grantStartExecution(role);
        var invoices = new KeyShardedTable(stack, "Invoices", KeyShardedTableProps.builder()
            .partitionKey(text("invoice"))
            .sortKey(text("transaction"))
            .shardCounts(ShardCounts.uniform(6).since(ShardCounts.uniform(5)))
            .build());
        var invoiceGrants = invoices.getShardGrants();
        invoiceGrants.item(role);
        invoiceGrants.query(role);
        invoiceGrants.write(role);
        invoiceGrants.reshard(role);
        var importedInvoices = KeyShardedTable.fromKeyShardedTableAttributes(KeyShardedTableAttributes.builder()
            .table(TableV2.fromTableName(stack, "ImportedInvoices", "invoices"))
            .tableKey(List.of("invoice", "transaction"))
            .shardCounts(ShardCounts.uniform(5))
            .build());
        new CfnOutput(
            stack,
            "InvoicesConfig",
            CfnOutputProps.builder().value(importedInvoices.toConfigJson()).build());
        var tableItemMover = new TableItemMover(stack, "TableItemMover", TableItemMoverProps.builder()
            .table(invoices)
            .itemVersion(ItemVersion.attribute("version"))
            .readUnitsPerSecond(100)
            .writeUnitsPerSecond(50)
            .build());
        tableItemMover.grantStartExecution(role);
        new TableItemMover(stack, "ImportedTableItemMover", TableItemMoverProps.builder()
            .table(importedInvoices)
            .itemVersion(ItemVersion.none())
            .readUnitsPerSecond(100)
            .writeUnitsPerSecond(50)
            .build());

        // queries
        var query = new FanOutQueryFunction(stack, "Query", FanOutQueryFunctionProps.builder()
            .indexes(List.of(byStatus, byTime))
            .memorySize(512)
            .build());
        query.grantInvoke(application);
        FanOutQueryFunction
            .fromFunctionArn(stack, "ImportedQuery", "arn:aws:lambda:eu-west-1:111111111111:function:query")
            .grantInvoke(role);
        FanOutQueryFunction.fromFunctionAttributes(stack, "SameQuery", FunctionAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:same-query")
            .sameEnvironment(true)
            .build()).grantInvoke(role);

        // Amazon Keyspaces
        var posts = new ShardedKeyspacesTable(stack, "Posts", ShardedKeyspacesTableProps.builder()
            .keyspaceName("blog")
            .tableName("posts")
            .partitionKey(List.of(KeyspacesColumn.builder().name("day").cqlType(CqlType.DATE).build()))
            .clusteringColumns(List.of(KeyspacesClusteringColumn.builder().name("at").cqlType(CqlType.TIMESTAMP).order(ClusteringOrder.DESCENDING).build(), KeyspacesClusteringColumn.builder().name("id").cqlType(CqlType.UUID).build()))
            .regularColumns(List.of(KeyspacesColumn.builder().name("tags").cqlType(CqlType.of("set<text>")).build()))
            .shardCounts(ShardCounts.uniform(4))
            .changeStream(KeyspacesChangeView.NEW_IMAGE)
            .billing(KeyspacesBilling.provisioned(KeyspacesProvisionedThroughput.builder().readCapacity(KeyspacesCapacity.constant(10)).writeCapacity(KeyspacesCapacity.autoscaled(KeyspacesAutoscaledCapacityOptions.builder().minCapacity(1).maxCapacity(20).build())).build()))
            .build());
        posts.bindWriter(application);
        posts.bindReader(application, KeyspacesTableBindingOptions.builder()
            .environmentVariable("POSTS_TO_READ")
            .build());
        var drafts = new ShardedKeyspacesTable(stack, "Drafts", ShardedKeyspacesTableProps.builder()
            .keyspaceName("blog")
            .tableName("drafts")
            .partitionKey(List.of())
            .clusteringColumns(List.of(KeyspacesClusteringColumn.builder().name("id").cqlType(CqlType.TEXT).build()))
            .shardCounts(ShardCounts.uniform(2))
            .billing(KeyspacesBilling.onDemand())
            .build());
        var comments = ShardedKeyspacesTable.fromTableAttributes(stack, "Comments", ShardedKeyspacesTableAttributes.builder()
            .keyspaceName("blog")
            .tableName("comments")
            .partitionKey(List.of(KeyspacesColumn.builder().name("post").cqlType(CqlType.UUID).build()))
            .clusteringColumns(List.of(KeyspacesClusteringColumn.builder().name("at").cqlType(CqlType.TIMESTAMP).build()))
            .columnNames(List.of("words"))
            .shardCounts(ShardCounts.uniform(3))
            .build());
        new CfnOutput(stack, "CommentsConfig", CfnOutputProps.builder().value(comments.toConfigJson()).build());
        var rowGrants = comments.getGrants();
        rowGrants.modifyRows(role);
        rowGrants.selectRows(role);
        var rows = new KeyspacesFanOutQueryFunction(stack, "Rows", KeyspacesFanOutQueryFunctionProps.builder()
            .tables(List.of(posts, drafts, comments))
            .build());
        rows.grantInvoke(application);
        KeyspacesFanOutQueryFunction
            .fromFunctionArn(stack, "ImportedRows", "arn:aws:lambda:eu-west-1:111111111111:function:rows")
            .grantInvoke(role);
        KeyspacesFanOutQueryFunction.fromFunctionAttributes(stack, "SameRows", FunctionAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:same-rows")
            .sameEnvironment(true)
            .build()).grantInvoke(role);

        // outbox
        var vpc = Vpc.fromVpcAttributes(stack, "Vpc", VpcAttributes.builder()
            .vpcId("vpc-1")
            .availabilityZones(List.of("eu-west-1a", "eu-west-1b"))
            .privateSubnetIds(List.of("subnet-1", "subnet-2"))
            .build());
        var securityGroups = List.of(SecurityGroup.fromSecurityGroupId(stack, "DatabaseGroup", "sg-1"));
        var cluster = DatabaseCluster.fromDatabaseClusterAttributes(stack, "Cluster", DatabaseClusterAttributes.builder()
            .clusterIdentifier("cluster")
            .clusterResourceIdentifier("cluster-1")
            .clusterEndpointAddress("cluster.example.com")
            .port(5432)
            .securityGroups(securityGroups)
            .build());
        var instance = DatabaseInstance.fromDatabaseInstanceAttributes(stack, "Instance", DatabaseInstanceAttributes.builder()
            .instanceIdentifier("instance")
            .instanceResourceId("db-1")
            .instanceEndpointAddress("instance.example.com")
            .port(5432)
            .securityGroups(securityGroups)
            .build());
        var proxied = new DatabaseInstance(stack, "Proxied", DatabaseInstanceProps.builder()
            .engine(DatabaseInstanceEngine.postgres(PostgresInstanceEngineProps.builder().version(PostgresEngineVersion.VER_17).build()))
            .vpc(vpc)
            .build());
        var proxy = new DatabaseProxy(stack, "Proxy", DatabaseProxyProps.builder()
            .proxyTarget(ProxyTarget.fromInstance(proxied))
            .secrets(List.of(proxied.getSecret()))
            .vpc(vpc)
            .build());
        var relay = new OutboxRelayFunction(stack, "Relay", OutboxRelayFunctionProps.builder()
            .stream(events)
            .database(OutboxRelayDatabase.fromCluster(cluster, OutboxRelayDatabaseOptions.builder().iamUser("relay").build()))
            .vpc(vpc)
            .build());
        var daxCluster = new DaxCluster(stack, "DaxCluster", DaxClusterProps.builder()
            .tables(List.of(invoices))
            .vpc(vpc)
            .build());
        daxCluster.grantRead(role);
        DaxCluster.fromDaxClusterAttributes(stack, "ImportedDaxCluster", DaxClusterAttributes.builder()
            .clusterArn("arn:aws:dax:eu-west-1:111111111111:cache/elsewhere")
            .endpoint("daxs://elsewhere.dax-clusters.eu-west-1.amazonaws.com")
            .securityGroups(securityGroups)
            .build()).grantRead(role);
        StreamAutoScaling.fromStreamAutoScalingAttributes(stack, "ImportedScaling", StreamAutoScalingAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:scaler")
            .stream(clicks)
            .build()).metricUtilization();
        StreamReconciliation.fromStreamReconciliationAttributes(stack, "ImportedReconciliation", StreamReconciliationAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:reconciler")
            .stream(clicks)
            .build()).metric("Skew");
        AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes(stack, "ImportedController", AdaptiveShardCountControllerAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:controller")
            .index(importedIndex)
            .build()).metric("ShardCountRaises");
        StreamReshardingProvider.fromStreamReshardingProviderAttributes(stack, "ImportedProvider", StreamReshardingProviderAttributes.builder()
            .serviceToken("arn:aws:lambda:eu-west-1:111111111111:function:provider")
            .role(role)
            .build());
        relay.grantInvoke(role);
        new OutboxRelayFunction(stack, "InstanceRelay", OutboxRelayFunctionProps.builder()
            .stream(clicks)
            .database(OutboxRelayDatabase.fromInstance(instance, OutboxRelayDatabaseOptions.builder().iamUser("relay").databaseName("shop").build()))
            .vpc(vpc)
            .build());
        new OutboxRelayFunction(stack, "ProxyRelay", OutboxRelayFunctionProps.builder()
            .stream(views)
            .database(OutboxRelayDatabase.fromProxy(proxy, OutboxRelayDatabaseOptions.builder().secret(proxied.getSecret()).build()))
            .vpc(vpc)
            .build());
        var importedRelay = OutboxRelayFunction
            .fromFunctionArn(stack, "ImportedRelay", "arn:aws:lambda:eu-west-1:111111111111:function:relay");
        OutboxRelayFunction.fromFunctionAttributes(stack, "SameRelay", FunctionAttributes.builder()
            .functionArn("arn:aws:lambda:eu-west-1:111111111111:function:same-relay")
            .sameEnvironment(true)
            .build()).grantInvoke(role);

        // monitoring
        var monitoring = new ShardMonitoring(stack, "Monitoring", ShardMonitoringProps.builder()
            .dashboardName("shards")
            .build());
        var consumer = StreamConsumerMetrics.fromFunction(application);
        monitoring.addStream(events, StreamMonitoringOptions.builder().reconciliation(reconciliation).build());
        monitoring.addStream(busy, StreamMonitoringOptions.builder()
            .autoScaling(scaling)
            .maxIteratorAge(Duration.minutes(30))
            .build());
        monitoring.addConsumer(events, consumer, ConsumerMonitoringOptions.builder().silenceAlarm(false).build());
        monitoring.addConsumer(events, StreamConsumerMetrics.fromOrderedConsumer(orderedConsumer),
            ConsumerMonitoringOptions.builder().maxParkedTime(Duration.minutes(20)).build());
        monitoring.addProducer(producer);
        monitoring.addProducer(importedProducer, ProducerMonitoringOptions.builder().failureAlarm(false).build());
        monitoring.addDeadLetterQueue(fifo.getDeadLetterQueue(), DeadLetterQueueMonitoringOptions.builder()
            .maxMessages(3)
            .build());
        monitoring.addDeadLetterQueue(failed);
        monitoring.addIndex(byStatus, IndexMonitoringOptions.builder()
            .writeThrottleAlarm(false)
            .shardCountController(controller)
            .build());
        monitoring.addQuery(query);
        monitoring.addQuery(rows);
        monitoring.addOutbox(relay, OutboxMonitoringOptions.builder().maxLag(Duration.minutes(3)).build());
        monitoring.addOutbox(importedRelay);
        monitoring.addTable(invoices, TableMonitoringOptions.builder().maxWriteThrottles(5).build());
        monitoring.addKeyspacesTable(posts, TableMonitoringOptions.builder().maxReadThrottles(5).build());
        posts.metricOfOperation("PerConnectionRequestRateExceeded", "SELECT");
        monitoring.addDaxCluster(daxCluster, DaxMonitoringOptions.builder().maxFaults(1).build());

        var streamMetrics = StreamShardMetrics.fromStream(events);
        var age = Metric.Builder.create().namespace("Mine").metricName("Age").build();
        var metrics = List.<IMetric>of(
            StreamConsumerMetrics.fromPolling(events).metricMillisBehindLatest(),
            StreamConsumerMetrics.fromEnhancedFanOut(events, "reports").metricMillisBehindLatest(),
            StreamConsumerMetrics.fromMetric("mine", age).metricReports(),
            query.metricPages(MetricOptions.builder().period(Duration.minutes(1)).build()),
            scaling.metric("Utilization"),
            scaling.metricHighLoadAtMaximum(),
            scaling.metricOpenShards(),
            scaling.metricShardCountUpdatesLeft(),
            scaling.metricUtilization(),
            reconciliation.metric("Skew"),
            reconciliation.metricSkew(),
            streamMetrics.metric("IncomingBytes"),
            streamMetrics.metricHottestToMeanBytes(),
            streamMetrics.metricHottestToMeanRecords(),
            streamMetrics.metricIncomingBytes(),
            streamMetrics.metricIncomingRecords(),
            streamMetrics.metricWriteProvisionedThroughputExceeded(),
            consumer.metricMillisBehindLatest(),
            consumer.metricReports(),
            producer.metric("UserRecordsPut"),
            producer.metricAllErrors(),
            producer.metricRequestTime(),
            producer.metricRetriesPerRecord(),
            producer.metricUserRecordsFailed(),
            producer.metricUserRecordsFailedByReason("RECORD_REJECTED"),
            producer.metricUserRecordsPut(),
            producer.metricUserRecordsReceived(),
            importedConsumer.metric("ParkedKeys"),
            orderedConsumer.metricBusyHandlers(),
            orderedConsumer.metricDeadKeys(),
            orderedConsumer.metricLongestKey(),
            orderedConsumer.metricParkedKeys(),
            orderedConsumer.metricParkedSeconds(),
            query.metric("Pages"),
            query.metricConsumedReadUnits(),
            query.metricOverRead(),
            query.metricPages(),
            query.metricRequests(),
            query.metricWaves(),
            rows.metric("Pages"),
            rows.metricOverRead(),
            rows.metricPages(),
            rows.metricRequests(),
            rows.metricWaves(),
            byStatus.metric("ReturnedItemCount"),
            byStatus.metricConsumedReadCapacityUnits(),
            byStatus.metricConsumedWriteCapacityUnits(),
            byStatus.metricOnlineIndexConsumedWriteCapacity(),
            byStatus.metricReadKeyRangeThroughputThrottleEvents(),
            byStatus.metricReadThrottleEvents(),
            byStatus.metricWriteKeyRangeThroughputThrottleEvents(),
            byStatus.metricWriteThrottleEvents(),
            indexItemMover.metric("Strays"),
            indexItemMover.metricHiddenStrays(),
            daxCluster.metric("EvictedSize"),
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
            relay.metric("ParkedRows"),
            relay.metricGivenUpRows(),
            relay.metricParkedRows(),
            relay.metricRejections(),
            relay.metricRelayedRows(),
            relay.metricWaitingRows(),
            relay.metricWaitingSeconds()
        );
        var dashboard = new Dashboard(stack, "Dashboard");
        for (var metric : metrics) dashboard.addWidgets(GraphWidget.Builder.create().left(List.of(metric)).build());

        // what is wrong says so by its code, from a constructor and from a method
        refused("INVALID_SHARD_COUNT", () -> UniformStream.Builder.create(new Stack(), "None").shardCount(0).build());
        refused("INVALID_SHARD_COUNT", () -> ShardCounts.uniform(10_001));
        refused("INVALID_ARGUMENT", () -> byStatus.bindReader(
            application, ShardedIndexBindingOptions.builder().environmentVariable("1").build()));

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

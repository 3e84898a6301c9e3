"""Every public construct and every public method: the app in TypeScript, line by line."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kinesis as kinesis
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_rds as rds
from aws_cdk import aws_sqs as sqs

import cdk_even_shards as shards

app = cdk.App(analytics_reporting=False)
stack = cdk.Stack(app, "Languages", env=cdk.Environment(account="111111111111", region="eu-west-1"))


def text(name):
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


application = lambda_.Function(
    stack,
    "Application",
    runtime=lambda_.Runtime.NODEJS_22_X,
    handler="index.handler",
    code=lambda_.Code.from_inline("exports.handler = async () => {}"),
)
role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())

# streams
provider = shards.StreamReshardingProvider(stack, "Provider", timeout=cdk.Duration.minutes(2))
events = shards.UniformStream(
    stack,
    "Events",
    shard_count=4,
    hash_buckets=64,
    expected_traffic=shards.ExpectedStreamTraffic(records_per_second=100, bytes_per_second=1000, keys=50),
    deployed_shard_count=2,
    resharding_provider=provider,
)
reconciliation = events.add_reconciliation(repair=False)
events.produce_grants.produce(role)
busy = shards.UniformStream(stack, "Busy", shard_count=2)
scaling = busy.auto_scale_shard_count(min_capacity=1, max_capacity=8, target_utilization_percent=60)
busy.reshard_grants.inspect(role)
clicks = kinesis.Stream.from_stream_arn(stack, "Clicks", "arn:aws:kinesis:eu-west-1:111111111111:stream/clicks")
resharding = shards.StreamResharding(stack, "Resharding", stream=clicks, shard_count=3, provider=provider)
cdk.CfnOutput(stack, "OpenShardCount", value=cdk.Token.as_string(resharding.open_shard_count))
shards.StreamReconciliation(stack, "Reconciliation", stream=clicks, shard_count=3, repair=True)
views = shards.UniformStream.from_uniform_stream_attributes(
    stack,
    "Views",
    stream_arn="arn:aws:kinesis:eu-west-1:111111111111:stream/views",
    hash_buckets=64,
)
shards.StreamAutoScaling(stack, "Scaling", stream=views, min_capacity=2, max_capacity=4)
shards.StreamProduceGrants.from_stream(clicks).produce(role)
reshard_grants = shards.StreamReshardGrants.from_stream(clicks)
reshard_grants.inspect(role)
reshard_grants.reshard(role)
reshard_grants.scale(role)

# hash keys
registry = shards.HashKeyRegistry(stack, "Registry", stream=events)
registry_grants = registry.grants
registry_grants.administer(role)
registry_grants.allocate(role)
registry_grants.query(role)
registry_grants.read(role)
imported_registry = shards.HashKeyRegistry.from_hash_key_registry_attributes(
    stack,
    "ImportedRegistry",
    stream=clicks,
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:registry",
    table_arn="arn:aws:dynamodb:eu-west-1:111111111111:table/registry",
)

# producers
producer = shards.OrderedProducerFunction(
    stack,
    "Producer",
    stream=events,
    aggregation=True,
    sequence=True,
    hash_key_registry=registry,
    allocate_hash_keys=True,
    request_timeout=cdk.Duration.seconds(3),
)
producer.grant_invoke(role)
fifo = producer.add_fifo_queue("Queue", max_receive_count=5, visibility_timeout=cdk.Duration.minutes(6))
shards.OrderedProducerFunction(stack, "ClickProducer", stream=clicks, hash_key_registry=imported_registry)
imported_producer = shards.OrderedProducerFunction.from_function_arn(
    stack, "ImportedProducer", "arn:aws:lambda:eu-west-1:111111111111:function:producer"
)
shards.OrderedProducerFunction.from_function_attributes(
    stack,
    "SameProducer",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:same-producer",
    same_environment=True,
).grant_invoke(role)

# consumers
ordered_consumer = shards.OrderedStreamConsumer(
    stack,
    "Consumer",
    handler=application,
    stream=events,
    starting_position=lambda_.StartingPosition.TRIM_HORIZON,
    batch_size=500,
    parallelization_factor=2,
    retry_interval=cdk.Duration.minutes(5),
)
ordered_consumer.grant_operate(role)
imported_consumer = shards.OrderedStreamConsumer.from_ordered_stream_consumer_attributes(
    stack,
    "ImportedConsumer",
    consumer_name="orders",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:consumer",
    parking_table_arn="arn:aws:dynamodb:eu-west-1:111111111111:table/parked",
)

# tables
table = shards.ShardedTable(
    stack,
    "Table",
    partition_key=text("jobId"),
    dynamo_stream=dynamodb.StreamViewType.NEW_IMAGE,
    replicas=[dynamodb.ReplicaTableProps(region="us-east-1")],
)
counts = shards.ShardCounts.by_value({"succeeded": 35, "failed": 10, "7": 2, "aborted": 3}, 1)
by_status = table.add_sharded_index(
    index_name="byStatus",
    value_attribute=text("status"),
    sort_key=text("createdAt"),
    tie_breakers=[text("jobId")],
    shard_counts=counts.also_reading(shards.ShardCounts.by_value({"succeeded": 70, "new": 4}, 2)),
    expected_traffic=shards.ExpectedIndexTraffic(
        writes_per_second=500, shares={"succeeded": 70, "failed": 20, "aborted": 10}
    ),
)
by_time = table.add_sharded_index(
    index_name="byTime",
    sort_key=text("createdAt"),
    key_layout=shards.KeyLayout.SINGLE_ATTRIBUTE,
    strategy=shards.ShardingStrategy.RANDOM,
    shard_counts=shards.ShardCounts.uniform(5),
)
failed = sqs.Queue(stack, "Failed")
producer.add_table_stream(
    table=table,
    batch_size=50,
    filters=[lambda_.FilterCriteria.filter({"eventName": lambda_.FilterRule.is_equal("INSERT")})],
    max_record_age=cdk.Duration.hours(2),
    on_failure=sources.SqsDlq(failed),
)
by_status.bind_writer(application)
by_status.bind_reader(application)
by_time.bind_reader(application, environment_variable="TIME_INDEX")
by_status.grants.query(role)
imported_index = shards.ShardedIndex.from_sharded_index_attributes(
    table=dynamodb.TableV2.from_table_arn(stack, "Orders", "arn:aws:dynamodb:eu-west-1:111111111111:table/orders"),
    table_key=["orderId"],
    index_name="byState",
    value_attribute=text("state"),
    shard_counts=shards.ShardCounts.adaptive(initial=1, initial_by_value={"new": 3}, maximum=32),
    shard_count_table=dynamodb.TableV2.from_table_name(stack, "Counts", "counts"),
)
index_grants = imported_index.grants
index_grants.query(role)
index_grants.write(role)
index_grants.change_shard_counts(role)
index_grants.report_writes(role)
controller = shards.AdaptiveShardCountController(
    stack, "AdaptiveShardCountController", index=imported_index, timeout=cdk.Duration.minutes(2), memory_size=512
)
controller.metric_shard_count_raises()
controller.metric_throttled_values()
controller.metric_values_at_maximum()
controller.metric_most_shards()
controller.metric("ShardCountRaises")
cdk.CfnOutput(stack, "Config", value=imported_index.to_config_json())
cdk.CfnOutput(stack, "ReplicaConfig", value=by_status.on_replica("us-east-1").to_config_json())
index_item_mover = shards.IndexItemMover(
    stack, "IndexItemMover", index=by_time, read_units_per_second=100, write_units_per_second=50
)
index_item_mover.grant_start_execution(role)
invoices = shards.KeyShardedTable(
    stack,
    "Invoices",
    partition_key=text("invoice"),
    sort_key=text("transaction"),
    shard_counts=shards.ShardCounts.uniform(6).since(shards.ShardCounts.uniform(5)),
)
invoice_grants = invoices.shard_grants
invoice_grants.item(role)
invoice_grants.query(role)
invoice_grants.write(role)
invoice_grants.reshard(role)
imported_invoices = shards.KeyShardedTable.from_key_sharded_table_attributes(
    table=dynamodb.TableV2.from_table_name(stack, "ImportedInvoices", "invoices"),
    table_key=["invoice", "transaction"],
    shard_counts=shards.ShardCounts.uniform(5),
)
cdk.CfnOutput(stack, "InvoicesConfig", value=imported_invoices.to_config_json())
table_item_mover = shards.TableItemMover(
    stack,
    "TableItemMover",
    table=invoices,
    item_version=shards.ItemVersion.attribute("version"),
    read_units_per_second=100,
    write_units_per_second=50,
)
table_item_mover.grant_start_execution(role)
shards.TableItemMover(
    stack,
    "ImportedTableItemMover",
    table=imported_invoices,
    item_version=shards.ItemVersion.none(),
    read_units_per_second=100,
    write_units_per_second=50,
)

# queries
query = shards.FanOutQueryFunction(stack, "Query", indexes=[by_status, by_time], memory_size=512)
query.grant_invoke(application)
shards.FanOutQueryFunction.from_function_arn(
    stack, "ImportedQuery", "arn:aws:lambda:eu-west-1:111111111111:function:query"
).grant_invoke(role)
shards.FanOutQueryFunction.from_function_attributes(
    stack,
    "SameQuery",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:same-query",
    same_environment=True,
).grant_invoke(role)

# Amazon Keyspaces
posts = shards.ShardedKeyspacesTable(
    stack,
    "Posts",
    keyspace_name="blog",
    table_name="posts",
    partition_key=[shards.KeyspacesColumn(name="day", cql_type=shards.CqlType.DATE)],
    clustering_columns=[
        shards.KeyspacesClusteringColumn(
            name="at", cql_type=shards.CqlType.TIMESTAMP, order=shards.ClusteringOrder.DESCENDING
        ),
        shards.KeyspacesClusteringColumn(name="id", cql_type=shards.CqlType.UUID),
    ],
    regular_columns=[shards.KeyspacesColumn(name="tags", cql_type=shards.CqlType.of("set<text>"))],
    shard_counts=shards.ShardCounts.uniform(4),
    change_stream=shards.KeyspacesChangeView.NEW_IMAGE,
    billing=shards.KeyspacesBilling.provisioned(
        read_capacity=shards.KeyspacesCapacity.constant(10),
        write_capacity=shards.KeyspacesCapacity.autoscaled(min_capacity=1, max_capacity=20),
    ),
)
posts.bind_writer(application)
posts.bind_reader(application, environment_variable="POSTS_TO_READ")
drafts = shards.ShardedKeyspacesTable(
    stack,
    "Drafts",
    keyspace_name="blog",
    table_name="drafts",
    partition_key=[],
    clustering_columns=[shards.KeyspacesClusteringColumn(name="id", cql_type=shards.CqlType.TEXT)],
    shard_counts=shards.ShardCounts.uniform(2),
    billing=shards.KeyspacesBilling.on_demand(),
)
comments = shards.ShardedKeyspacesTable.from_table_attributes(
    stack,
    "Comments",
    keyspace_name="blog",
    table_name="comments",
    partition_key=[shards.KeyspacesColumn(name="post", cql_type=shards.CqlType.UUID)],
    clustering_columns=[shards.KeyspacesClusteringColumn(name="at", cql_type=shards.CqlType.TIMESTAMP)],
    column_names=["words"],
    shard_counts=shards.ShardCounts.uniform(3),
)
cdk.CfnOutput(stack, "CommentsConfig", value=comments.to_config_json())
row_grants = comments.grants
row_grants.modify_rows(role)
row_grants.select_rows(role)
rows = shards.KeyspacesFanOutQueryFunction(stack, "Rows", tables=[posts, drafts, comments])
rows.grant_invoke(application)
shards.KeyspacesFanOutQueryFunction.from_function_arn(
    stack, "ImportedRows", "arn:aws:lambda:eu-west-1:111111111111:function:rows"
).grant_invoke(role)
shards.KeyspacesFanOutQueryFunction.from_function_attributes(
    stack,
    "SameRows",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:same-rows",
    same_environment=True,
).grant_invoke(role)

# outbox
vpc = ec2.Vpc.from_vpc_attributes(
    stack,
    "Vpc",
    vpc_id="vpc-1",
    availability_zones=["eu-west-1a", "eu-west-1b"],
    private_subnet_ids=["subnet-1", "subnet-2"],
)
security_groups = [ec2.SecurityGroup.from_security_group_id(stack, "DatabaseGroup", "sg-1")]
cluster = rds.DatabaseCluster.from_database_cluster_attributes(
    stack,
    "Cluster",
    cluster_identifier="cluster",
    cluster_resource_identifier="cluster-1",
    cluster_endpoint_address="cluster.example.com",
    port=5432,
    security_groups=security_groups,
)
instance = rds.DatabaseInstance.from_database_instance_attributes(
    stack,
    "Instance",
    instance_identifier="instance",
    instance_resource_id="db-1",
    instance_endpoint_address="instance.example.com",
    port=5432,
    security_groups=security_groups,
)
proxied = rds.DatabaseInstance(
    stack, "Proxied", engine=rds.DatabaseInstanceEngine.postgres(version=rds.PostgresEngineVersion.VER_17), vpc=vpc
)
proxy = rds.DatabaseProxy(
    stack, "Proxy", proxy_target=rds.ProxyTarget.from_instance(proxied), secrets=[proxied.secret], vpc=vpc
)
relay = shards.OutboxRelayFunction(
    stack,
    "Relay",
    stream=events,
    database=shards.OutboxRelayDatabase.from_cluster(cluster, iam_user="relay"),
    vpc=vpc,
)
dax_cluster = shards.DaxCluster(stack, "DaxCluster", tables=[invoices], vpc=vpc)
dax_cluster.grant_read(role)
shards.DaxCluster.from_dax_cluster_attributes(
    stack,
    "ImportedDaxCluster",
    cluster_arn="arn:aws:dax:eu-west-1:111111111111:cache/elsewhere",
    endpoint="daxs://elsewhere.dax-clusters.eu-west-1.amazonaws.com",
    security_groups=security_groups,
).grant_read(role)
shards.StreamAutoScaling.from_stream_auto_scaling_attributes(
    stack,
    "ImportedScaling",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:scaler",
    stream=clicks,
).metric_utilization()
shards.StreamReconciliation.from_stream_reconciliation_attributes(
    stack,
    "ImportedReconciliation",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:reconciler",
    stream=clicks,
).metric("Skew")
shards.AdaptiveShardCountController.from_adaptive_shard_count_controller_attributes(
    stack,
    "ImportedController",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:controller",
    index=imported_index,
).metric("ShardCountRaises")
shards.StreamReshardingProvider.from_stream_resharding_provider_attributes(
    stack,
    "ImportedProvider",
    service_token="arn:aws:lambda:eu-west-1:111111111111:function:provider",
    role=role,
)
relay.grant_invoke(role)
shards.OutboxRelayFunction(
    stack,
    "InstanceRelay",
    stream=clicks,
    database=shards.OutboxRelayDatabase.from_instance(instance, iam_user="relay", database_name="shop"),
    vpc=vpc,
)
shards.OutboxRelayFunction(
    stack,
    "ProxyRelay",
    stream=views,
    database=shards.OutboxRelayDatabase.from_proxy(proxy, secret=proxied.secret),
    vpc=vpc,
)
imported_relay = shards.OutboxRelayFunction.from_function_arn(
    stack, "ImportedRelay", "arn:aws:lambda:eu-west-1:111111111111:function:relay"
)
shards.OutboxRelayFunction.from_function_attributes(
    stack,
    "SameRelay",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:same-relay",
    same_environment=True,
).grant_invoke(role)

# monitoring
monitoring = shards.ShardMonitoring(stack, "Monitoring", dashboard_name="shards")
consumer = shards.StreamConsumerMetrics.from_function(application)
monitoring.add_stream(events, reconciliation=reconciliation)
monitoring.add_stream(busy, auto_scaling=scaling, max_iterator_age=cdk.Duration.minutes(30))
monitoring.add_consumer(events, consumer, silence_alarm=False)
monitoring.add_consumer(
    events,
    shards.StreamConsumerMetrics.from_ordered_consumer(ordered_consumer),
    max_parked_time=cdk.Duration.minutes(20),
)
monitoring.add_producer(producer)
monitoring.add_producer(imported_producer, failure_alarm=False)
monitoring.add_dead_letter_queue(fifo.dead_letter_queue, max_messages=3)
monitoring.add_dead_letter_queue(failed)
monitoring.add_index(by_status, write_throttle_alarm=False, shard_count_controller=controller)
monitoring.add_query(query)
monitoring.add_query(rows)
monitoring.add_outbox(relay, max_lag=cdk.Duration.minutes(3))
monitoring.add_outbox(imported_relay)
monitoring.add_table(invoices, max_write_throttles=5)
monitoring.add_keyspaces_table(posts, max_read_throttles=5)
posts.metric_of_operation("PerConnectionRequestRateExceeded", "SELECT")
monitoring.add_dax_cluster(dax_cluster, max_faults=1)

stream_metrics = shards.StreamShardMetrics.from_stream(events)
age = cloudwatch.Metric(namespace="Mine", metric_name="Age")
metrics = [
    shards.StreamConsumerMetrics.from_polling(events).metric_millis_behind_latest(),
    shards.StreamConsumerMetrics.from_enhanced_fan_out(events, "reports").metric_millis_behind_latest(),
    shards.StreamConsumerMetrics.from_metric("mine", age).metric_reports(),
    query.metric_pages(period=cdk.Duration.minutes(1)),
    scaling.metric("Utilization"),
    scaling.metric_high_load_at_maximum(),
    scaling.metric_open_shards(),
    scaling.metric_shard_count_updates_left(),
    scaling.metric_utilization(),
    reconciliation.metric("Skew"),
    reconciliation.metric_skew(),
    stream_metrics.metric("IncomingBytes"),
    stream_metrics.metric_hottest_to_mean_bytes(),
    stream_metrics.metric_hottest_to_mean_records(),
    stream_metrics.metric_incoming_bytes(),
    stream_metrics.metric_incoming_records(),
    stream_metrics.metric_write_provisioned_throughput_exceeded(),
    consumer.metric_millis_behind_latest(),
    consumer.metric_reports(),
    producer.metric("UserRecordsPut"),
    producer.metric_all_errors(),
    producer.metric_request_time(),
    producer.metric_retries_per_record(),
    producer.metric_user_records_failed(),
    producer.metric_user_records_failed_by_reason("RECORD_REJECTED"),
    producer.metric_user_records_put(),
    producer.metric_user_records_received(),
    imported_consumer.metric("ParkedKeys"),
    ordered_consumer.metric_busy_handlers(),
    ordered_consumer.metric_dead_keys(),
    ordered_consumer.metric_longest_key(),
    ordered_consumer.metric_parked_keys(),
    ordered_consumer.metric_parked_seconds(),
    query.metric("Pages"),
    query.metric_consumed_read_units(),
    query.metric_over_read(),
    query.metric_pages(),
    query.metric_requests(),
    query.metric_waves(),
    rows.metric("Pages"),
    rows.metric_over_read(),
    rows.metric_pages(),
    rows.metric_requests(),
    rows.metric_waves(),
    by_status.metric("ReturnedItemCount"),
    by_status.metric_consumed_read_capacity_units(),
    by_status.metric_consumed_write_capacity_units(),
    by_status.metric_online_index_consumed_write_capacity(),
    by_status.metric_read_key_range_throughput_throttle_events(),
    by_status.metric_read_throttle_events(),
    by_status.metric_write_key_range_throughput_throttle_events(),
    by_status.metric_write_throttle_events(),
    index_item_mover.metric("Strays"),
    index_item_mover.metric_hidden_strays(),
    dax_cluster.metric("EvictedSize"),
    dax_cluster.metric_query_cache_hits(),
    dax_cluster.metric_query_cache_misses(),
    dax_cluster.metric_item_cache_hits(),
    dax_cluster.metric_item_cache_misses(),
    dax_cluster.metric_throttled_request_count(),
    dax_cluster.metric_fault_request_count(),
    dax_cluster.metric_error_request_count(),
    dax_cluster.metric_evicted_size(),
    dax_cluster.metric_cache_memory_utilization(),
    dax_cluster.metric_cpu_utilization(),
    relay.metric("ParkedRows"),
    relay.metric_given_up_rows(),
    relay.metric_parked_rows(),
    relay.metric_rejections(),
    relay.metric_relayed_rows(),
    relay.metric_waiting_rows(),
    relay.metric_waiting_seconds(),
]
dashboard = cloudwatch.Dashboard(stack, "Dashboard")
for metric in metrics:
    dashboard.add_widgets(cloudwatch.GraphWidget(left=[metric]))


# what is wrong says so by its code, from a constructor and from a method
def refused(code, act):
    try:
        act()
    except RuntimeError as error:
        assert f"[{code}] " in str(error), error
    else:
        raise AssertionError(f"not refused with {code}")


refused("INVALID_SHARD_COUNT", lambda: shards.UniformStream(cdk.Stack(), "None", shard_count=0))
refused("INVALID_SHARD_COUNT", lambda: shards.ShardCounts.uniform(10_001))
refused("INVALID_ARGUMENT", lambda: by_status.bind_reader(application, environment_variable="1"))

app.synth()

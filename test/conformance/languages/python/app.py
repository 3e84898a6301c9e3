"""Uses features that can fail in a single language. Repeats the app in TypeScript line by line."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kinesis as kinesis
from aws_cdk import aws_lambda as lambda_

import cdk_even_shards as shards

app = cdk.App(analytics_reporting=False)
stack = cdk.Stack(app, "Languages", env=cdk.Environment(account="111111111111", region="eu-west-1"))


def text(name):
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())

# a nested struct, and the return value of a method
events = shards.UniformStream(
    stack,
    "Events",
    shard_count=4,
    expected_traffic=shards.ExpectedStreamTraffic(records_per_second=100, bytes_per_second=1000, keys=50),
    deployed_shard_count=2,
    resharding_provider=shards.StreamReshardingProvider(stack, "Provider", timeout=cdk.Duration.minutes(2)),
)
reconciliation = events.add_reconciliation(repair=False)
events.produce_grants.produce(role)

# an interface of the CDK, and an interface of the library
clicks = kinesis.Stream.from_stream_arn(stack, "Clicks", "arn:aws:kinesis:eu-west-1:111111111111:stream/clicks")
shards.StreamReshardGrants.from_stream(clicks).reshard(role)
imported = shards.OrderedProducerFunction.from_function_attributes(
    stack,
    "Imported",
    function_arn="arn:aws:lambda:eu-west-1:111111111111:function:producer",
    same_environment=True,
)
imported.grant_invoke(role)

# maps whose values are numbers or any type, lists of structs, enumerations
table = shards.ShardedTable(
    stack,
    "Table",
    partition_key=text("jobId"),
    dynamo_stream=dynamodb.StreamViewType.NEW_IMAGE,
)
by_status = table.add_sharded_index(
    index_name="byStatus",
    value_attribute=text("status"),
    sort_key=text("createdAt"),
    tie_breakers=[text("jobId")],
    key_layout=shards.KeyLayout.MULTI_ATTRIBUTE,
    shard_counts=shards.ShardCounts.by_value({"succeeded": 35, "failed": 10, "7": 2}, 1).also_reading(
        shards.ShardCounts.uniform(2)
    ),
)
producer = shards.OrderedProducerFunction(stack, "Producer", stream=clicks, sequence=True)
producer.add_table_stream(
    table=table,
    filters=[lambda_.FilterCriteria.filter({"eventName": lambda_.FilterRule.is_equal("INSERT")})],
)
cdk.CfnOutput(stack, "Config", value=by_status.to_config_json())
shards.ShardedKeyspacesTable(
    stack,
    "Posts",
    keyspace_name="blog",
    table_name="posts",
    partition_key=[],
    clustering_columns=[
        shards.KeyspacesClusteringColumn(
            name="at", cql_type=shards.CqlType.TIMESTAMP, order=shards.ClusteringOrder.DESCENDING
        )
    ],
    regular_columns=[shards.KeyspacesColumn(name="tags", cql_type=shards.CqlType.of("set<text>"))],
    shard_counts=shards.ShardCounts.uniform(4),
    billing=shards.KeyspacesBilling.on_demand(),
)

# lists of constructs, and omitted options
query = shards.FanOutQueryFunction(stack, "Query", indexes=[by_status])
monitoring = shards.ShardMonitoring(stack, "Monitoring", dashboard_name="shards")
monitoring.add_stream(events, reconciliation=reconciliation)
monitoring.add_producer(producer)
monitoring.add_producer(imported, max_failures=10)
monitoring.add_query(query)
metrics = [
    query.metric_pages(period=cdk.Duration.minutes(1)),
    producer.metric_user_records_failed_by_reason("RECORD_REJECTED"),
    shards.StreamConsumerMetrics.from_polling(events).metric_millis_behind_latest(),
]
cloudwatch.Dashboard(stack, "Dashboard").add_widgets(cloudwatch.GraphWidget(left=metrics))


# errors with their codes, from a constructor and from a method
def refused(code, act):
    try:
        act()
    except RuntimeError as error:
        assert f"[{code}] " in str(error), error
    else:
        raise AssertionError(f"not refused with {code}")


refused("INVALID_SHARD_COUNT", lambda: shards.UniformStream(cdk.Stack(), "None", shard_count=0))
refused("INVALID_SHARD_COUNT", lambda: shards.ShardCounts.uniform(10_001))

app.synth()

// Every public construct and every public method: the app in TypeScript, line by line.
package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskinesis"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsrds"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
	shards "github.com/cdk-even-shards/cdk-even-shards-go/cdkevenshards"
)

func text(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: &name, Type: awsdynamodb.AttributeType_STRING}
}

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	stack := awscdk.NewStack(app, jsii.String("Languages"), &awscdk.StackProps{
		Env: &awscdk.Environment{Account: jsii.String("111111111111"), Region: jsii.String("eu-west-1")},
	})
	application := awslambda.NewFunction(stack, jsii.String("Application"), &awslambda.FunctionProps{
		Runtime: awslambda.Runtime_NODEJS_22_X(),
		Handler: jsii.String("index.handler"),
		Code:    awslambda.Code_FromInline(jsii.String("exports.handler = async () => {}")),
	})
	role := awsiam.NewRole(stack, jsii.String("Role"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})

	// streams
	provider := shards.NewStreamReshardingProvider(stack, jsii.String("Provider"), &shards.StreamReshardingProviderProps{
		Timeout: awscdk.Duration_Minutes(jsii.Number(2)),
	})
	events := shards.NewUniformStream(stack, jsii.String("Events"), &shards.UniformStreamProps{
		ShardCount:  jsii.Number(4),
		HashBuckets: jsii.Number(64),
		ExpectedTraffic: &shards.ExpectedStreamTraffic{
			RecordsPerSecond: jsii.Number(100),
			BytesPerSecond:   jsii.Number(1000),
			Keys:             jsii.Number(50),
		},
		DeployedShardCount: jsii.Number(2),
		ReshardingProvider: provider,
	})
	reconciliation := events.AddReconciliation(&shards.StreamReconciliationOptions{Repair: jsii.Bool(false)})
	events.ProduceGrants().Produce(role)
	busy := shards.NewUniformStream(stack, jsii.String("Busy"), &shards.UniformStreamProps{ShardCount: jsii.Number(2)})
	scaling := busy.AutoScaleShardCount(&shards.StreamAutoScalingOptions{
		MinCapacity:              jsii.Number(1),
		MaxCapacity:              jsii.Number(8),
		TargetUtilizationPercent: jsii.Number(60),
	})
	busy.ReshardGrants().Inspect(role)
	clicks := awskinesis.Stream_FromStreamArn(stack, jsii.String("Clicks"), jsii.String("arn:aws:kinesis:eu-west-1:111111111111:stream/clicks"))
	resharding := shards.NewStreamResharding(stack, jsii.String("Resharding"), &shards.StreamReshardingProps{
		Stream:     clicks,
		ShardCount: jsii.Number(3),
		Provider:   provider,
	})
	awscdk.NewCfnOutput(stack, jsii.String("OpenShardCount"), &awscdk.CfnOutputProps{
		Value: awscdk.Token_AsString(resharding.OpenShardCount(), nil),
	})
	shards.NewStreamReconciliation(stack, jsii.String("Reconciliation"), &shards.StreamReconciliationProps{
		Stream:     clicks,
		ShardCount: jsii.Number(3),
		Repair:     jsii.Bool(true),
	})
	views := shards.UniformStream_FromUniformStreamAttributes(stack, jsii.String("Views"), &shards.UniformStreamAttributes{
		StreamArn:   jsii.String("arn:aws:kinesis:eu-west-1:111111111111:stream/views"),
		HashBuckets: jsii.Number(64),
	})
	shards.NewStreamAutoScaling(stack, jsii.String("Scaling"), &shards.StreamAutoScalingProps{
		Stream:      views,
		MinCapacity: jsii.Number(2),
		MaxCapacity: jsii.Number(4),
	})
	shards.StreamProduceGrants_FromStream(clicks).Produce(role)
	reshardGrants := shards.StreamReshardGrants_FromStream(clicks)
	reshardGrants.Inspect(role)
	reshardGrants.Reshard(role)
	reshardGrants.Scale(role)

	// hash keys
	registry := shards.NewHashKeyRegistry(stack, jsii.String("Registry"), &shards.HashKeyRegistryProps{Stream: events})
	registryGrants := registry.Grants()
	registryGrants.Administer(role)
	registryGrants.Allocate(role)
	registryGrants.Query(role)
	registryGrants.Read(role)
	importedRegistry := shards.HashKeyRegistry_FromHashKeyRegistryAttributes(stack, jsii.String("ImportedRegistry"), &shards.HashKeyRegistryAttributes{
		Stream:      clicks,
		FunctionArn: jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:registry"),
		TableArn:    jsii.String("arn:aws:dynamodb:eu-west-1:111111111111:table/registry"),
	})

	// producers
	producer := shards.NewOrderedProducerFunction(stack, jsii.String("Producer"), &shards.OrderedProducerFunctionProps{
		Stream:           events,
		Aggregation:      jsii.Bool(true),
		Sequence:         jsii.Bool(true),
		HashKeyRegistry:  registry,
		AllocateHashKeys: jsii.Bool(true),
		RequestTimeout:   awscdk.Duration_Seconds(jsii.Number(3)),
	})
	producer.GrantInvoke(role)
	fifo := producer.AddFifoQueue(jsii.String("Queue"), &shards.ProducerFifoQueueOptions{
		MaxReceiveCount:   jsii.Number(5),
		VisibilityTimeout: awscdk.Duration_Minutes(jsii.Number(6)),
	})
	shards.NewOrderedProducerFunction(stack, jsii.String("ClickProducer"), &shards.OrderedProducerFunctionProps{
		Stream:          clicks,
		HashKeyRegistry: importedRegistry,
	})
	importedProducer := shards.OrderedProducerFunction_FromFunctionArn(stack, jsii.String("ImportedProducer"), jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:producer"))
	shards.OrderedProducerFunction_FromFunctionAttributes(stack, jsii.String("SameProducer"), &awslambda.FunctionAttributes{
		FunctionArn:     jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:same-producer"),
		SameEnvironment: jsii.Bool(true),
	}).GrantInvoke(role)

	// consumers
	orderedConsumer := shards.NewOrderedStreamConsumer(stack, jsii.String("Consumer"), &shards.OrderedStreamConsumerProps{
		Handler:               application,
		Stream:                events,
		StartingPosition:      awslambda.StartingPosition_TRIM_HORIZON,
		BatchSize:             jsii.Number(500),
		ParallelizationFactor: jsii.Number(2),
		RetryInterval:         awscdk.Duration_Minutes(jsii.Number(5)),
	})
	orderedConsumer.GrantOperate(role)
	importedConsumer := shards.OrderedStreamConsumer_FromOrderedStreamConsumerAttributes(stack, jsii.String("ImportedConsumer"), &shards.OrderedStreamConsumerAttributes{
		ConsumerName:    jsii.String("orders"),
		FunctionArn:     jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:consumer"),
		ParkingTableArn: jsii.String("arn:aws:dynamodb:eu-west-1:111111111111:table/parked"),
	})

	// tables
	table := shards.NewShardedTable(stack, jsii.String("Table"), &shards.ShardedTableProps{
		PartitionKey: text("jobId"),
		DynamoStream: awsdynamodb.StreamViewType_NEW_IMAGE,
		Replicas:     &[]*awsdynamodb.ReplicaTableProps{{Region: jsii.String("us-east-1")}},
	})
	counts := shards.ShardCounts_ByValue(&map[string]*float64{
		"succeeded": jsii.Number(35),
		"failed":    jsii.Number(10),
		"7":         jsii.Number(2),
		"aborted":   jsii.Number(3),
	}, jsii.Number(1))
	byStatus := table.AddShardedIndex(&shards.ShardedIndexOptions{
		IndexName:      jsii.String("byStatus"),
		ValueAttribute: text("status"),
		SortKey:        text("createdAt"),
		TieBreakers:    &[]*awsdynamodb.Attribute{text("jobId")},
		ShardCounts: counts.AlsoReading(shards.ShardCounts_ByValue(&map[string]*float64{
			"succeeded": jsii.Number(70),
			"new":       jsii.Number(4),
		}, jsii.Number(2))),
		ExpectedTraffic: &shards.ExpectedIndexTraffic{
			WritesPerSecond: jsii.Number(500),
			Shares:          &map[string]*float64{"succeeded": jsii.Number(70), "failed": jsii.Number(20), "aborted": jsii.Number(10)},
		},
	})
	byTime := table.AddShardedIndex(&shards.ShardedIndexOptions{
		IndexName:   jsii.String("byTime"),
		SortKey:     text("createdAt"),
		KeyLayout:   shards.KeyLayout_SINGLE_ATTRIBUTE,
		Strategy:    shards.ShardingStrategy_RANDOM,
		ShardCounts: shards.ShardCounts_Uniform(jsii.Number(5)),
	})
	failed := awssqs.NewQueue(stack, jsii.String("Failed"), nil)
	producer.AddTableStream(&shards.ProducerTableStreamOptions{
		Table:     table,
		BatchSize: jsii.Number(50),
		Filters: &[]*map[string]any{
			awslambda.FilterCriteria_Filter(&map[string]any{"eventName": awslambda.FilterRule_IsEqual("INSERT")}),
		},
		MaxRecordAge: awscdk.Duration_Hours(jsii.Number(2)),
		OnFailure:    awslambdaeventsources.NewSqsDlq(failed),
	})
	byStatus.BindWriter(application, nil)
	byStatus.BindReader(application, nil)
	byTime.BindReader(application, &shards.ShardedIndexBindingOptions{EnvironmentVariable: jsii.String("TIME_INDEX")})
	byStatus.Grants().Query(role)
	importedIndex := shards.ShardedIndex_FromShardedIndexAttributes(&shards.ShardedIndexAttributes{
		Table:          awsdynamodb.TableV2_FromTableArn(stack, jsii.String("Orders"), jsii.String("arn:aws:dynamodb:eu-west-1:111111111111:table/orders")),
		TableKey:       jsii.Strings("orderId"),
		IndexName:      jsii.String("byState"),
		ValueAttribute: text("state"),
		ShardCounts: shards.ShardCounts_Adaptive(&shards.AdaptiveShardCountsOptions{
			Initial:        jsii.Number(1),
			InitialByValue: &map[string]*float64{"new": jsii.Number(3)},
			Maximum:        jsii.Number(32),
		}),
		ShardCountTable: awsdynamodb.TableV2_FromTableName(stack, jsii.String("Counts"), jsii.String("counts")),
	})
	indexGrants := importedIndex.Grants()
	indexGrants.Query(role)
	indexGrants.Write(role)
	indexGrants.ChangeShardCounts(role)
	indexGrants.ReportWrites(role)
	controller := shards.NewAdaptiveShardCountController(stack, jsii.String("AdaptiveShardCountController"), &shards.AdaptiveShardCountControllerProps{
		Index:      importedIndex,
		Timeout:    awscdk.Duration_Minutes(jsii.Number(2)),
		MemorySize: jsii.Number(512),
	})
	controller.MetricShardCountRaises(nil)
	controller.MetricThrottledValues(nil)
	controller.MetricValuesAtMaximum(nil)
	controller.MetricMostShards(nil)
	controller.Metric(jsii.String("ShardCountRaises"), nil)
	awscdk.NewCfnOutput(stack, jsii.String("Config"), &awscdk.CfnOutputProps{Value: importedIndex.ToConfigJson()})
	awscdk.NewCfnOutput(stack, jsii.String("ReplicaConfig"), &awscdk.CfnOutputProps{
		Value: byStatus.OnReplica(jsii.String("us-east-1")).ToConfigJson(),
	})
	indexItemMover := shards.NewIndexItemMover(stack, jsii.String("IndexItemMover"), &shards.IndexItemMoverProps{
		Index:               byTime,
		ReadUnitsPerSecond:  jsii.Number(100),
		WriteUnitsPerSecond: jsii.Number(50),
	})
	indexItemMover.GrantStartExecution(role)
	invoices := shards.NewKeyShardedTable(stack, jsii.String("Invoices"), &shards.KeyShardedTableProps{
		PartitionKey: text("invoice"),
		SortKey:      text("transaction"),
		ShardCounts:  shards.ShardCounts_Uniform(jsii.Number(6)).Since(shards.ShardCounts_Uniform(jsii.Number(5))),
	})
	invoiceGrants := invoices.ShardGrants()
	invoiceGrants.Item(role)
	invoiceGrants.Query(role)
	invoiceGrants.Write(role)
	invoiceGrants.Reshard(role)
	importedInvoices := shards.KeyShardedTable_FromKeyShardedTableAttributes(&shards.KeyShardedTableAttributes{
		Table:       awsdynamodb.TableV2_FromTableName(stack, jsii.String("ImportedInvoices"), jsii.String("invoices")),
		TableKey:    jsii.Strings("invoice", "transaction"),
		ShardCounts: shards.ShardCounts_Uniform(jsii.Number(5)),
	})
	awscdk.NewCfnOutput(stack, jsii.String("InvoicesConfig"), &awscdk.CfnOutputProps{Value: importedInvoices.ToConfigJson()})
	tableItemMover := shards.NewTableItemMover(stack, jsii.String("TableItemMover"), &shards.TableItemMoverProps{
		Table:               invoices,
		ItemVersion:         shards.ItemVersion_Attribute(jsii.String("version")),
		ReadUnitsPerSecond:  jsii.Number(100),
		WriteUnitsPerSecond: jsii.Number(50),
	})
	tableItemMover.GrantStartExecution(role)
	shards.NewTableItemMover(stack, jsii.String("ImportedTableItemMover"), &shards.TableItemMoverProps{
		Table:               importedInvoices,
		ItemVersion:         shards.ItemVersion_None(),
		ReadUnitsPerSecond:  jsii.Number(100),
		WriteUnitsPerSecond: jsii.Number(50),
	})

	// queries
	query := shards.NewFanOutQueryFunction(stack, jsii.String("Query"), &shards.FanOutQueryFunctionProps{
		Indexes:    &[]shards.IShardedIndex{byStatus, byTime},
		MemorySize: jsii.Number(512),
	})
	query.GrantInvoke(application)
	shards.FanOutQueryFunction_FromFunctionArn(stack, jsii.String("ImportedQuery"), jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:query")).GrantInvoke(role)
	shards.FanOutQueryFunction_FromFunctionAttributes(stack, jsii.String("SameQuery"), &awslambda.FunctionAttributes{
		FunctionArn:     jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:same-query"),
		SameEnvironment: jsii.Bool(true),
	}).GrantInvoke(role)

	// Amazon Keyspaces
	posts := shards.NewShardedKeyspacesTable(stack, jsii.String("Posts"), &shards.ShardedKeyspacesTableProps{
		KeyspaceName: jsii.String("blog"),
		TableName:    jsii.String("posts"),
		PartitionKey: &[]*shards.KeyspacesColumn{{Name: jsii.String("day"), CqlType: shards.CqlType_DATE()}},
		ClusteringColumns: &[]*shards.KeyspacesClusteringColumn{
			{Name: jsii.String("at"), CqlType: shards.CqlType_TIMESTAMP(), Order: shards.ClusteringOrder_DESCENDING},
			{Name: jsii.String("id"), CqlType: shards.CqlType_UUID()},
		},
		RegularColumns: &[]*shards.KeyspacesColumn{{Name: jsii.String("tags"), CqlType: shards.CqlType_Of(jsii.String("set<text>"))}},
		ShardCounts:    shards.ShardCounts_Uniform(jsii.Number(4)),
		ChangeStream:   shards.KeyspacesChangeView_NEW_IMAGE,
		Billing: shards.KeyspacesBilling_Provisioned(&shards.KeyspacesProvisionedThroughput{
			ReadCapacity: shards.KeyspacesCapacity_Constant(jsii.Number(10)),
			WriteCapacity: shards.KeyspacesCapacity_Autoscaled(&shards.KeyspacesAutoscaledCapacityOptions{
				MinCapacity: jsii.Number(1),
				MaxCapacity: jsii.Number(20),
			}),
		}),
	})
	posts.BindWriter(application, nil)
	posts.BindReader(application, &shards.KeyspacesTableBindingOptions{EnvironmentVariable: jsii.String("POSTS_TO_READ")})
	drafts := shards.NewShardedKeyspacesTable(stack, jsii.String("Drafts"), &shards.ShardedKeyspacesTableProps{
		KeyspaceName:      jsii.String("blog"),
		TableName:         jsii.String("drafts"),
		PartitionKey:      &[]*shards.KeyspacesColumn{},
		ClusteringColumns: &[]*shards.KeyspacesClusteringColumn{{Name: jsii.String("id"), CqlType: shards.CqlType_TEXT()}},
		ShardCounts:       shards.ShardCounts_Uniform(jsii.Number(2)),
		Billing:           shards.KeyspacesBilling_OnDemand(),
	})
	comments := shards.ShardedKeyspacesTable_FromTableAttributes(stack, jsii.String("Comments"), &shards.ShardedKeyspacesTableAttributes{
		KeyspaceName:      jsii.String("blog"),
		TableName:         jsii.String("comments"),
		PartitionKey:      &[]*shards.KeyspacesColumn{{Name: jsii.String("post"), CqlType: shards.CqlType_UUID()}},
		ClusteringColumns: &[]*shards.KeyspacesClusteringColumn{{Name: jsii.String("at"), CqlType: shards.CqlType_TIMESTAMP()}},
		ColumnNames:       jsii.Strings("words"),
		ShardCounts:       shards.ShardCounts_Uniform(jsii.Number(3)),
	})
	awscdk.NewCfnOutput(stack, jsii.String("CommentsConfig"), &awscdk.CfnOutputProps{Value: comments.ToConfigJson()})
	rowGrants := comments.Grants()
	rowGrants.ModifyRows(role)
	rowGrants.SelectRows(role)
	rows := shards.NewKeyspacesFanOutQueryFunction(stack, jsii.String("Rows"), &shards.KeyspacesFanOutQueryFunctionProps{
		Tables: &[]shards.IShardedKeyspacesTable{posts, drafts, comments},
	})
	rows.GrantInvoke(application)
	shards.KeyspacesQueryFunction_FromFunctionArn(stack, jsii.String("ImportedRows"), jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:rows")).GrantInvoke(role)
	shards.KeyspacesQueryFunction_FromFunctionAttributes(stack, jsii.String("SameRows"), &awslambda.FunctionAttributes{
		FunctionArn:     jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:same-rows"),
		SameEnvironment: jsii.Bool(true),
	}).GrantInvoke(role)

	// outbox
	vpc := awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Vpc"), &awsec2.VpcAttributes{
		VpcId:             jsii.String("vpc-1"),
		AvailabilityZones: jsii.Strings("eu-west-1a", "eu-west-1b"),
		PrivateSubnetIds:  jsii.Strings("subnet-1", "subnet-2"),
	})
	securityGroups := &[]awsec2.ISecurityGroup{
		awsec2.SecurityGroup_FromSecurityGroupId(stack, jsii.String("DatabaseGroup"), jsii.String("sg-1"), nil),
	}
	cluster := awsrds.DatabaseCluster_FromDatabaseClusterAttributes(stack, jsii.String("Cluster"), &awsrds.DatabaseClusterAttributes{
		ClusterIdentifier:         jsii.String("cluster"),
		ClusterResourceIdentifier: jsii.String("cluster-1"),
		ClusterEndpointAddress:    jsii.String("cluster.example.com"),
		Port:                      jsii.Number(5432),
		SecurityGroups:            securityGroups,
	})
	instance := awsrds.DatabaseInstance_FromDatabaseInstanceAttributes(stack, jsii.String("Instance"), &awsrds.DatabaseInstanceAttributes{
		InstanceIdentifier:      jsii.String("instance"),
		InstanceResourceId:      jsii.String("db-1"),
		InstanceEndpointAddress: jsii.String("instance.example.com"),
		Port:                    jsii.Number(5432),
		SecurityGroups:          securityGroups,
	})
	proxied := awsrds.NewDatabaseInstance(stack, jsii.String("Proxied"), &awsrds.DatabaseInstanceProps{
		Engine: awsrds.DatabaseInstanceEngine_Postgres(&awsrds.PostgresInstanceEngineProps{Version: awsrds.PostgresEngineVersion_VER_17()}),
		Vpc:    vpc,
	})
	proxy := awsrds.NewDatabaseProxy(stack, jsii.String("Proxy"), &awsrds.DatabaseProxyProps{
		ProxyTarget: awsrds.ProxyTarget_FromInstance(proxied),
		Secrets:     &[]awssecretsmanager.ISecret{proxied.Secret()},
		Vpc:         vpc,
	})
	relay := shards.NewOutboxRelayFunction(stack, jsii.String("Relay"), &shards.OutboxRelayFunctionProps{
		Stream:   events,
		Database: shards.OutboxRelayDatabase_FromCluster(cluster, &shards.OutboxRelayDatabaseOptions{IamUser: jsii.String("relay")}),
		Vpc:      vpc,
	})
	daxCluster := shards.NewDaxCluster(stack, jsii.String("DaxCluster"), &shards.DaxClusterProps{
		Tables: &[]awsdynamodb.ITableV2{invoices},
		Vpc:    vpc,
	})
	daxCluster.GrantRead(role)
	shards.DaxCluster_FromDaxClusterAttributes(stack, jsii.String("ImportedDaxCluster"), &shards.DaxClusterAttributes{
		ClusterArn:     jsii.String("arn:aws:dax:eu-west-1:111111111111:cache/elsewhere"),
		Endpoint:       jsii.String("daxs://elsewhere.dax-clusters.eu-west-1.amazonaws.com"),
		SecurityGroups: securityGroups,
	}).GrantRead(role)
	shards.StreamAutoScaling_FromStreamAutoScalingAttributes(stack, jsii.String("ImportedScaling"), &shards.StreamAutoScalingAttributes{
		FunctionArn: jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:scaler"),
		Stream:      clicks,
	}).MetricUtilization(nil)
	shards.StreamReconciliation_FromStreamReconciliationAttributes(stack, jsii.String("ImportedReconciliation"), &shards.StreamReconciliationAttributes{
		FunctionArn: jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:reconciler"),
		Stream:      clicks,
	}).Metric(jsii.String("Skew"), nil)
	shards.AdaptiveShardCountController_FromAdaptiveShardCountControllerAttributes(stack, jsii.String("ImportedController"), &shards.AdaptiveShardCountControllerAttributes{
		FunctionArn: jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:controller"),
		Index:       importedIndex,
	}).Metric(jsii.String("ShardCountRaises"), nil)
	shards.StreamReshardingProvider_FromStreamReshardingProviderAttributes(stack, jsii.String("ImportedProvider"), &shards.StreamReshardingProviderAttributes{
		ServiceToken: jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:provider"),
		Role:         role,
	})
	relay.GrantInvoke(role)
	shards.NewOutboxRelayFunction(stack, jsii.String("InstanceRelay"), &shards.OutboxRelayFunctionProps{
		Stream: clicks,
		Database: shards.OutboxRelayDatabase_FromInstance(instance, &shards.OutboxRelayDatabaseOptions{
			IamUser:      jsii.String("relay"),
			DatabaseName: jsii.String("shop"),
		}),
		Vpc: vpc,
	})
	shards.NewOutboxRelayFunction(stack, jsii.String("ProxyRelay"), &shards.OutboxRelayFunctionProps{
		Stream:   views,
		Database: shards.OutboxRelayDatabase_FromProxy(proxy, &shards.OutboxRelayDatabaseOptions{Secret: proxied.Secret()}),
		Vpc:      vpc,
	})
	importedRelay := shards.OutboxRelayFunction_FromFunctionArn(stack, jsii.String("ImportedRelay"), jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:relay"))
	shards.OutboxRelayFunction_FromFunctionAttributes(stack, jsii.String("SameRelay"), &awslambda.FunctionAttributes{
		FunctionArn:     jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:same-relay"),
		SameEnvironment: jsii.Bool(true),
	}).GrantInvoke(role)

	// monitoring
	monitoring := shards.NewShardMonitoring(stack, jsii.String("Monitoring"), &shards.ShardMonitoringProps{DashboardName: jsii.String("shards")})
	consumer := shards.StreamConsumerMetrics_FromFunction(application)
	monitoring.AddStream(events, &shards.StreamMonitoringOptions{Reconciliation: reconciliation})
	monitoring.AddStream(busy, &shards.StreamMonitoringOptions{AutoScaling: scaling, MaxIteratorAge: awscdk.Duration_Minutes(jsii.Number(30))})
	monitoring.AddConsumer(events, consumer, &shards.ConsumerMonitoringOptions{SilenceAlarm: jsii.Bool(false)})
	monitoring.AddConsumer(events, shards.StreamConsumerMetrics_FromOrderedConsumer(orderedConsumer), &shards.ConsumerMonitoringOptions{
		MaxParkedTime: awscdk.Duration_Minutes(jsii.Number(20)),
	})
	monitoring.AddProducer(producer, nil)
	monitoring.AddProducer(importedProducer, &shards.ProducerMonitoringOptions{FailureAlarm: jsii.Bool(false)})
	monitoring.AddDeadLetterQueue(fifo.DeadLetterQueue(), &shards.DeadLetterQueueMonitoringOptions{MaxMessages: jsii.Number(3)})
	monitoring.AddDeadLetterQueue(failed, nil)
	monitoring.AddIndex(byStatus, &shards.IndexMonitoringOptions{
		WriteThrottleAlarm:   jsii.Bool(false),
		ShardCountController: controller,
	})
	monitoring.AddQuery(query)
	monitoring.AddQuery(rows)
	monitoring.AddOutbox(relay, &shards.OutboxMonitoringOptions{MaxLag: awscdk.Duration_Minutes(jsii.Number(3))})
	monitoring.AddOutbox(importedRelay, nil)
	monitoring.AddTable(invoices, &shards.TableMonitoringOptions{MaxWriteThrottles: jsii.Number(5)})
	monitoring.AddKeyspacesTable(posts, &shards.TableMonitoringOptions{MaxReadThrottles: jsii.Number(5)})
	posts.MetricOfOperation(jsii.String("PerConnectionRequestRateExceeded"), jsii.String("SELECT"), nil)
	monitoring.AddDaxCluster(daxCluster, &shards.DaxMonitoringOptions{MaxFaults: jsii.Number(1)})

	streamMetrics := shards.StreamShardMetrics_FromStream(events)
	age := awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: jsii.String("Mine"), MetricName: jsii.String("Age")})
	metrics := []awscloudwatch.IMetric{
		shards.StreamConsumerMetrics_FromPolling(events).MetricMillisBehindLatest(nil),
		shards.StreamConsumerMetrics_FromEnhancedFanOut(events, jsii.String("reports")).MetricMillisBehindLatest(nil),
		shards.StreamConsumerMetrics_FromMetric(jsii.String("mine"), age).MetricReports(nil),
		query.MetricPages(&awscloudwatch.MetricOptions{Period: awscdk.Duration_Minutes(jsii.Number(1))}),
		scaling.Metric(jsii.String("Utilization"), nil),
		scaling.MetricHighLoadAtMaximum(nil),
		scaling.MetricOpenShards(nil),
		scaling.MetricShardCountUpdatesLeft(nil),
		scaling.MetricUtilization(nil),
		reconciliation.Metric(jsii.String("Skew"), nil),
		reconciliation.MetricSkew(nil),
		streamMetrics.Metric(jsii.String("IncomingBytes"), nil, nil),
		streamMetrics.MetricHottestToMeanBytes(nil),
		streamMetrics.MetricHottestToMeanRecords(nil),
		streamMetrics.MetricIncomingBytes(nil),
		streamMetrics.MetricIncomingRecords(nil),
		streamMetrics.MetricWriteProvisionedThroughputExceeded(nil),
		consumer.MetricMillisBehindLatest(nil),
		consumer.MetricReports(nil),
		producer.Metric(jsii.String("UserRecordsPut"), nil),
		producer.MetricAllErrors(nil),
		producer.MetricRequestTime(nil),
		producer.MetricRetriesPerRecord(nil),
		producer.MetricUserRecordsFailed(nil),
		producer.MetricUserRecordsFailedByReason(jsii.String("RECORD_REJECTED"), nil),
		producer.MetricUserRecordsPut(nil),
		producer.MetricUserRecordsReceived(nil),
		importedConsumer.Metric(jsii.String("ParkedKeys"), nil),
		orderedConsumer.MetricBusyHandlers(nil),
		orderedConsumer.MetricDeadKeys(nil),
		orderedConsumer.MetricLongestKey(nil),
		orderedConsumer.MetricParkedKeys(nil),
		orderedConsumer.MetricParkedSeconds(nil),
		query.Metric(jsii.String("Pages"), nil),
		query.MetricConsumedReadUnits(nil),
		query.MetricOverRead(nil),
		query.MetricPages(nil),
		query.MetricRequests(nil),
		query.MetricWaves(nil),
		rows.Metric(jsii.String("Pages"), nil),
		rows.MetricOverRead(nil),
		rows.MetricPages(nil),
		rows.MetricRequests(nil),
		rows.MetricWaves(nil),
		byStatus.Metric(jsii.String("ReturnedItemCount"), nil),
		byStatus.MetricConsumedReadCapacityUnits(nil),
		byStatus.MetricConsumedWriteCapacityUnits(nil),
		byStatus.MetricOnlineIndexConsumedWriteCapacity(nil),
		byStatus.MetricReadKeyRangeThroughputThrottleEvents(nil),
		byStatus.MetricReadThrottleEvents(nil),
		byStatus.MetricWriteKeyRangeThroughputThrottleEvents(nil),
		byStatus.MetricWriteThrottleEvents(nil),
		indexItemMover.Metric(jsii.String("Strays"), nil),
		indexItemMover.MetricHiddenStrays(nil),
		daxCluster.Metric(jsii.String("EvictedSize"), nil),
		daxCluster.MetricQueryCacheHits(nil),
		daxCluster.MetricQueryCacheMisses(nil),
		daxCluster.MetricItemCacheHits(nil),
		daxCluster.MetricItemCacheMisses(nil),
		daxCluster.MetricThrottledRequestCount(nil),
		daxCluster.MetricFaultRequestCount(nil),
		daxCluster.MetricErrorRequestCount(nil),
		daxCluster.MetricEvictedSize(nil),
		daxCluster.MetricCacheMemoryUtilization(nil),
		daxCluster.MetricCpuUtilization(nil),
		relay.Metric(jsii.String("ParkedRows"), nil),
		relay.MetricGivenUpRows(nil),
		relay.MetricParkedRows(nil),
		relay.MetricRejections(nil),
		relay.MetricRelayedRows(nil),
		relay.MetricWaitingRows(nil),
		relay.MetricWaitingSeconds(nil),
	}
	dashboard := awscloudwatch.NewDashboard(stack, jsii.String("Dashboard"), nil)
	for _, metric := range metrics {
		dashboard.AddWidgets(awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Left: &[]awscloudwatch.IMetric{metric}}))
	}

	// what is wrong says so by its code, from a constructor and from a method
	refused("INVALID_SHARD_COUNT", func() {
		shards.NewUniformStream(awscdk.NewStack(nil, nil, nil), jsii.String("None"), &shards.UniformStreamProps{ShardCount: jsii.Number(0)})
	})
	refused("INVALID_SHARD_COUNT", func() { shards.ShardCounts_Uniform(jsii.Number(10_001)) })
	refused("INVALID_ARGUMENT", func() {
		byStatus.BindReader(application, &shards.ShardedIndexBindingOptions{EnvironmentVariable: jsii.String("1")})
	})

	app.Synth(nil)
}

func refused(code string, act func()) {
	defer func() {
		if message := fmt.Sprint(recover()); !strings.Contains(message, "["+code+"] ") {
			panic("not refused with " + code + ": " + message)
		}
	}()
	act()
}

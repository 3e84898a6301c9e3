// Uses features that can fail in a single language. Repeats the app in TypeScript line by line.
package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskinesis"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
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
	role := awsiam.NewRole(stack, jsii.String("Role"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})

	// a nested struct, and the return value of a method
	events := shards.NewUniformStream(stack, jsii.String("Events"), &shards.UniformStreamProps{
		ShardCount: jsii.Number(4),
		ExpectedTraffic: &shards.ExpectedStreamTraffic{
			RecordsPerSecond: jsii.Number(100),
			BytesPerSecond:   jsii.Number(1000),
			Keys:             jsii.Number(50),
		},
		DeployedShardCount: jsii.Number(2),
		ReshardingProvider: shards.NewStreamReshardingProvider(stack, jsii.String("Provider"), &shards.StreamReshardingProviderProps{
			Timeout: awscdk.Duration_Minutes(jsii.Number(2)),
		}),
	})
	reconciliation := events.AddReconciliation(&shards.StreamReconciliationOptions{Repair: jsii.Bool(false)})
	events.ProduceGrants().Produce(role)

	// an interface of the CDK, and an interface of the library
	clicks := awskinesis.Stream_FromStreamArn(stack, jsii.String("Clicks"), jsii.String("arn:aws:kinesis:eu-west-1:111111111111:stream/clicks"))
	shards.StreamReshardGrants_FromStream(clicks).Reshard(role)
	imported := shards.OrderedProducerFunction_FromFunctionAttributes(stack, jsii.String("Imported"), &awslambda.FunctionAttributes{
		FunctionArn:     jsii.String("arn:aws:lambda:eu-west-1:111111111111:function:producer"),
		SameEnvironment: jsii.Bool(true),
	})
	imported.GrantInvoke(role)

	// maps whose values are numbers or any type, lists of structs, enumerations
	table := shards.NewShardedTable(stack, jsii.String("Table"), &shards.ShardedTableProps{
		PartitionKey: text("jobId"),
		DynamoStream: awsdynamodb.StreamViewType_NEW_IMAGE,
	})
	byStatus := table.AddShardedIndex(&shards.ShardedIndexOptions{
		IndexName:      jsii.String("byStatus"),
		ValueAttribute: text("status"),
		SortKey:        text("createdAt"),
		TieBreakers:    &[]*awsdynamodb.Attribute{text("jobId")},
		KeyLayout:      shards.KeyLayout_MULTI_ATTRIBUTE,
		ShardCounts: shards.ShardCounts_ByValue(&map[string]*float64{
			"succeeded": jsii.Number(35),
			"failed":    jsii.Number(10),
			"7":         jsii.Number(2),
		}, jsii.Number(1)).AlsoReading(shards.ShardCounts_Uniform(jsii.Number(2))),
	})
	producer := shards.NewOrderedProducerFunction(stack, jsii.String("Producer"), &shards.OrderedProducerFunctionProps{
		Stream:   clicks,
		Sequence: jsii.Bool(true),
	})
	producer.AddTableStream(&shards.ProducerTableStreamOptions{
		Table: table,
		Filters: &[]*map[string]any{
			awslambda.FilterCriteria_Filter(&map[string]any{"eventName": awslambda.FilterRule_IsEqual("INSERT")}),
		},
	})
	awscdk.NewCfnOutput(stack, jsii.String("Config"), &awscdk.CfnOutputProps{Value: byStatus.ToConfigJson()})
	shards.NewShardedKeyspacesTable(stack, jsii.String("Posts"), &shards.ShardedKeyspacesTableProps{
		KeyspaceName: jsii.String("blog"),
		TableName:    jsii.String("posts"),
		PartitionKey: &[]*shards.KeyspacesColumn{},
		ClusteringColumns: &[]*shards.KeyspacesClusteringColumn{{
			Name:    jsii.String("at"),
			CqlType: shards.CqlType_TIMESTAMP(),
			Order:   shards.ClusteringOrder_DESCENDING,
		}},
		RegularColumns: &[]*shards.KeyspacesColumn{{Name: jsii.String("tags"), CqlType: shards.CqlType_Of(jsii.String("set<text>"))}},
		ShardCounts:    shards.ShardCounts_Uniform(jsii.Number(4)),
		Billing:        shards.KeyspacesBilling_OnDemand(),
	})

	// lists of constructs, and omitted options
	query := shards.NewFanOutQueryFunction(stack, jsii.String("Query"), &shards.FanOutQueryFunctionProps{
		Indexes: &[]shards.IShardedIndex{byStatus},
	})
	monitoring := shards.NewShardMonitoring(stack, jsii.String("Monitoring"), &shards.ShardMonitoringProps{
		DashboardName: jsii.String("shards"),
	})
	monitoring.AddStream(events, &shards.StreamMonitoringOptions{Reconciliation: reconciliation})
	monitoring.AddProducer(producer, nil)
	monitoring.AddProducer(imported, &shards.ProducerMonitoringOptions{MaxFailures: jsii.Number(10)})
	monitoring.AddQuery(query)
	metrics := []awscloudwatch.IMetric{
		query.MetricPages(&awscloudwatch.MetricOptions{Period: awscdk.Duration_Minutes(jsii.Number(1))}),
		producer.MetricUserRecordsFailedByReason(jsii.String("RECORD_REJECTED"), nil),
		shards.StreamConsumerMetrics_FromPolling(events).MetricMillisBehindLatest(nil),
	}
	awscloudwatch.NewDashboard(stack, jsii.String("Dashboard"), nil).AddWidgets(
		awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Left: &metrics}),
	)

	// errors with their codes, from a constructor and from a method
	refused("INVALID_SHARD_COUNT", func() {
		shards.NewUniformStream(awscdk.NewStack(nil, nil, nil), jsii.String("None"), &shards.UniformStreamProps{ShardCount: jsii.Number(0)})
	})
	refused("INVALID_SHARD_COUNT", func() { shards.ShardCounts_Uniform(jsii.Number(10_001)) })

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

import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AttributeType, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Grant, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  FanOutQueryFunction,
  HashKeyRegistry,
  OrderedProducerFunction,
  OrderedStreamConsumer,
  ShardCounts,
  ShardedTable,
  UniformStream,
} from '../lib';
import { InvalidArgumentError } from '../lib/core/kernel/errors';

/**
 * The reference app. A producer writes the events of repositories to a stream, in order. A consumer reads the stream,
 * and keeps a table of the existing repositories and their commits. A table of jobs has queries by status and by time.
 *
 *     cdk deploy -c eventsShardCount=8 -c byTimeShardCount=10 -c byStatusShardCounts='{"succeeded":70,"failed":20}'
 */
export class EvenShardsStack extends Stack {
  constructor(scope: Construct, id: string) {
    super(scope, id);

    const events = new UniformStream(this, 'Events', { shardCount: this.fromContext('eventsShardCount', 4) });
    const accounts = new HashKeyRegistry(this, 'Accounts', { stream: events });
    const producer = new OrderedProducerFunction(this, 'Producer', { stream: events, hashKeyRegistry: accounts });
    const repositories = this.repositoriesOf(events);

    const jobs = new ShardedTable(this, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
    const createdAt = { name: 'createdAt', type: AttributeType.STRING };
    const byStatus = jobs.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      sortKey: createdAt,
      shardCounts: ShardCounts.byValue(
        this.fromContext('byStatusShardCounts', {
          succeeded: 35,
          ignored: 35,
          pending: 10,
          in_progress: 10,
          failed: 10,
        }),
        1,
      ),
    });
    const byTime = jobs.addShardedIndex({
      indexName: 'byTime',
      sortKey: createdAt,
      shardCounts: ShardCounts.uniform(this.fromContext('byTimeShardCount', 5)),
      projectionType: ProjectionType.KEYS_ONLY,
    });
    const query = new FanOutQueryFunction(this, 'Query', { indexes: [byStatus, byTime] });

    new CfnOutput(this, 'StreamName', { value: events.streamName });
    new CfnOutput(this, 'RepositoriesTableName', { value: repositories.tableName });
    new CfnOutput(this, 'TableName', { value: jobs.tableName });
    new CfnOutput(this, 'ProducerFunctionName', { value: producer.function.functionName });
    new CfnOutput(this, 'RegistryFunctionName', { value: accounts.function.functionName });
    new CfnOutput(this, 'QueryFunctionName', { value: query.function.functionName });
  }

  /** The table that a consumer of the stream keeps: an item for each existing repository, with its commits. */
  private repositoriesOf(stream: UniformStream): TableV2 {
    const table = new TableV2(this, 'Repositories', {
      partitionKey: { name: 'repository', type: AttributeType.STRING },
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    });
    const logGroup = new LogGroup(this, 'ConsumerLogs', { removalPolicy: RemovalPolicy.DESTROY });
    const handler = new NodejsFunction(this, 'ConsumerFunction', {
      entry: 'examples/repository-outbox/cache-consumer.ts', // relative to the folder of cdk.json
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.minutes(1),
      role: new Role(this, 'ConsumerRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
      logGroup,
      environment: { CACHE_TABLE_NAME: table.tableName },
    });
    logGroup.grantWrite(handler);
    const actions = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];
    Grant.addToPrincipal({ grantee: handler, actions, resourceArns: [table.tableArn] });
    new OrderedStreamConsumer(this, 'Consumer', { handler, stream, startingPosition: StartingPosition.TRIM_HORIZON });
    return table;
  }

  /** A setting from the context: a JSON text from the command line, or a value from cdk.json. */
  private fromContext<T>(key: string, fallback: T): T {
    const setting = this.node.tryGetContext(key) ?? fallback;
    if (typeof setting !== 'string') return setting;
    try {
      return JSON.parse(setting);
    } catch {
      throw new InvalidArgumentError(`context ${key}`, setting, `JSON such as ${JSON.stringify(fallback)}`);
    }
  }
}

new EvenShardsStack(new App(), 'EvenShards');

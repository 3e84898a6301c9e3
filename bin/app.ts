import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { AttributeType, ProjectionType } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import {
  FanOutQueryFunction,
  HashKeyRegistry,
  OrderedProducerFunction,
  ShardCounts,
  ShardedTable,
  UniformStream,
} from '../lib';
import { InvalidArgumentError } from '../lib/core/kernel/errors';

/**
 * An example app: a stream to which a producer writes in order, and a table of jobs with queries by status and by time.
 *
 *     cdk deploy -c eventsShardCount=8 -c byTimeShardCount=10 -c byStatusShardCounts='{"succeeded":70,"failed":20}'
 */
export class EvenShardsStack extends Stack {
  constructor(scope: Construct, id: string) {
    super(scope, id);

    const events = new UniformStream(this, 'Events', { shardCount: this.fromContext('eventsShardCount', 4) });
    const accounts = new HashKeyRegistry(this, 'Accounts', { stream: events });
    const producer = new OrderedProducerFunction(this, 'Producer', { stream: events, hashKeyRegistry: accounts });

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
    new CfnOutput(this, 'TableName', { value: jobs.tableName });
    new CfnOutput(this, 'ProducerFunctionName', { value: producer.function.functionName });
    new CfnOutput(this, 'RegistryFunctionName', { value: accounts.function.functionName });
    new CfnOutput(this, 'QueryFunctionName', { value: query.function.functionName });
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

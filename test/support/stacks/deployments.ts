import { App, CfnOutput, Duration, Stack, Stage } from 'aws-cdk-lib';
import { type Attribute, AttributeType, type Billing, type WarmThroughput } from 'aws-cdk-lib/aws-dynamodb';
import {
  FanOutQueryFunction,
  OrderedProducerFunction,
  ShardCounts,
  type ShardedIndexOptions,
  ShardedTable,
  UniformStream,
} from '../../../lib';

/** The settings of an app in one deployment. An absent setting has its default. */
export interface Deployment {
  readonly shardCount?: number;
  readonly hashBuckets?: number;
  readonly retentionHours?: number;
  /** The construct id of the table. */
  readonly tableId?: string;
  readonly tableKey?: Attribute;
  readonly tableName?: string;
  readonly billing?: Billing;
  readonly warmThroughput?: WarmThroughput;
  /** The limits of each index. */
  readonly indexLimits?: Pick<
    ShardedIndexOptions,
    'readCapacity' | 'writeCapacity' | 'maxReadRequestUnits' | 'maxWriteRequestUnits'
  >;
  readonly indexes?: readonly string[];
  /** The indexes with `sparse: true`. */
  readonly sparseIndexes?: readonly string[];
  readonly indexShards?: ShardCounts;
  readonly valueType?: AttributeType;
  readonly timeToLiveAttribute?: string;
  /** Whether the query function is in a separate stack. */
  readonly queryInOtherStack?: boolean;
  readonly queriedIndexes?: readonly string[];
}

/** Synthesizes an app for the orders of a shop, in a stage. Returns the folder of the assembly. */
export function synthesizeDeployment(deployment: Deployment = {}): string {
  const app = new App();
  const stage = new Stage(app, 'Shop');
  const stack = new Stack(stage, 'Orders');
  const { shardCount = 4, hashBuckets = 256, retentionHours = 48, tableId = 'Table' } = deployment;
  const stream = new UniformStream(stack, 'Events', {
    shardCount,
    hashBuckets,
    retentionPeriod: Duration.hours(retentionHours),
  });
  new OrderedProducerFunction(stack, 'Producer', { stream });

  const { tableKey = text('orderId'), tableName, timeToLiveAttribute, valueType = AttributeType.STRING } = deployment;
  const table = new ShardedTable(stack, tableId, {
    partitionKey: tableKey,
    ...(deployment.billing && { billing: deployment.billing }),
    ...(deployment.warmThroughput && { warmThroughput: deployment.warmThroughput }),
    ...(tableName !== undefined && { tableName }),
    ...(timeToLiveAttribute !== undefined && { timeToLiveAttribute }),
  });
  const { indexes = ['byStatus'], indexShards = ShardCounts.uniform(4), queriedIndexes = indexes } = deployment;
  const added = indexes.map((indexName) =>
    table.addShardedIndex({
      indexName,
      valueAttribute: { name: indexName.slice(2).toLowerCase(), type: valueType },
      sortKey: text('createdAt'),
      shardCounts: indexShards,
      ...deployment.indexLimits,
      ...(deployment.sparseIndexes?.includes(indexName) && { sparse: true }),
    }),
  );
  const reports = deployment.queryInOtherStack ? new Stack(stage, 'Reports') : stack;
  const queried = added.filter((index) => queriedIndexes.includes(index.indexName));
  if (queried.length > 0) new FanOutQueryFunction(reports, 'Query', { indexes: queried });
  new CfnOutput(stack, 'TableName', { value: table.tableName });
  return app.synth().directory;
}

const text = (name: string): Attribute => ({ name, type: AttributeType.STRING });

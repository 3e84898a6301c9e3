import '../../support/oldest-cdk';
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { CfnStream } from 'aws-cdk-lib/aws-kinesis';
import {
  FanOutQueryFunction,
  OrderedProducerFunction,
  ShardCounts,
  type ShardedIndex,
  ShardedTable,
  StreamResharding,
  UniformStream,
} from '../../../lib';

/** The properties of the app in one deployment. */
export interface OrdersAppProps {
  readonly outdir: string;
  readonly shardCount: number;
  readonly deployedShardCount?: number;
  /** Whether the table has a second index, whose value is the customer. */
  readonly byCustomer?: boolean;
  /** The name of an existing stream. If set, the app creates a stream with this name last, which makes the deployment fail. */
  readonly takenStreamName?: string;
}

/** Synthesizes an app with a stream, a producer, a table and a query function. Returns the cloud assembly. */
export function synthesizeOrdersApp({ outdir, takenStreamName, ...props }: OrdersAppProps): string {
  const app = new App({ outdir });
  const stack = new Stack(app, 'Orders');
  const { shardCount, deployedShardCount } = props;
  const events = new UniformStream(stack, 'Events', {
    shardCount,
    ...(deployedShardCount !== undefined && { deployedShardCount }),
  });
  const producer = new OrderedProducerFunction(stack, 'Producer', { stream: events });

  const table = new ShardedTable(stack, 'Table', { partitionKey: text('orderId') });
  const indexes: ShardedIndex[] = ['status', ...(props.byCustomer ? ['customer'] : [])].map((attribute) =>
    table.addShardedIndex({
      indexName: `by-${attribute}`,
      valueAttribute: text(attribute),
      sortKey: text('createdAt'),
      shardCounts: ShardCounts.uniform(3),
    }),
  );
  const query = new FanOutQueryFunction(stack, 'Query', { indexes });

  if (takenStreamName !== undefined) {
    const last = new CfnStream(stack, 'Taken', { name: takenStreamName, shardCount: 1 });
    for (const construct of [events, events.resharding, query]) if (construct) last.node.addDependency(construct);
  }
  new CfnOutput(stack, 'StreamName', { value: events.streamName });
  new CfnOutput(stack, 'TableName', { value: table.tableName });
  new CfnOutput(stack, 'ProducerName', { value: producer.function.functionName });
  new CfnOutput(stack, 'QueryName', { value: query.function.functionName });
  if (events.resharding) new CfnOutput(stack, 'OpenShards', { value: events.resharding.openShardCount });
  new CfnOutput(stack, 'Indexes', { value: `[${indexes.map((index) => index.toConfigJson()).join()}]` });
  return app.synth().directory;
}

/** The properties of an app that uses a stream of another app. */
export interface ImporterAppProps {
  readonly outdir: string;
  readonly streamArn: string;
  readonly shardCount: number;
  readonly deployedShardCount: number;
  /** The name of an existing stream. If set, the app creates a stream with this name last, which makes the deployment fail. */
  readonly takenStreamName?: string;
}

/** Synthesizes a stack that sets the shard count of an imported stream. Returns the cloud assembly. */
export function synthesizeImporterApp({ outdir, takenStreamName, streamArn, ...counts }: ImporterAppProps): string {
  const app = new App({ outdir });
  const stack = new Stack(app, 'Importer');
  const stream = UniformStream.fromUniformStreamAttributes(stack, 'Stream', { streamArn });
  const resharding = new StreamResharding(stack, 'Resharding', { stream, ...counts });
  if (takenStreamName !== undefined) {
    new CfnStream(stack, 'Taken', { name: takenStreamName, shardCount: 1 }).node.addDependency(resharding);
  }
  new CfnOutput(stack, 'OpenShards', { value: resharding.openShardCount });
  return app.synth().directory;
}

const text = (name: string) => ({ name, type: AttributeType.STRING });

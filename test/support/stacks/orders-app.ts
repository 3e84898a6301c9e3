import type * as cdk from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

// In the older version of the CDK, TableV2 warns about properties that TableV2 itself sets.
process.env.JSII_DEPRECATED = 'quiet';

type CdkVersion = 'aws-cdk-lib' | 'aws-cdk-lib-newest';

export interface OrdersAppOptions {
  /** The directory with the code of the functions. */
  readonly code: string;
  readonly version?: CdkVersion;
  readonly handler?: string;
  readonly keyLayout?: 'single-attribute' | 'multi-attribute';
  /**
   * Whether the environment of the writer has a variable with the name of a queue. A local run does not emulate queues.
   */
  readonly queueVariable?: boolean;
}

/** Synthesizes two stacks, where the second refers to the first, and a stack in a stage. Returns the directory of the assembly. */
export function synthesizeOrdersApp({ code, version = 'aws-cdk-lib', ...options }: OrdersAppOptions): string {
  const { App, Duration, Stack, Stage } = library<typeof cdk>(version);
  const { AttributeType, TableV2 } = library<typeof dynamodb>(version, 'aws-dynamodb');
  const { Stream } = library<typeof kinesis>(version, 'aws-kinesis');
  const { Code, Function: LambdaFunction, Runtime } = library<typeof lambda>(version, 'aws-lambda');
  const { Queue } = library<typeof sqs>(version, 'aws-sqs');
  const text = (name: string) => ({ name, type: AttributeType.STRING });

  const app = new App();
  // The name makes the dependent stack the first stack in the manifest.
  const reports = new Stack(app, 'AReports');
  const orders = new Stack(app, 'Orders');
  const events = new Stream(orders, 'Events', { shardCount: 4 });
  const table = new TableV2(orders, 'Table', {
    partitionKey: text('orderId'),
    globalSecondaryIndexes: [
      {
        indexName: 'byStatus',
        sortKey: text('createdAt'),
        ...(options.keyLayout === 'multi-attribute'
          ? { partitionKeys: [text('status'), text('shard')] }
          : { partitionKey: text('statusShard') }),
      },
    ],
  });
  const queue = new Queue(orders, 'Queue');
  const addFunction = (stack: cdk.Stack, id: string, timeoutSeconds: number, environment: Record<string, string>) =>
    new LambdaFunction(new Construct(stack, id), 'Function', {
      runtime: Runtime.NODEJS_22_X,
      handler: options.handler ?? 'index.handler',
      code: Code.fromAsset(code),
      timeout: Duration.seconds(timeoutSeconds),
      memorySize: 512,
      environment,
    });
  addFunction(orders, 'Writer', 60, {
    STREAM_NAME: events.streamName,
    STREAM_ARN: events.streamArn,
    TABLE_NAME: table.tableName,
    INDEX_ARN: `${table.tableArn}/index/byStatus`,
    ...(options.queueVariable && { QUEUE_URL: queue.queueUrl }),
  });
  addFunction(reports, 'Reader', 2, { STREAM_NAME: events.streamName });
  new Stream(new Stack(new Stage(app, 'Beta'), 'Archive'), 'Events', { streamName: 'archive', shardCount: 1 });
  return app.synth().directory;
}

/** Loads a module of this version of the CDK. Both versions have the API that the app uses. */
function library<T>(version: CdkVersion, module?: string): T {
  return require(module === undefined ? version : `${version}/${module}`);
}

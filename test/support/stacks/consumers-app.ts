import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { AttributeType, StreamViewType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import { OrderedProducerFunction, OrderedStreamConsumer, UniformStream } from '../../../lib';

export const PARKED_CONSUMER = 'lists';
export const TABLE_CONSUMER = 'watcher';

/**
 * Synthesizes an app with a stream, a producer, and an ordered consumer that writes a list for each key. Another
 * ordered consumer reads the stream of a table.
 */
export function synthesizeConsumersApp(add: (stack: Stack, stream: UniformStream) => void = () => {}): string {
  const app = new App();
  const stack = new Stack(app, 'App');
  const stream = new UniformStream(stack, 'Events', { shardCount: 2 });
  new OrderedProducerFunction(stack, 'Producer', { stream, aggregation: true, sequence: true });
  const lists = new TableV2(stack, 'Lists', { partitionKey: { name: 'id', type: AttributeType.STRING } });
  const code = mkdtempSync(join(tmpdir(), 'list-orders-'));
  buildSync({
    entryPoints: [join(__dirname, 'list-orders.ts')],
    outfile: join(code, 'index.js'),
    ...{ bundle: true, platform: 'node', target: 'node20' },
  });
  const handler = new lambda.Function(stack, 'Handler', {
    ...{ runtime: lambda.Runtime.NODEJS_24_X, handler: 'index.handler', code: lambda.Code.fromAsset(code) },
    timeout: Duration.seconds(30),
    environment: { LISTS_TABLE_NAME: lists.tableName },
  });
  const startingPosition = lambda.StartingPosition.TRIM_HORIZON;
  new OrderedStreamConsumer(stack, 'Consumer', {
    ...{ handler, stream, startingPosition, consumerName: PARKED_CONSUMER, enhancedFanOut: true },
  });
  const watcher = new lambda.Function(stack, 'Watcher', {
    ...{ runtime: lambda.Runtime.NODEJS_24_X, handler: 'index.handler', code: lambda.Code.fromAsset(code) },
    environment: { LISTS_TABLE_NAME: lists.tableName },
  });
  new OrderedStreamConsumer(stack, 'TableConsumer', {
    ...{ handler: watcher, startingPosition, consumerName: TABLE_CONSUMER },
    table: new TableV2(stack, 'Watched', {
      partitionKey: { name: 'id', type: AttributeType.STRING },
      dynamoStream: StreamViewType.NEW_IMAGE,
    }),
  });
  add(stack, stream);
  return app.synth().directory;
}

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { OrderedStreamConsumer, UniformStream } from '../../lib';

/** Synthesizes an app with a stream and the ordered consumer `orders` of the stream. */
export function synthesizeConsumerApp(): string {
  const code = mkdtempSync(join(tmpdir(), 'consumer-code-'));
  writeFileSync(join(code, 'index.js'), 'exports.handler = async () => ({ batchItemFailures: [] });');
  const app = new App();
  const stack = new Stack(app, 'App');
  const handler = new lambda.Function(stack, 'Handler', {
    runtime: lambda.Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: lambda.Code.fromAsset(code),
    timeout: Duration.seconds(30),
  });
  new OrderedStreamConsumer(stack, 'Consumer', {
    handler,
    stream: new UniformStream(stack, 'Events', { shardCount: 1 }),
    consumerName: 'orders',
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
  });
  return app.synth().directory;
}

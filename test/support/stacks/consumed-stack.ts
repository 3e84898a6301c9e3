import { type App, Stack } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { OrderedStreamConsumer, ShardMonitoring, StreamConsumerMetrics, UniformStream } from '../../../lib';

/** A stream with an ordered consumer and monitoring. */
export class ConsumedStack extends Stack {
  constructor(app: App) {
    super(app, 'Consumed');
    const stream = new UniformStream(this, 'Events', { shardCount: 4 });
    const handler = new lambda.Function(this, 'Application', {
      runtime: lambda.Runtime.NODEJS_LATEST,
      handler: 'index.handler',
      code: lambda.Code.fromInline('exports.handler = async () => {};'),
    });
    const startingPosition = lambda.StartingPosition.TRIM_HORIZON;
    const consumer = new OrderedStreamConsumer(this, 'Orders', {
      ...{ handler, stream, startingPosition },
      consumerName: 'orders',
    });
    new ShardMonitoring(this, 'Monitoring').addConsumer(stream, StreamConsumerMetrics.fromOrderedConsumer(consumer));
  }
}

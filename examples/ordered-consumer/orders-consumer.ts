import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IStream } from 'aws-cdk-lib/aws-kinesis';
import { Architecture, Runtime, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { OrderedStreamConsumer, ShardMonitoring, StreamConsumerMetrics } from 'cdk-even-shards';
import { Construct } from 'constructs';

export interface OrdersConsumerProps {
  readonly stream: IStream;
}

/**
 * A function that reads orders from a stream and writes them into a table. The function applies each order once, and
 * the orders of a customer in order.
 */
export class OrdersConsumer extends Construct {
  readonly function: NodejsFunction;
  readonly table: TableV2;
  readonly consumer: OrderedStreamConsumer;

  constructor(scope: Construct, id: string, { stream }: OrdersConsumerProps) {
    super(scope, id);
    this.table = new TableV2(this, 'Orders', { partitionKey: { name: 'customer', type: AttributeType.STRING } });
    this.function = new NodejsFunction(this, 'Function', {
      entry: join(__dirname, 'handler.ts'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.minutes(1),
      memorySize: 512,
      environment: { ORDERS_TABLE_NAME: this.table.tableName },
    });
    this.table.grant(this.function, 'dynamodb:UpdateItem');
    this.consumer = new OrderedStreamConsumer(this, 'Consumer', {
      handler: this.function,
      stream,
      startingPosition: StartingPosition.TRIM_HORIZON,
    });
    const monitoring = new ShardMonitoring(this, 'Monitoring');
    monitoring.addConsumer(stream, StreamConsumerMetrics.fromOrderedConsumer(this.consumer));
  }
}

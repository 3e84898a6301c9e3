import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IStream } from 'aws-cdk-lib/aws-kinesis';
import { Architecture, Runtime, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { KinesisEventSource, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export interface StreamConsumerProps {
  /** A stream whose producer numbers its records. */
  readonly stream: IStream;
}

/**
 * A function that reads a stream into a table: a state for each partition key, each record applied once, and in order
 * while keys move from shard to shard.
 */
export class StreamConsumer extends Construct {
  readonly function: NodejsFunction;
  readonly table: TableV2;
  /** What the readers of all shards know of moves. */
  readonly moves: TableV2;

  constructor(scope: Construct, id: string, { stream }: StreamConsumerProps) {
    super(scope, id);
    this.table = new TableV2(this, 'States', { partitionKey: { name: 'partitionKey', type: AttributeType.STRING } });
    this.moves = new TableV2(this, 'Moves', {
      partitionKey: { name: 'id', type: AttributeType.STRING },
      timeToLiveAttribute: 'expiresAt',
    });
    this.function = new NodejsFunction(this, 'Function', {
      entry: join(__dirname, 'handler.ts'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.minutes(1),
      memorySize: 512,
      environment: { TABLE_NAME: this.table.tableName, MOVES_TABLE_NAME: this.moves.tableName },
    });
    this.table.grant(this.function, 'dynamodb:GetItem', 'dynamodb:PutItem');
    this.moves.grant(this.function, 'dynamodb:UpdateItem');
    this.function.addEventSource(
      new KinesisEventSource(stream, {
        startingPosition: StartingPosition.TRIM_HORIZON,
        reportBatchItemFailures: true,
        retryAttempts: 10,
        bisectBatchOnError: true,
        onFailure: new SqsDlq(new Queue(this, 'Failures', { enforceSSL: true })),
      }),
    );
  }
}

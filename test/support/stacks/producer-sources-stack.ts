import { type App, Stack } from 'aws-cdk-lib';
import { AttributeType, StreamViewType } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { OrderedProducerFunction, ShardedTable, UniformStream } from '../../../lib';

/** A producer with every event source. */
export class ProducerSourcesStack extends Stack {
  constructor(app: App) {
    super(app, 'ProducerSources', { env: { account: '111111111111', region: 'eu-west-1' } });
    const stream = new UniformStream(this, 'Events', { shardCount: 4 });
    const table = new ShardedTable(this, 'Jobs', {
      partitionKey: { name: 'jobId', type: AttributeType.STRING },
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
    });
    const producer = new OrderedProducerFunction(this, 'Producer', { stream, aggregation: true, sequence: true });
    producer.addFifoQueue('Commands');
    producer.addFifoQueue('Secrets', { encryptionKey: new Key(this, 'Key', { enableKeyRotation: true }) });
    producer.addTableStream({ table });
  }
}

import { App, Duration, type IPropertyInjector, PropertyInjectors, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { HashKeyRegistry, OrderedProducerFunction, ShardedTable, UniformStream } from '../../lib';

/** An organisation's defaults, as its blueprints give them: whatever the caller has passed on goes before. */
function blueprint(constructUniqueId: string, defaults: object): IPropertyInjector {
  return { constructUniqueId, inject: (props) => ({ ...defaults, ...props }) };
}

describe('a blueprint', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test('chooses retention and encryption of a stream', () => {
    const encryptionKey = new kms.Key(stack, 'Key');
    const defaults = {
      retentionPeriod: Duration.days(7),
      encryption: kinesis.StreamEncryption.KMS,
      encryptionKey,
    };
    PropertyInjectors.of(stack).add(blueprint(kinesis.Stream.PROPERTY_INJECTION_ID, defaults));
    new UniformStream(stack, 'Events', { shardCount: 4 });

    Template.fromStack(stack).hasResourceProperties('AWS::Kinesis::Stream', {
      RetentionPeriodHours: 168,
      StreamEncryption: { KeyId: stack.resolve(encryptionKey.keyArn) },
    });
  });

  test('chooses encryption and recovery of a table', () => {
    const defaults = {
      encryption: dynamodb.TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: false },
    };
    PropertyInjectors.of(stack).add(blueprint(dynamodb.TableV2.PROPERTY_INJECTION_ID, defaults));
    new ShardedTable(stack, 'Jobs', {
      partitionKey: { name: 'jobId', type: dynamodb.AttributeType.STRING },
      encryption: undefined,
    });

    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      SSESpecification: { SSEEnabled: true },
      Replicas: [Match.objectLike({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false } })],
    });
  });

  test('chooses the encryption of a registry', () => {
    const defaults = { encryption: dynamodb.TableEncryptionV2.awsManagedKey() };
    PropertyInjectors.of(stack).add(blueprint(dynamodb.TableV2.PROPERTY_INJECTION_ID, defaults));
    new HashKeyRegistry(stack, 'Registry', { stream: new UniformStream(stack, 'Events', { shardCount: 4 }) });

    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      SSESpecification: { SSEEnabled: true },
    });
  });

  test('chooses the retention of logs and the tracing of functions', () => {
    PropertyInjectors.of(stack).add(
      blueprint(logs.LogGroup.PROPERTY_INJECTION_ID, { retention: logs.RetentionDays.TEN_YEARS }),
      blueprint(lambda.Function.PROPERTY_INJECTION_ID, { tracing: lambda.Tracing.ACTIVE }),
    );
    new OrderedProducerFunction(stack, 'Producer', { stream: new UniformStream(stack, 'Events', { shardCount: 4 }) });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 3653 });
    template.hasResourceProperties('AWS::Lambda::Function', { TracingConfig: { Mode: 'Active' } });
  });

  test('chooses the deduplication of queues', () => {
    PropertyInjectors.of(stack).add(blueprint(sqs.Queue.PROPERTY_INJECTION_ID, { contentBasedDeduplication: true }));
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    new OrderedProducerFunction(stack, 'Producer', { stream }).addFifoQueue('Queue');

    Template.fromStack(stack).allResourcesProperties('AWS::SQS::Queue', { ContentBasedDeduplication: true });
  });
});

import { App, Duration, type IPropertyInjector, PropertyInjectors, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { HashKeyRegistry, OrderedProducerFunction, ShardedTable, UniformStream } from '../../../lib';

/** An injector that adds the defaults of an organisation. Props of the caller override these defaults. */
function blueprint(constructUniqueId: string, defaults: object): IPropertyInjector {
  return { constructUniqueId, inject: (props) => ({ ...defaults, ...props }) };
}

describe('a property injector with defaults of an organisation', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test('sets the retention of the logs and the tracing of the functions', () => {
    PropertyInjectors.of(stack).add(
      blueprint(logs.LogGroup.PROPERTY_INJECTION_ID, { retention: logs.RetentionDays.TEN_YEARS }),
      blueprint(lambda.Function.PROPERTY_INJECTION_ID, { tracing: lambda.Tracing.ACTIVE }),
    );
    new OrderedProducerFunction(stack, 'Producer', { stream: new UniformStream(stack, 'Events', { shardCount: 4 }) });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 3653 });
    template.hasResourceProperties('AWS::Lambda::Function', { TracingConfig: { Mode: 'Active' } });
  });

  test('is rejected if its timeout leaves a function no time for its work', () => {
    PropertyInjectors.of(stack).add(blueprint(lambda.Function.PROPERTY_INJECTION_ID, { timeout: Duration.seconds(1) }));
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    expect(() => new OrderedProducerFunction(stack, 'Producer', { stream })).toThrow(
      '[INVALID_ARGUMENT] EvenShards/Producer: timeout must be 2 seconds to 15 minutes',
    );
  });

  test('overrides some defaults of the library and keeps the other defaults', () => {
    PropertyInjectors.of(stack).add(
      blueprint(kinesis.Stream.PROPERTY_INJECTION_ID, { retentionPeriod: Duration.days(7) }),
      blueprint(dynamodb.TableV2.PROPERTY_INJECTION_ID, { deletionProtection: true, encryption: undefined }),
      blueprint(logs.LogGroup.PROPERTY_INJECTION_ID, { removalPolicy: RemovalPolicy.RETAIN }),
      blueprint(lambda.Function.PROPERTY_INJECTION_ID, { memorySize: 2_048, architecture: undefined }),
      blueprint(sqs.Queue.PROPERTY_INJECTION_ID, { removalPolicy: RemovalPolicy.DESTROY }),
    );
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: dynamodb.AttributeType.STRING } });
    new OrderedProducerFunction(stack, 'Producer', { stream }).addFifoQueue('Queue');

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Kinesis::Stream', {
      RetentionPeriodHours: 168,
      StreamEncryption: { EncryptionType: 'KMS', KeyId: 'alias/aws/kinesis' },
    });
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          ContributorInsightsSpecification: { Enabled: true, Mode: 'THROTTLED_KEYS' },
        }),
      ],
    });
    template.hasResource('AWS::Logs::LogGroup', { DeletionPolicy: 'Retain', Properties: { RetentionInDays: 30 } });
    template.hasResourceProperties('AWS::Lambda::Function', {
      MemorySize: 2_048,
      Timeout: 60,
      Architectures: ['arm64'],
    });
    template.allResources('AWS::SQS::Queue', {
      DeletionPolicy: 'Delete',
      Properties: Match.objectLike({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 }),
    });
  });

  test('sets the deletion protection of a registry', () => {
    PropertyInjectors.of(stack).add(blueprint(dynamodb.TableV2.PROPERTY_INJECTION_ID, { deletionProtection: false }));
    new HashKeyRegistry(stack, 'Registry', { stream: new UniformStream(stack, 'Events', { shardCount: 4 }) });

    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })],
    });
  });

  test('does not override a prop that the caller sets', () => {
    PropertyInjectors.of(stack).add(blueprint(lambda.Function.PROPERTY_INJECTION_ID, { memorySize: 2_048 }));
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    new OrderedProducerFunction(stack, 'Producer', { stream, memorySize: 777 });

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', { MemorySize: 777 });
  });

  test('runs once for each construct, because it can create constructs', () => {
    const injected: string[] = [];
    const counting = (constructUniqueId: string): IPropertyInjector => ({
      constructUniqueId,
      inject: (props, { scope, id }) => {
        injected.push(`${scope.node.path}/${id}`);
        return props;
      },
    });
    PropertyInjectors.of(stack).add(
      counting(kinesis.Stream.PROPERTY_INJECTION_ID),
      counting(lambda.Function.PROPERTY_INJECTION_ID),
      counting(logs.LogGroup.PROPERTY_INJECTION_ID),
    );
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    new OrderedProducerFunction(stack, 'Producer', { stream });
    new kinesis.Stream(stack, 'Plain');

    expect(injected.sort()).toEqual([
      'EvenShards/Events',
      'EvenShards/Plain',
      'EvenShards/Producer/Function',
      'EvenShards/Producer/LogGroup',
    ]);
  });

  test('can set a prop by its deprecated name even if the library has a default for this prop', () => {
    const older = { pointInTimeRecovery: false, contributorInsights: true };
    PropertyInjectors.of(stack).add(blueprint(dynamodb.TableV2.PROPERTY_INJECTION_ID, older));
    const partitionKey = { name: 'jobId', type: dynamodb.AttributeType.STRING };
    // Without this setting, the newest CDK would report the deprecated names as errors.
    const deprecated = jest.replaceProperty(process.env, 'JSII_DEPRECATED', 'quiet');

    expect(() => new ShardedTable(stack, 'Jobs', { partitionKey })).not.toThrow();
    deprecated.restore();
  });

  test('does not apply the defaults of the library to other constructs in the same scope', () => {
    PropertyInjectors.of(stack).add(blueprint(kinesis.Stream.PROPERTY_INJECTION_ID, {}));
    new UniformStream(stack, 'Events', { shardCount: 4 });
    new kinesis.Stream(stack, 'Plain', { encryption: kinesis.StreamEncryption.UNENCRYPTED });

    Template.fromStack(stack).hasResourceProperties('AWS::Kinesis::Stream', { StreamEncryption: Match.absent() });
  });
});

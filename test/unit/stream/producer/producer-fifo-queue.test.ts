import { App, Duration, Lazy, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as kms from 'aws-cdk-lib/aws-kms';
import { OrderedProducerFunction, type ProducerFifoQueueOptions, UniformStream } from '../../../../lib';

describe('OrderedProducerFunction.addFifoQueue', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  function addQueue(props?: ProducerFifoQueueOptions, timeout?: Duration) {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    return new OrderedProducerFunction(stack, 'Producer', { stream, timeout }).addFifoQueue('Queue', props);
  }

  const logicalId = (template: Template, type: string, properties: unknown) => {
    const ids = Object.keys(template.findResources(type, { Properties: properties }));
    expect(ids).toHaveLength(1);
    return ids[0]!;
  };

  test('creates a high-throughput FIFO queue and a dead-letter queue', () => {
    addQueue();

    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::SQS::Queue', 2);
    const deadLetterQueue = logicalId(template, 'AWS::SQS::Queue', { RedrivePolicy: Match.absent() });
    template.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      ContentBasedDeduplication: Match.absent(),
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': [deadLetterQueue, 'Arn'] }, maxReceiveCount: 10 },
    });
    template.allResourcesProperties('AWS::SQS::Queue', {
      FifoQueue: true,
      MessageRetentionPeriod: 1_209_600,
      SqsManagedSseEnabled: true,
    });
  });

  test('gives the function batches of messages, and the function reports the messages that failed', () => {
    const { queue } = addQueue();

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: stack.resolve(queue.queueArn),
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BatchSize: 10,
    });
  });

  const tokenTimeout = Duration.seconds(Lazy.number({ produce: () => 30 }));

  test.each([
    ['six times the default timeout', {}, undefined, 360],
    ['six times another timeout', {}, Duration.minutes(15), 5_400],
    ['the given visibility timeout', { visibilityTimeout: Duration.hours(12) }, Duration.minutes(1), 43_200],
    ['the given one beside a timeout that is a token', { visibilityTimeout: Duration.minutes(3) }, tokenTimeout, 180],
  ])('sets the visibility timeout to %s', (_, props, timeout, seconds) => {
    addQueue(props, timeout);

    Template.fromStack(stack).hasResourceProperties('AWS::SQS::Queue', { VisibilityTimeout: seconds });
  });

  test('encrypts both queues with the given customer-managed key', () => {
    const encryptionKey = new kms.Key(stack, 'Key');
    addQueue({ encryptionKey });

    const template = Template.fromStack(stack);
    template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: stack.resolve(encryptionKey.keyArn) });
  });

  test('passes its options on to the queues and to the event source mapping', () => {
    addQueue({
      maxReceiveCount: 1_000,
      contentBasedDeduplication: true,
      queueName: 'commands.fifo',
      maxConcurrency: 2,
    });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: 'commands.fifo',
      ContentBasedDeduplication: true,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 1_000 }),
    });
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', { ScalingConfig: { MaximumConcurrency: 2 } });
  });

  test.each([
    ['both queues are retained by default', undefined, 'Retain'],
    ['both queues are deleted with removalPolicy DESTROY', RemovalPolicy.DESTROY, 'Delete'],
  ])('%s', (_, removalPolicy, policy) => {
    addQueue({ removalPolicy });

    Template.fromStack(stack).allResources('AWS::SQS::Queue', {
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
    });
  });

  test('lets CloudFormation delete both queues if the stack has the removal policy DESTROY', () => {
    addQueue();
    RemovalPolicies.of(stack).destroy();

    Template.fromStack(stack).allResources('AWS::SQS::Queue', { DeletionPolicy: 'Delete' });
  });

  test('rejects a function timeout that is a token if the caller does not set visibilityTimeout', () => {
    expect(() => addQueue({}, tokenTimeout)).toThrow(
      "EvenShards/Producer/Queue: visibilityTimeout must be a duration (there is no default, because the function's timeout is a token), got undefined",
    );
  });
});

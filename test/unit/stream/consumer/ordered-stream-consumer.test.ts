import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Code, Function as LambdaFunction, Runtime, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { OrderedStreamConsumer, type OrderedStreamConsumerProps } from '../../../../lib';

function consumer(props: (stack: Stack) => Partial<OrderedStreamConsumerProps> = () => ({})) {
  const stack = new Stack(new App(), 'Test', { env: { account: '111111111111', region: 'us-east-1' } });
  const handler = new LambdaFunction(stack, 'Function', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'index.handler',
    code: Code.fromInline('exports.handler = () => {};'),
  });
  const construct = new OrderedStreamConsumer(stack, 'Consumer', {
    handler,
    stream: new Stream(stack, 'Stream'),
    startingPosition: StartingPosition.TRIM_HORIZON,
    ...props(stack),
  });
  return { construct, stack, template: () => Template.fromStack(stack) };
}

test('reads the stream without anything that makes Lambda skip a record of a key', () => {
  const { template } = consumer();
  template().hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    StartingPosition: 'TRIM_HORIZON',
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    BisectBatchOnFunctionError: false,
    MaximumRetryAttempts: Match.absent(),
    MaximumRecordAgeInSeconds: Match.absent(),
    DestinationConfig: Match.absent(),
    FilterCriteria: Match.absent(),
  });
});

test('keeps parked records in a table that is retained, protected and can be restored', () => {
  const { template } = consumer();
  template().hasResource('AWS::DynamoDB::GlobalTable', {
    DeletionPolicy: 'Retain',
    Properties: {
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'id', KeyType: 'HASH' },
        { AttributeName: 'part', KeyType: 'RANGE' },
      ],
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    },
  });
});

test('tells the function its table and its name', () => {
  const { template } = consumer(() => ({ consumerName: 'orders' }));
  template().hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: { EVEN_SHARDS_PARKING_TABLE_NAME: Match.anyValue(), EVEN_SHARDS_CONSUMER_NAME: 'orders' },
    },
  });
});

test('allows the function exactly what the parking store calls', () => {
  const { template } = consumer();
  template().hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        {
          Effect: 'Allow',
          Action: ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'].map(
            (action) => `dynamodb:${action}`,
          ),
          Resource: { 'Fn::GetAtt': [Match.stringLikeRegexp('ConsumerParkingTable'), 'Arn'] },
        },
      ]),
    },
  });
});

test('retries parked keys every minute, by the same function', () => {
  const { template } = consumer();
  template().hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    Targets: [Match.objectLike({ Input: '{"retryParked":true}', RetryPolicy: { MaximumRetryAttempts: 0 } })],
  });
});

test('passes on what else was chosen', () => {
  const { template } = consumer((stack) => ({
    batchSize: 500,
    maxBatchingWindow: Duration.seconds(2),
    parallelizationFactor: 4,
    retryInterval: Duration.minutes(5),
    encryption: TableEncryptionV2.customerManagedKey(new Key(stack, 'Key')),
    removalPolicy: RemovalPolicy.DESTROY,
  }));
  const found = template();
  found.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    BatchSize: 500,
    MaximumBatchingWindowInSeconds: 2,
    ParallelizationFactor: 4,
  });
  found.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(5 minutes)' });
  found.hasResource('AWS::DynamoDB::GlobalTable', { DeletionPolicy: 'Delete' });
  found.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: { Statement: Match.arrayWith([Match.objectLike({ Action: Match.arrayWith(['kms:Decrypt']) })]) },
  });
});

test('has metrics under its name', () => {
  const { construct } = consumer(() => ({ consumerName: 'orders' }));
  for (const metric of [construct.metricParkedKeys(), construct.metricDeadKeys(), construct.metricParkedSeconds()]) {
    expect(metric).toMatchObject({
      namespace: 'EvenShards',
      dimensions: { ConsumerName: 'orders' },
      statistic: 'Maximum',
    });
  }
});

test.each([
  ['startingPosition', { startingPosition: undefined as never }],
  ['batchSize', { batchSize: 0 }],
  ['batchSize', { batchSize: 10_001 }],
  ['parallelizationFactor', { parallelizationFactor: 11 }],
  ['consumerName', { consumerName: '' }],
])('refuses a wrong %s', (property, props) => {
  expect(() => consumer(() => props)).toThrow(new RegExp(`INVALID_ARGUMENT.*${property}`));
});

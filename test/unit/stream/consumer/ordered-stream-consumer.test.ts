import { App, Duration, PropertyInjectors, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, StreamViewType, Table, TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Key } from 'aws-cdk-lib/aws-kms';
import {
  CfnEventSourceMapping,
  Code,
  EventSourceMapping,
  type EventSourceMappingProps,
  FilterCriteria,
  FilterRule,
  Function as LambdaFunction,
  Runtime,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import {
  DynamoEventSource,
  type DynamoEventSourceProps,
  KinesisEventSource,
  SqsEventSource,
} from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
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

test('warns of parallel batches, which what an aggregating Kinesis Producer Library writes does not bear', () => {
  const warning = Match.stringLikeRegexp('parallelizationFactor 2 keeps the order of a key only where');
  for (const [props, count] of [
    [{ parallelizationFactor: 2 }, 1],
    [{ parallelizationFactor: 1 }, 0],
    [{}, 0],
  ] as const) {
    const { construct } = consumer(() => props);
    expect(Annotations.fromStack(Stack.of(construct)).findWarning('*', warning)).toHaveLength(count);
  }
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

describe('with enhanced fan-out', () => {
  test('reads as a registered consumer of its own, with the same settings', () => {
    const { template } = consumer(() => ({ enhancedFanOut: true }));
    const found = template();
    found.resourceCountIs('AWS::Lambda::EventSourceMapping', 1);
    found.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('ConsumerFanOut'), 'ConsumerARN'] },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: false,
      MaximumRetryAttempts: Match.absent(),
    });
    found.hasResourceProperties('AWS::Kinesis::StreamConsumer', {
      StreamARN: { 'Fn::GetAtt': [Match.stringLikeRegexp('Stream'), 'Arn'] },
    });
  });

  test('begins at a time, so that nothing is left out when it is switched on', () => {
    const { template } = consumer(() => ({
      enhancedFanOut: true,
      startingPosition: StartingPosition.AT_TIMESTAMP,
      startingPositionTimestamp: 1_790_000_000,
    }));
    template().hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      StartingPosition: 'AT_TIMESTAMP',
      StartingPositionTimestamp: 1_790_000_000,
    });
  });
});

describe('a mapping that can skip records fails synthesis', () => {
  test.each([
    ['MaximumRetryAttempts', 3],
    ['MaximumRecordAgeInSeconds', 3_600],
    ['BisectBatchOnFunctionError', true],
    ['FilterCriteria', { Filters: [{ Pattern: '{}' }] }],
    ['DestinationConfig', { OnFailure: { Destination: 'arn:aws:sqs:us-east-1:111111111111:failed' } }],
    ['TumblingWindowInSeconds', 60],
    ['FunctionResponseTypes', []],
  ])('by an escape hatch that sets %s', (property, value) => {
    const { stack, template } = consumer();
    const [mapping] = stack.node.findAll().filter((each) => each instanceof CfnEventSourceMapping);
    mapping!.addPropertyOverride(property, value);
    expect(template).toThrow(new RegExp(`INVALID_ARGUMENT.*${property}`));
  });

  test('by a property injector', () => {
    const { template } = consumer((stack) => {
      PropertyInjectors.of(stack).add({
        constructUniqueId: EventSourceMapping.PROPERTY_INJECTION_ID,
        inject: (props: EventSourceMappingProps) => ({ ...props, retryAttempts: 10 }),
      });
      return {};
    });
    expect(template).toThrow(/INVALID_ARGUMENT.*MaximumRetryAttempts/);
  });

  test('and one that says that nothing is bounded does not', () => {
    const { stack, template } = consumer();
    const [mapping] = stack.node.findAll().filter((each) => each instanceof CfnEventSourceMapping);
    mapping!.addPropertyOverride('MaximumRetryAttempts', -1);
    expect(template).not.toThrow();
  });
});

describe('a further source of the function', () => {
  const withTable = (settings: Partial<DynamoEventSourceProps>) => {
    const found = consumer();
    const table = new Table(found.stack, 'Table', {
      partitionKey: { name: 'id', type: AttributeType.STRING },
      stream: StreamViewType.NEW_IMAGE,
    });
    const startingPosition = StartingPosition.TRIM_HORIZON;
    found.construct.handler.addEventSource(new DynamoEventSource(table, { startingPosition, ...settings }));
    return found;
  };

  test.each<[string, Partial<DynamoEventSourceProps>]>([
    ['FunctionResponseTypes', {}],
    ['MaximumRetryAttempts', { reportBatchItemFailures: true, retryAttempts: 3 }],
    ['MaximumRecordAgeInSeconds', { reportBatchItemFailures: true, maxRecordAge: Duration.hours(1) }],
    ['BisectBatchOnFunctionError', { reportBatchItemFailures: true, bisectBatchOnError: true }],
  ])('fails synthesis if its mapping can skip records, by %s', (property, settings) => {
    expect(withTable(settings).template).toThrow(
      new RegExp(`INVALID_ARGUMENT.*Function/DynamoDBEventSource.*${property}`),
    );
  });

  test('may have a filter', () => {
    const filters = [FilterCriteria.filter({ eventName: FilterRule.isEqual('INSERT') })];
    expect(withTable({ reportBatchItemFailures: true, filters }).template).not.toThrow();
  });

  test('is nothing that the consumer checks if it is a queue, or belongs to another function', () => {
    const { construct, stack, template } = consumer();
    construct.handler.addEventSource(new SqsEventSource(new Queue(stack, 'Queue')));
    const other = new LambdaFunction(stack, 'Other', {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('exports.handler = () => {};'),
    });
    const settings = { startingPosition: StartingPosition.LATEST, retryAttempts: 1 };
    other.addEventSource(new KinesisEventSource(new Stream(stack, 'OtherStream'), settings));
    expect(template).not.toThrow();
  });
});

test('refuses a function that is a consumer already', () => {
  const { construct, stack } = consumer();
  const another = () =>
    new OrderedStreamConsumer(stack, 'Other', {
      handler: construct.handler,
      stream: new Stream(stack, 'OtherStream'),
      startingPosition: StartingPosition.LATEST,
    });
  expect(another).toThrow(/INVALID_ARGUMENT.*handler.*Test\/Consumer/);
});

test('allows people to look after parked keys, and nothing else', () => {
  const { construct, stack, template } = consumer();
  const role = new Role(stack, 'People', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
  construct.grantOperate(role);
  template().hasResourceProperties('AWS::IAM::Policy', {
    Roles: [{ Ref: Match.stringLikeRegexp('People') }],
    PolicyDocument: {
      Statement: [
        {
          Effect: 'Allow',
          Action: ['DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'].map((action) => `dynamodb:${action}`),
          Resource: { 'Fn::GetAtt': [Match.stringLikeRegexp('ConsumerParkingTable'), 'Arn'] },
        },
      ],
    },
  });
});

test('an import names what exists, and grants on it', () => {
  const stack = new Stack(new App(), 'Test', { env: { account: '111111111111', region: 'us-east-1' } });
  const imported = OrderedStreamConsumer.fromOrderedStreamConsumerAttributes(stack, 'Imported', {
    consumerName: 'orders',
    functionArn: 'arn:aws:lambda:eu-west-1:222222222222:function:orders',
    parkingTableArn: 'arn:aws:dynamodb:eu-west-1:222222222222:table/parked',
    encryptionKey: Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-west-1:222222222222:key/k'),
  });
  expect(imported).toMatchObject({
    functionName: 'orders',
    parkingTableName: 'parked',
    env: { account: '222222222222', region: 'eu-west-1' },
  });
  expect(imported.metric('DeadKeys')).toMatchObject({ dimensions: { ConsumerName: 'orders' }, statistic: 'Maximum' });
  imported.grantOperate(new Role(stack, 'People', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') }));
  Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: [
        Match.objectLike({ Resource: 'arn:aws:kms:eu-west-1:222222222222:key/k' }),
        Match.objectLike({ Resource: 'arn:aws:dynamodb:eu-west-1:222222222222:table/parked' }),
      ],
    },
  });
});

test.each([
  ['startingPosition', { startingPosition: undefined as never }],
  ['retryInterval', { retryInterval: Duration.seconds(30) }],
  ['retryInterval', { retryInterval: Duration.minutes(16) }],
  ['batchSize', { batchSize: 0 }],
  ['batchSize', { batchSize: 10_001 }],
  ['parallelizationFactor', { parallelizationFactor: 11 }],
  ['consumerName', { consumerName: '' }],
])('refuses a wrong %s', (property, props) => {
  expect(() => consumer(() => props)).toThrow(new RegExp(`INVALID_ARGUMENT.*${property}`));
});

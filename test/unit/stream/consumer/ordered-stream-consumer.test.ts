import { App, CfnParameter, Duration, PropertyInjectors, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import {
  AttributeType,
  type ITable,
  StreamViewType,
  Table,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type CfnStream, type IStream, Stream, StreamConsumer } from 'aws-cdk-lib/aws-kinesis';
import { Key } from 'aws-cdk-lib/aws-kms';
import {
  CfnEventSourceMapping,
  EventSourceMapping,
  type EventSourceMappingProps,
  FilterCriteria,
  FilterRule,
  type IEventSourceDlq,
  type Function as LambdaFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import {
  DynamoEventSource,
  type DynamoEventSourceProps,
  KafkaDlq,
  KinesisConsumerEventSource,
  KinesisEventSource,
  S3OnFailureDestination,
  SnsDlq,
  SqsDlq,
  SqsEventSource,
} from 'aws-cdk-lib/aws-lambda-event-sources';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { OrderedStreamConsumer, type OrderedStreamConsumerProps, UniformStream } from '../../../../lib';
import { plainFunction, warningsOf } from '../../../support/minimal-constructs';

function consumer(props: (stack: Stack) => Partial<OrderedStreamConsumerProps> = () => ({})) {
  const stack = new Stack(new App(), 'Test', { env: { account: '111111111111', region: 'us-east-1' } });
  const handler = plainFunction(stack, 'Function');
  const construct = new OrderedStreamConsumer(stack, 'Consumer', {
    handler,
    stream: new Stream(stack, 'Stream'),
    startingPosition: StartingPosition.TRIM_HORIZON,
    ...props(stack),
  });
  return { construct, stack, template: () => Template.fromStack(stack) };
}

const otherStack = ({ node, account, region }: Stack) =>
  new Stack(node.root as App, 'Other', { env: { account, region } });

/** The settings of a mapping that skips no record. */
const LOSSLESS = {
  FunctionResponseTypes: ['ReportBatchItemFailures'],
  BisectBatchOnFunctionError: false,
  MaximumRetryAttempts: Match.absent(),
  MaximumRecordAgeInSeconds: Match.absent(),
};
const mappingOf = (stack: Stack) =>
  stack.node.findAll().find((each) => each instanceof CfnEventSourceMapping) as CfnEventSourceMapping;

test('the event source mapping has no setting that lets Lambda skip a record', () => {
  const { template } = consumer();
  template().hasResourceProperties('AWS::Lambda::EventSourceMapping', {
    ...LOSSLESS,
    StartingPosition: 'TRIM_HORIZON',
    DestinationConfig: Match.absent(),
    FilterCriteria: Match.absent(),
  });
});

test('the table of parked records is retained, and has deletion protection and point-in-time recovery', () => {
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

test('the environment of the function has the name of the table and the name of the consumer', () => {
  const { template } = consumer(() => ({ consumerName: 'orders' }));
  template().hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: { EVEN_SHARDS_PARKING_TABLE_NAME: Match.anyValue(), EVEN_SHARDS_CONSUMER_NAME: 'orders' },
    },
  });
});

test('synthesis fails if the variables of the consumer do not fit into the environment of the handler', () => {
  const { stack, construct } = consumer();
  construct.handler.addEnvironment('OWN', 'x'.repeat(4_050));
  expect(() => (stack.node.root as App).synth()).toThrow(
    /Test\/Function: environment must be at most 4096 bytes of configuration/,
  );
});

test('a handler that already has a variable of the consumer is rejected', () => {
  const environment = { EVEN_SHARDS_CONSUMER_NAME: 'own' };
  expect(() => consumer((stack) => ({ handler: plainFunction(stack, 'Own', { environment }) }))).toThrow(
    'Test/Consumer: handler.environment must be a variable that the function does not already have, got "EVEN_SHARDS_CONSUMER_NAME"',
  );
});

test('a schedule invokes the function of the consumer every minute to replay parked keys', () => {
  const { template } = consumer();
  template().hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    Targets: [Match.objectLike({ Input: '{"retryParked":true}', RetryPolicy: { MaximumRetryAttempts: 0 } })],
  });
});

test('the mapping, the schedule and the table have the settings of the props', () => {
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

test('synthesis warns of a parallelization factor above 1, because the Kinesis Producer Library can put several keys into one aggregate', () => {
  const warning = Match.stringLikeRegexp('parallelizationFactor 2 keeps the order of a key only if');
  for (const [props, count] of [
    [{ parallelizationFactor: 2 }, 1],
    [{ parallelizationFactor: 1 }, 0],
    [{}, 0],
  ] as const) {
    const { construct } = consumer(() => props);
    expect(Annotations.fromStack(Stack.of(construct)).findWarning('*', warning)).toHaveLength(count);
  }
});

test('the metrics have the name of the consumer as their dimension', () => {
  const { construct } = consumer(() => ({ consumerName: 'orders' }));
  for (const metric of [construct.metricParkedKeys(), construct.metricDeadKeys(), construct.metricParkedSeconds()]) {
    expect(metric).toMatchObject({
      namespace: 'EvenShards',
      dimensions: { ConsumerName: 'orders' },
      statistic: 'Maximum',
    });
  }
});

describe('an OrderedStreamConsumer with enhanced fan-out', () => {
  test('registers a stream consumer, and its mapping has the same settings', () => {
    const { template } = consumer(() => ({ enhancedFanOut: true }));
    const found = template();
    found.resourceCountIs('AWS::Lambda::EventSourceMapping', 1);
    found.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('ConsumerFanOut'), 'ConsumerARN'] },
      ...LOSSLESS,
    });
    found.hasResourceProperties('AWS::Kinesis::StreamConsumer', {
      StreamARN: { 'Fn::GetAtt': [Match.stringLikeRegexp('Stream'), 'Arn'] },
    });
  });

  test('can start at a timestamp, so that no record is skipped when an app switches to enhanced fan-out', () => {
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

describe('synthesis of an event source mapping that can skip records', () => {
  test.each([
    ['MaximumRetryAttempts', 3],
    ['MaximumRecordAgeInSeconds', 3_600],
    ['BisectBatchOnFunctionError', true],
    ['BisectBatchOnFunctionError', 'true'],
    ['FilterCriteria', { Filters: [{ Pattern: '{}' }] }],
    ['DestinationConfig', { OnFailure: { Destination: 'arn:aws:sqs:us-east-1:111111111111:failed' } }],
    ['TumblingWindowInSeconds', 60],
    ['FunctionResponseTypes', []],
  ])('fails if an escape hatch sets %s', (property, value) => {
    const { stack, template } = consumer();
    mappingOf(stack).addPropertyOverride(property, value);
    expect(template).toThrow(new RegExp(`INVALID_ARGUMENT.*${property}`));
  });

  test('fails if a property injector sets the prop retryAttempts', () => {
    const { template } = consumer((stack) => {
      PropertyInjectors.of(stack).add({
        constructUniqueId: EventSourceMapping.PROPERTY_INJECTION_ID,
        inject: (props: EventSourceMappingProps) => ({ ...props, retryAttempts: 10 }),
      });
      return {};
    });
    expect(template).toThrow(/INVALID_ARGUMENT.*MaximumRetryAttempts/);
  });

  test('passes if an escape hatch sets MaximumRetryAttempts to -1, which means no limit', () => {
    const { stack, template } = consumer();
    mappingOf(stack).addPropertyOverride('MaximumRetryAttempts', -1);
    expect(template).not.toThrow();
  });
});

/** The largest `MaxRecordSizeInKiB` of a stream whose records all fit into a Lambda event. */
const LARGEST_KIB = 4_603;

describe('a stream whose record size limit allows records that do not fit into an event', () => {
  const plainStream = (stack: Stack, kibibytes: unknown) => {
    const stream = new Stream(stack, 'Large');
    (stream.node.defaultChild as CfnStream).addPropertyOverride('MaxRecordSizeInKiB', kibibytes);
    return stream;
  };
  const uniformStream = (stack: Stack, kibibytes: number, id = 'Large') =>
    new UniformStream(stack, id, { shardCount: 1, maxRecordSize: Size.kibibytes(kibibytes) });

  const STREAMS: Record<string, (stack: Stack, kibibytes: number) => IStream> = {
    'a UniformStream': uniformStream,
    'a UniformStream that scales': (stack, kibibytes) => {
      const stream = uniformStream(stack, kibibytes);
      stream.autoScaleShardCount({ minCapacity: 1, maxCapacity: 4 });
      return stream;
    },
    'a kinesis.Stream with an escape hatch': plainStream,
    'a kinesis.Stream with an escape hatch that writes text': (stack, kibibytes) => plainStream(stack, `${kibibytes}`),
    'a stream of another stack': (stack, kibibytes) => uniformStream(otherStack(stack), kibibytes),
    'an imported UniformStream whose size is given': (stack, kibibytes) =>
      UniformStream.fromUniformStreamAttributes(stack, 'Large', {
        streamArn: 'arn:aws:kinesis:us-east-1:111111111111:stream/large',
        maxRecordSize: Size.kibibytes(kibibytes),
      }),
    'an import of a stream of the same app': (stack, kibibytes) =>
      Stream.fromStreamArn(stack, 'Imported', plainStream(stack, kibibytes).streamArn),
  };

  describe.each(Object.entries(STREAMS))('%s', (_, streamOf) => {
    test('is rejected if a record within the limit may not fit into an event and the consumer has no onFailure; the error lists the alternatives', () => {
      const build = () => consumer((stack) => ({ stream: streamOf(stack, LARGEST_KIB + 1) }));
      expect(build).toThrow(
        /INVALID_ARGUMENT.*Test\/Consumer: stream.maxRecordSize.*at most 4603 KiB.*decrease maxRecordSize.*S3.*onFailure.*got "4604 KiB"/,
      );
    });

    test('is accepted if every record within the limit fits into an event', () => {
      const { template } = consumer((stack) => ({ stream: streamOf(stack, LARGEST_KIB) }));
      expect(template).not.toThrow();
    });

    test('is accepted if the consumer has an onFailure', () => {
      const { template } = consumer((stack) => ({
        stream: streamOf(stack, 10_240),
        onFailure: new SqsDlq(new Queue(stack, 'TooLarge')),
      }));
      expect(template).not.toThrow();
    });
  });

  test('fails synthesis if an escape hatch increases the record size limit after the consumer was created', () => {
    const { stack, template } = consumer();
    (stack.node.findChild('Stream').node.defaultChild as CfnStream).addPropertyOverride('MaxRecordSizeInKiB', 10_240);
    expect(template).toThrow(/INVALID_ARGUMENT.*Test\/Consumer: stream.maxRecordSize.*"10240 KiB"/);
  });

  test.each<[string, (stack: Stack) => IStream]>([
    ['a token', (stack) => plainStream(stack, new CfnParameter(stack, 'Size', { type: 'Number' }).valueAsNumber)],
    ['unknown, because the stream is imported', (stack) => Stream.fromStreamArn(stack, 'Large', ARN_OF_STREAM)],
  ])('is accepted without a warning if its record size limit is %s', (_, streamOf) => {
    const { stack, template } = consumer((of) => ({ stream: streamOf(of) }));
    expect(template).not.toThrow();
    expect(warningsOf(stack)).toEqual([]);
  });

  test('fails synthesis if an escape hatch removes the onFailure of the mapping', () => {
    const { stack, template } = consumer((of) => ({
      stream: uniformStream(of, 10_240),
      onFailure: new SqsDlq(new Queue(of, 'TooLarge')),
    }));
    mappingOf(stack).addPropertyDeletionOverride('DestinationConfig');
    expect(template).toThrow(/INVALID_ARGUMENT.*stream.maxRecordSize/);
  });

  describe('as an additional event source of the function', () => {
    const startingPosition = StartingPosition.LATEST;
    const settings = { startingPosition, reportBatchItemFailures: true };
    const SOURCES = {
      'a stream': (stream: IStream) => new KinesisEventSource(stream, settings),
      'a stream with enhanced fan-out': (stream: IStream) =>
        new KinesisConsumerEventSource(
          new StreamConsumer(stream, 'FanOut', { stream, streamConsumerName: 'other' }),
          settings,
        ),
    };

    test.each(Object.entries(SOURCES))('%s fails synthesis if the event source has no onFailure', (_, source) => {
      for (const elsewhere of [false, true]) {
        const { construct, stack, template } = consumer();
        const owner = elsewhere ? otherStack(stack) : stack;
        construct.handler.addEventSource(source(uniformStream(owner, 10_240, 'Further')));
        expect(template).toThrow(/INVALID_ARGUMENT.*Test\/Function\/.*stream.maxRecordSize/);
      }
    });

    test('is accepted if the event source has an onFailure', () => {
      const { construct, stack, template } = consumer();
      const onFailure = new SqsDlq(new Queue(stack, 'TooLarge'));
      const stream = uniformStream(stack, 10_240, 'Further');
      construct.handler.addEventSource(new KinesisEventSource(stream, { ...settings, onFailure }));
      expect(template).not.toThrow();
    });
  });
});

const ARN_OF_STREAM = 'arn:aws:kinesis:us-east-1:111111111111:stream/imported';

describe('onFailure', () => {
  test.each<[string, (stack: Stack) => IEventSourceDlq]>([
    ['a FIFO queue', (stack) => new SqsDlq(new Queue(stack, 'Destination', { fifo: true }))],
    ['a FIFO topic', (stack) => new SnsDlq(new Topic(stack, 'Destination', { fifo: true }))],
    ['a Kafka topic', () => new KafkaDlq('failures')],
    [
      'a FIFO queue or topic',
      (stack) => new SqsDlq(Queue.fromQueueArn(stack, 'Destination', 'arn:aws:sqs:us-east-1:111111111111:failed.fifo')),
    ],
  ])('is rejected if it is %s, because Lambda rejects it', (kind, onFailure) => {
    expect(() => consumer((stack) => ({ onFailure: onFailure(stack) }))).toThrow(
      `Test/Consumer: onFailure must be a destination that Lambda supports: no FIFO queue, FIFO topic or Kafka topic, got "${kind}"`,
    );
  });

  const DESTINATIONS = {
    'a queue': [(stack: Stack) => new SqsDlq(new Queue(stack, 'Destination')), 'sqs:SendMessage'],
    'a topic': [(stack: Stack) => new SnsDlq(new Topic(stack, 'Destination')), 'sns:Publish'],
    'a bucket': [(stack: Stack) => new S3OnFailureDestination(new Bucket(stack, 'Destination')), 'PutObject'],
  } as const;

  test.each(
    Object.entries(DESTINATIONS).flatMap(([name, of]) => [false, true].map((fanOut) => [name, fanOut, ...of] as const)),
  )(
    '%s, with enhanced fan-out %p, receives records that are too large for an event; Lambda still retries without a limit of attempts or record age',
    (...given) => {
      const [, enhancedFanOut, destination, action] = given;
      const { template } = consumer((stack) => ({ enhancedFanOut, onFailure: destination(stack) }));
      const found = template();
      found.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        ...LOSSLESS,
        DestinationConfig: { OnFailure: { Destination: Match.objectLike({}) } },
      });
      expect(JSON.stringify(found.findResources('AWS::IAM::Policy'))).toContain(action);
    },
  );
});

describe('synthesis of another event source mapping with the same function', () => {
  const skips = {
    startingPosition: 'TRIM_HORIZON',
    maximumRetryAttempts: 1,
    functionResponseTypes: ['ReportBatchItemFailures'],
  };
  const names: Record<string, (handler: LambdaFunction) => string> = {
    'its ARN': (handler) => handler.functionArn,
    'an alias': (handler) => handler.addAlias('live').functionArn,
    'its version': (handler) => handler.currentVersion.functionArn,
    'its ARN and the name of an alias': (handler) => `${handler.functionArn}:live`,
  };

  test.each(
    Object.entries(names).flatMap(([name, of]) => [false, true].map((elsewhere) => [name, elsewhere, of] as const)),
  )('fails if the mapping names the function by %s, in another stack: %p, and can skip records', (...given) => {
    const [, elsewhere, nameOf] = given;
    const { stack, construct, template } = consumer();
    const owner = elsewhere ? otherStack(stack) : stack;
    const functionName = nameOf(construct.handler);
    const eventSourceArn = new Stream(owner, 'OtherStream').streamArn;
    new CfnEventSourceMapping(owner, 'Mapping', { ...skips, eventSourceArn, functionName });
    expect(template).toThrow(/INVALID_ARGUMENT.*Mapping.*MaximumRetryAttempts/);
  });

  test('accepts a mapping that can skip records if it belongs to another function', () => {
    const { stack, template } = consumer();
    const eventSourceArn = new Stream(stack, 'Other').streamArn;
    new CfnEventSourceMapping(stack, 'Mapping', { ...skips, eventSourceArn, functionName: 'another' });
    expect(template).not.toThrow();
  });
});

describe('the stream of a table', () => {
  const partitionKey = { name: 'id', type: AttributeType.STRING };
  const ofTable = (
    more: Partial<OrderedStreamConsumerProps> = {},
    tableOf: (stack: Stack) => ITable = (stack) =>
      new TableV2(stack, 'Table', { partitionKey, dynamoStream: StreamViewType.NEW_IMAGE }),
  ) => consumer((stack) => ({ stream: undefined, table: tableOf(stack), ...more }));
  const imported = (region: string, tableStreamArn?: string) => (stack: Stack) =>
    Table.fromTableAttributes(stack, 'Table', {
      tableArn: `arn:aws:dynamodb:${region}:111111111111:table/jobs`,
      ...(tableStreamArn && { tableStreamArn }),
    });
  const ARN_OF_TABLE_STREAM = 'arn:aws:dynamodb:us-east-1:111111111111:table/jobs/stream/2026-01-01T00:00:00.000';

  test('has a mapping that lets Lambda skip no change, and the function may read the stream', () => {
    const found = ofTable({ batchSize: 500, parallelizationFactor: 4 }).template();
    found.resourceCountIs('AWS::Lambda::EventSourceMapping', 1);
    found.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('Table'), 'StreamArn'] },
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 500,
      ParallelizationFactor: 4,
      ...LOSSLESS,
      DestinationConfig: Match.absent(),
    });
    expect(JSON.stringify(found.findResources('AWS::IAM::Policy'))).toContain('dynamodb:GetRecords');
  });

  test('may be the stream of an imported table', () => {
    const found = ofTable({}, imported('us-east-1', ARN_OF_TABLE_STREAM)).template();
    found.hasResourceProperties('AWS::Lambda::EventSourceMapping', { EventSourceArn: ARN_OF_TABLE_STREAM });
  });

  test('does not warn of parallel batches, because the changes of an item stay in order', () => {
    const { stack } = ofTable({ parallelizationFactor: 4 });
    expect(warningsOf(stack)).toEqual([]);
  });

  test.each<[string, (stack: Stack) => ITable]>([
    ['an imported table without the ARN of its stream', imported('us-east-1')],
    ['a TableV2 without a stream', (stack) => new TableV2(stack, 'Table', { partitionKey })],
  ])('cannot be the stream of %s', (_, tableOf) => {
    expect(() => ofTable({}, tableOf).template()).toThrow(/Test\/Consumer: table must be a table whose stream is on/);
  });

  test('cannot be in another region', () => {
    const elsewhere = imported('eu-west-1', ARN_OF_TABLE_STREAM.replace('us-east-1', 'eu-west-1'));
    expect(() => ofTable({}, elsewhere)).toThrow(/Test\/Consumer: table must be a table of the account and region/);
  });

  test.each<[Partial<OrderedStreamConsumerProps>, RegExp]>([
    [{ enhancedFanOut: true }, /enhancedFanOut must be absent with a table/],
    [
      { startingPosition: StartingPosition.AT_TIMESTAMP },
      /startingPosition must be TRIM_HORIZON or LATEST with a table/,
    ],
    [{ startingPositionTimestamp: 1_790_000_000 }, /startingPositionTimestamp must be absent with a table/],
  ])('rejects %p, which only a Kinesis stream supports', (props, message) => {
    expect(() => ofTable(props)).toThrow(message);
  });

  test('rejects an onFailure, because every change fits into an event', () => {
    const withDestination = () =>
      consumer((stack) => ({
        stream: undefined,
        table: new TableV2(stack, 'Table', { partitionKey, dynamoStream: StreamViewType.NEW_IMAGE }),
        onFailure: new SqsDlq(new Queue(stack, 'Failed')),
      }));
    expect(withDestination).toThrow(/onFailure must be absent with a table/);
  });

  test('fails synthesis if an escape hatch lets Lambda skip changes, and accepts an event filter', () => {
    const withOverride = (property: string, value: unknown) => {
      const { stack, template } = ofTable();
      mappingOf(stack).addPropertyOverride(property, value);
      return template;
    };
    expect(withOverride('MaximumRetryAttempts', 3)).toThrow(/INVALID_ARGUMENT.*MaximumRetryAttempts/);
    expect(withOverride('FilterCriteria', { Filters: [{ Pattern: '{}' }] })).not.toThrow();
  });
});

test.each<[string, (stack: Stack) => Partial<OrderedStreamConsumerProps>, RegExp]>([
  [
    'neither a stream nor a table',
    () => ({ stream: undefined }),
    /stream must be a Kinesis stream, or absent with a table/,
  ],
  [
    'both a stream and a table',
    (stack) => ({ table: Table.fromTableName(stack, 'Table', 'jobs') }),
    /table must be absent with a stream/,
  ],
])('a consumer with %s is rejected', (_, props, message) => {
  expect(() => consumer(props)).toThrow(message);
});

describe('a DynamoDB stream as an additional event source of the function', () => {
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
  ])('fails synthesis if the mapping of the DynamoDB stream can skip records because of %s', (property, settings) => {
    expect(withTable(settings).template).toThrow(
      new RegExp(`INVALID_ARGUMENT.*Function/DynamoDBEventSource.*${property}`),
    );
  });

  test('may have an event filter', () => {
    const filters = [FilterCriteria.filter({ eventName: FilterRule.isEqual('INSERT') })];
    expect(withTable({ reportBatchItemFailures: true, filters }).template).not.toThrow();
  });

  test('the consumer does not check queues, and does not check event sources of other functions', () => {
    const { construct, stack, template } = consumer();
    construct.handler.addEventSource(new SqsEventSource(new Queue(stack, 'Queue')));
    const other = plainFunction(stack, 'Other');
    const settings = { startingPosition: StartingPosition.LATEST, retryAttempts: 1 };
    other.addEventSource(new KinesisEventSource(new Stream(stack, 'OtherStream'), settings));
    expect(template).not.toThrow();
  });
});

test('a function cannot be the handler of two consumers', () => {
  const { construct, stack } = consumer();
  const another = () =>
    new OrderedStreamConsumer(stack, 'Other', {
      handler: construct.handler,
      stream: new Stream(stack, 'OtherStream'),
      startingPosition: StartingPosition.LATEST,
    });
  expect(another).toThrow(/INVALID_ARGUMENT.*handler.*Test\/Consumer/);
});

test('an imported consumer has names, metrics and grants', () => {
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
  imported.grantOperate(new Role(stack, 'People', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') }));
  Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: [
        Match.objectLike({ Resource: 'arn:aws:dynamodb:eu-west-1:222222222222:table/parked' }),
        Match.objectLike({ Resource: 'arn:aws:kms:eu-west-1:222222222222:key/k' }),
      ],
    },
  });
});

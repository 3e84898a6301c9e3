import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  AdaptiveShardCountController,
  type BundledFunctionOptions,
  HashKeyRegistry,
  OrderedProducerFunction,
  ShardCounts,
  StreamResharding,
  StreamReshardingProvider,
  UniformStream,
} from '../../../lib';
import { index, producer, query, resharding, tableItemMover } from '../../support/minimal-constructs';

type Settings = BundledFunctionOptions & { timeout?: Duration; memorySize?: number };

interface FunctionConstruct extends ec2.IConnectable {
  readonly function: lambda.Function;
}

const constructs: [string, (stack: Stack, settings: Settings) => FunctionConstruct][] = [
  ['OrderedProducerFunction', producer],
  ['HashKeyRegistry', (stack, settings) => new HashKeyRegistry(stack, 'It', { stream: streamOf(stack), ...settings })],
  ['FanOutQueryFunction', query],
  ['IndexItemMover', resharding],
  ['TableItemMover', tableItemMover],
  [
    'AdaptiveShardCountController',
    (stack, settings) =>
      new AdaptiveShardCountController(stack, 'It', { index: index(stack, ShardCounts.adaptive()), ...settings }),
  ],
  [
    'StreamAutoScaling',
    (stack, settings) => streamOf(stack).autoScaleShardCount({ minCapacity: 1, maxCapacity: 8, ...settings }),
  ],
  ['StreamReconciliation', (stack, settings) => streamOf(stack).addReconciliation(settings)],
  [
    'StreamReshardingProvider',
    (stack, settings) => {
      const provider = new StreamReshardingProvider(stack, 'It', settings);
      new StreamResharding(stack, 'Resharding', { stream: streamOf(stack), shardCount: 8, provider });
      return provider;
    },
  ],
];

function streamOf(stack: Stack): UniformStream {
  return new UniformStream(stack, 'Events', { shardCount: 4 });
}

describe.each(constructs)('%s', (_, make) => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test('passes every function setting on to Lambda', () => {
    const vpc = new ec2.Vpc(stack, 'Vpc');
    const securityGroup = new ec2.SecurityGroup(stack, 'SecurityGroup', { vpc });
    const environmentEncryption = new kms.Key(stack, 'Key');
    const layer = lambda.LayerVersion.fromLayerVersionArn(stack, 'Layer', 'arn:aws:lambda:eu-west-1:1:layer:logs:1');
    const it = make(stack, {
      functionName: 'mine',
      runtime: lambda.Runtime.NODEJS_22_X,
      architecture: lambda.Architecture.X86_64,
      timeout: Duration.minutes(3),
      memorySize: 777,
      logGroup: new logs.LogGroup(stack, 'Logs', { logGroupName: 'mine' }),
      applicationLogLevelV2: lambda.ApplicationLogLevel.DEBUG,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      tracing: lambda.Tracing.ACTIVE,
      layers: [layer],
      environmentEncryption,
      vpc,
      vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      securityGroups: [securityGroup],
      reservedConcurrentExecutions: 7,
      onFailure: new SqsDestination(new Queue(stack, 'Queue')),
      retryAttempts: 1,
      maxEventAge: Duration.hours(1),
      environment: { MY_COLLECTOR: 'https://collector' },
      codeSigningConfig: lambda.CodeSigningConfig.fromCodeSigningConfigArn(
        stack,
        'Signing',
        'arn:aws:lambda:eu-west-1:1:code-signing-config:csc-1',
      ),
      ipv6AllowedForDualStack: true,
    });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'mine',
      Runtime: 'nodejs22.x',
      Architectures: ['x86_64'],
      Timeout: 180,
      MemorySize: 777,
      LoggingConfig: {
        LogGroup: Match.objectLike({ Ref: Match.stringLikeRegexp('^Logs') }),
        LogFormat: 'JSON',
        ApplicationLogLevel: 'DEBUG',
        SystemLogLevel: 'WARN',
      },
      TracingConfig: { Mode: 'Active' },
      Layers: [layer.layerVersionArn],
      KmsKeyArn: stack.resolve(environmentEncryption.keyArn),
      VpcConfig: { SecurityGroupIds: [stack.resolve(securityGroup.securityGroupId)], SubnetIds: Match.anyValue() },
      ReservedConcurrentExecutions: 7,
      Environment: { Variables: Match.objectLike({ MY_COLLECTOR: 'https://collector' }) },
      CodeSigningConfigArn: 'arn:aws:lambda:eu-west-1:1:code-signing-config:csc-1',
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'mine',
      VpcConfig: Match.objectLike({ Ipv6AllowedForDualStack: true }),
    });
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
      MaximumEventAgeInSeconds: 3600,
      MaximumRetryAttempts: 1,
    });
    expect(it.connections.securityGroups).toEqual([securityGroup]);
    expect(JSON.stringify(template)).toContain('ec2:CreateNetworkInterface');
  });

  test('has its function, or the table of the registry, as its default child for escape hatches', () => {
    const it = make(stack, {});

    const ofTable = it instanceof HashKeyRegistry ? it.node.findChild('Table').node.defaultChild : undefined;
    expect(it.function.node.scope?.node.defaultChild).toBe(ofTable ?? it.function.node.defaultChild);
  });

  test('rejects a variable in environment that the construct sets', () => {
    const EVEN_SHARDS_STREAM_NAME = 'mine';

    expect(() => make(stack, { environment: { EVEN_SHARDS_STREAM_NAME } })).toThrow(
      /: environment must be variables that the function does not set itself, got "EVEN_SHARDS_STREAM_NAME"/,
    );
  });

  test.each([0, 127, 128.5, 10_241])('rejects a memorySize of %d', (memorySize) => {
    expect(() => make(stack, { memorySize })).toThrow(
      `: memorySize must be a whole number from 128 to 10240, got ${memorySize}`,
    );
  });

  test('rejects a FIFO queue as onFailure, because Lambda rejects it', () => {
    const onFailure = new SqsDestination(new Queue(stack, 'Queue', { fifo: true }));
    expect(() => make(stack, { onFailure })).toThrow(
      ': onFailure must be a destination that Lambda supports: no FIFO queue, FIFO topic or Kafka topic, got "a FIFO queue"',
    );
  });

  test('uses the given role', () => {
    const role = new iam.Role(stack, 'MyRole', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    const it = make(stack, { role });

    expect(it.function.role).toBe(role);
    expect(it.function.node.scope?.node.tryFindChild('Role')).toBeUndefined();
    expect(JSON.stringify(Template.fromStack(stack).toJSON())).toContain('logs:PutLogEvents');
  });
});

test('a function accepts public subnets only with allowPublicSubnet', () => {
  const stack = new Stack(new App(), 'EvenShards');
  const vpc = new ec2.Vpc(stack, 'Vpc');
  const vpcSubnets = { subnetType: ec2.SubnetType.PUBLIC };
  const stream = streamOf(stack);
  const make = (id: string, props: object) =>
    new OrderedProducerFunction(stack, id, { stream, vpc, vpcSubnets, ...props });

  expect(() => make('Refused', {})).toThrow('allowPublicSubnet');
  expect(() => make('Allowed', { allowPublicSubnet: true })).not.toThrow();
});

test.each([
  ['eu-west-1', lambda.Runtime.NODEJS_24_X],
  ['cn-north-1', undefined],
])('a function in %s has a runtime that Lambda offers in the Region', (region, runtime) => {
  const stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region } });
  const { function: it } = new OrderedProducerFunction(stack, 'It', { stream: streamOf(stack) });

  expect(it.runtime.name).toBe((runtime ?? lambda.determineLatestNodeRuntime(stack)).name);
});

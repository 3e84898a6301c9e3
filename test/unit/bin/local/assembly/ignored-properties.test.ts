import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Aws, Fn, LegacyStackSynthesizer, Stack, type StackProps } from 'aws-cdk-lib';
import * as cassandra from 'aws-cdk-lib/aws-cassandra';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { EventBus } from 'aws-cdk-lib/aws-events';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { readCloudAssembly } from '../../../../../bin/local/assembly/cloud-assembly';
import { type DeploymentPlan, planDeployment } from '../../../../../bin/local/assembly/deployment-plan';
import { differencesOf, StrictRunError } from '../../../../../bin/local/differences';
import { startLocal } from '../../../../../bin/local/run-local';
import { ShardCounts, ShardedTable } from '../../../../../lib';

/** The runtime with the Node.js version of this machine, so that no difference concerns the runtime. */
const runtime = new lambda.Runtime(`nodejs${process.versions.node.split('.')[0]}.x`, lambda.RuntimeFamily.NODEJS);

function functionOf(stack: Stack, props: Partial<lambda.FunctionProps> = {}): lambda.Function {
  const path = mkdtempSync(join(tmpdir(), 'code-'));
  writeFileSync(join(path, 'index.js'), 'exports.handler = async () => null;');
  const code = lambda.Code.fromAsset(path);
  return new lambda.Function(stack, 'Function', { runtime, handler: 'index.handler', code, ...props });
}

function synthesize(build: (stack: Stack) => void, stackProps: StackProps = {}): string {
  const app = new App();
  build(new Stack(app, 'App', stackProps));
  return app.synth().directory;
}

function planOf(build: (stack: Stack) => void, stackProps?: StackProps): DeploymentPlan {
  return planDeployment(readCloudAssembly(synthesize(build, stackProps)));
}

const key = { partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING } };
const ignoredIn = ({ ignored }: DeploymentPlan) => ignored.map(({ path, property }) => `${property} of ${path}`);

test.each<[what: string, build: (stack: Stack) => void, ignored: string[]]>([
  [
    'a table with a stream of its items in Kinesis',
    (stack) => {
      const kinesisStream = new kinesis.Stream(stack, 'Changes');
      new dynamodb.Table(stack, 'Table', { ...key, kinesisStream });
    },
    ['KinesisStreamSpecification of App/Table'],
  ],
  [
    'a table with a time to live, tags, a backup and a table class, which have no effect here',
    (stack) => {
      new dynamodb.Table(stack, 'Table', {
        ...{ ...key, timeToLiveAttribute: 'expires', deletionProtection: true },
        tableClass: dynamodb.TableClass.STANDARD_INFREQUENT_ACCESS,
        pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      });
    },
    [],
  ],
  [
    'a function with a dead-letter queue, reserved concurrency, tracing and a log format',
    (stack) => {
      functionOf(stack, {
        ...{ deadLetterQueueEnabled: true, reservedConcurrentExecutions: 1, tracing: lambda.Tracing.ACTIVE },
        loggingFormat: lambda.LoggingFormat.JSON,
      });
    },
    ['DeadLetterConfig of App/Function', 'ReservedConcurrentExecutions of App/Function'],
  ],
  [
    'a function with the layer of another account, and another Node.js version',
    (stack) => {
      const layer = lambda.LayerVersion.fromLayerVersionArn(
        ...([stack, 'Layer', `arn:aws:lambda:${Aws.REGION}:094274105915:layer:Powertools:50`] as const),
      );
      functionOf(stack, { runtime: lambda.Runtime.NODEJS_14_X, layers: [layer] });
    },
    ['Layers of App/Function', 'Runtime of App/Function'],
  ],
  [
    'a mapping with a tumbling window',
    (stack) => {
      const eventSourceArn = new kinesis.Stream(stack, 'Events').streamArn;
      const startingPosition = lambda.StartingPosition.LATEST;
      const mapping = functionOf(stack).addEventSourceMapping('Mapping', { eventSourceArn, startingPosition });
      (mapping.node.defaultChild as lambda.CfnEventSourceMapping).tumblingWindowInSeconds = 30;
    },
    ['TumblingWindowInSeconds of App/Function/Mapping'],
  ],
  [
    'a property that is newer than this version, and a setting that is the default',
    (stack) => {
      const cfn = new kinesis.Stream(stack, 'Events').node.defaultChild as kinesis.CfnStream;
      cfn.addPropertyOverride('Compaction', 'ON');
      cfn.addPropertyOverride('RecordDistributionStrategy', 'PARTITION_KEY');
    },
    ['Compaction of App/Events'],
  ],
])('the plan of %s names the properties that a local run ignores', (_, build, ignored) => {
  expect(ignoredIn(planOf(build))).toEqual(ignored);
});

test.each(['StreamSpecification', 'StreamSpecification.StreamViewType'])(
  'the plan names %s of a table if its value is unknown, with the reason',
  (property) => {
    const { ignored } = planOf((stack) => {
      const cfn = new dynamodb.Table(stack, 'Table', key).node.defaultChild as dynamodb.CfnTable;
      cfn.addPropertyOverride(property, { 'Fn::Transform': { Name: 'Streams' } });
    });
    const reason = 'its value is unknown: only CloudFormation runs the macro Streams';
    expect(ignored).toEqual([{ path: 'App/Table', property, reason }]);
  },
);

test('a function receives the ARN, URL or name of a resource that is not emulated, if the template names it', () => {
  const { functions } = planOf((stack) => {
    const topic = new Topic(stack, 'Topic', { topicName: 'orders' });
    const queue = new Queue(stack, 'Queue', { queueName: 'work' });
    functionOf(stack, {
      environment: {
        ...{ TOPIC: topic.topicArn, QUEUE: queue.queueUrl, QUEUE_ARN: queue.queueArn },
        BUS: new EventBus(stack, 'Bus', { eventBusName: 'main' }).eventBusName,
        PARAMETER: new StringParameter(stack, 'Parameter', { parameterName: '/a/b', stringValue: 'c' }).parameterName,
        UNNAMED: new Queue(stack, 'Unnamed').queueUrl,
      },
    });
  });
  expect(functions[0]).toMatchObject({
    environment: {
      TOPIC: 'arn:aws:sns:us-east-1:000000000000:orders',
      QUEUE: 'https://sqs.us-east-1.amazonaws.com/000000000000/work',
      ...{ QUEUE_ARN: 'arn:aws:sqs:us-east-1:000000000000:work', BUS: 'main', PARAMETER: '/a/b' },
    },
    unset: { UNNAMED: expect.stringMatching(/^Unnamed\w+ is an AWS::SQS::Queue, which is not emulated$/) },
  });
});

test('an alias names its own version, and a local run finds the assets of the legacy synthesizer', () => {
  const { functions, leftOut } = planOf(
    (stack) => {
      const handler = functionOf(stack);
      const versions = [1, 2].map((n) => new lambda.Version(stack, `V${n}`, { lambda: handler }));
      new lambda.Alias(stack, 'Live', { aliasName: 'live', version: versions[1]! });
    },
    { synthesizer: new LegacyStackSynthesizer() },
  );
  expect(functions).toMatchObject([{ path: 'App/Function', qualifiers: { live: '2' } }]);
  expect(leftOut.filter(({ needed }) => needed)).toEqual([]);
});

test('a run with a Cassandra leaves out a table whose keyspace is unknown, and names a stream of changes', () => {
  const partitionKeyColumns = [{ columnName: 'id', columnType: 'text' }];
  const app = synthesize((stack) => {
    const keyspaceName = Fn.importValue('keyspace');
    new cassandra.CfnTable(stack, 'Unknown', { keyspaceName, partitionKeyColumns });
    new cassandra.CfnTable(stack, 'Known', {
      ...{ keyspaceName: 'orders', partitionKeyColumns },
      cdcSpecification: { status: 'ENABLED' },
    });
  });
  const plan = planDeployment(readCloudAssembly(app), { keyspaces: true });
  expect(plan.keyspacesTables.map(({ path }) => path)).toEqual(['App/Known']);
  expect(differencesOf(plan, [])).toEqual([
    'ignored here: CdcSpecification of App/Known, the table has no change data capture stream',
    'left out: App/Unknown (AWS::Cassandra::Table), KeyspaceName is unknown: no stack of the app exports keyspace',
  ]);
});

describe('differences from AWS', () => {
  const app = synthesize((stack) => {
    for (const id of ['A', 'B', 'C', 'D', 'E', 'F']) new Queue(stack, id);
    functionOf(stack, { environment: { QUEUE: new Queue(stack, 'G').queueUrl }, deadLetterQueueEnabled: true });
  });

  test('differencesOf names an index with another layout, and a package of the runtime that the app lacks', () => {
    const code = mkdtempSync(join(tmpdir(), 'code-'));
    writeFileSync(join(code, 'index.js'), "require('@aws-sdk/client-no-such-service');");
    const withBoth = synthesize((stack) => {
      functionOf(stack, { code: lambda.Code.fromAsset(code) });
      const table = new ShardedTable(stack, 'Table', key);
      table.addShardedIndex({
        indexName: 'byStatus',
        valueAttribute: { name: 'status', type: dynamodb.AttributeType.STRING },
        shardCounts: ShardCounts.uniform(2),
      });
    });
    expect(differencesOf(planDeployment(readCloudAssembly(withBoth)), [])).toEqual([
      expect.stringMatching(/^index byStatus of App\/Table has the single-attribute layout here, because dynalite/),
      expect.stringMatching(/^functions import 1 package .*: npm install --save-dev @aws-sdk\/client-no-such-service$/),
    ]);
  });

  test('differencesOf counts the resources to which nothing refers, and names all others', () => {
    expect(differencesOf(planDeployment(readCloudAssembly(app)), [])).toEqual([
      'ignored here: DeadLetterConfig of App/Function, a failed invocation is not sent to a dead-letter queue or topic',
      expect.stringMatching(/^not set: QUEUE of App\/Function, G\w+ is an AWS::SQS::Queue, which is not emulated$/),
      'left out: App/G, App/Function/DeadLetterQueue (AWS::SQS::Queue), not emulated',
      'left out: AWS::SQS::Queue (6), not emulated, and no resource that runs here refers to it',
    ]);
  });

  test('startLocal – strict – rejects with all differences and all paths, and starts nothing', async () => {
    const progress: string[] = [];
    const started = startLocal({ app, strict: true, onProgress: (line) => progress.push(line) });
    await expect(started).rejects.toBeInstanceOf(StrictRunError);
    await expect(started).rejects.toMatchObject({
      code: 'STRICT',
      message: expect.stringMatching(/in 4 lines:\n.*App\/A, App\/B, App\/C, App\/D, App\/E, App\/F \(/s),
    });
    expect(progress).toEqual([]);
  });
});

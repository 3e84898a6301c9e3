import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CfnParameter, CustomResource, Duration, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sources from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { readCloudAssembly } from '../../../../../bin/local/assembly/cloud-assembly';
import { type DeploymentPlan, planDeployment } from '../../../../../bin/local/assembly/deployment-plan';

function functionOf(stack: Stack, id = 'Function'): lambda.Function {
  const code = mkdtempSync(join(tmpdir(), 'code-'));
  writeFileSync(join(code, 'index.js'), 'exports.handler = async () => null;');
  return new lambda.Function(stack, id, {
    ...{ runtime: lambda.Runtime.NODEJS_24_X, handler: 'index.handler', code: lambda.Code.fromAsset(code) },
  });
}

/** The plan of an app with a function and a stream. */
function planOf(build: (stack: Stack, handler: lambda.Function, stream: kinesis.Stream) => void): DeploymentPlan {
  const app = new App();
  const stack = new Stack(app, 'App');
  build(stack, functionOf(stack), new kinesis.Stream(stack, 'Events', { shardCount: 1 }));
  return planDeployment(readCloudAssembly(app.synth().directory));
}

const startingPosition = lambda.StartingPosition.LATEST;
const leftOutOf = ({ leftOut }: DeploymentPlan, type: string) =>
  leftOut.filter((each) => each.type === type).map(({ reason }) => reason);
const mappings = (plan: DeploymentPlan) => leftOutOf(plan, 'AWS::Lambda::EventSourceMapping');

test('a mapping has the defaults of Lambda', () => {
  const plan = planOf((_, handler, stream) => {
    handler.addEventSource(new sources.KinesisEventSource(stream, { startingPosition }));
  });
  const [{ name, arn }] = plan.streams as [DeploymentPlan['streams'][number]];
  expect(plan.eventSources).toEqual([
    {
      path: expect.stringMatching(/^App\/Function\/KinesisEventSource/),
      functionName: plan.functions[0]!.name,
      ...{
        reads: 'stream',
        streamName: name,
        streamArn: arn,
        from: 'LATEST',
        batchSize: 100,
        windowMs: 0,
        parallelizationFactor: 1,
      },
      ...{ reportsFailures: false, bisects: false, filters: [] },
    },
  ]);
  expect(mappings(plan)).toEqual([]);
});

test('a mapping has the properties of its template', () => {
  const plan = planOf((_, handler, stream) => {
    handler.addEventSource(
      new sources.KinesisEventSource(stream, {
        ...{ startingPosition: lambda.StartingPosition.AT_TIMESTAMP, startingPositionTimestamp: 1_700_000_000 },
        ...{ batchSize: 7, maxBatchingWindow: Duration.seconds(2), parallelizationFactor: 3, retryAttempts: 10 },
        ...{ reportBatchItemFailures: true, bisectBatchOnError: true, maxRecordAge: Duration.minutes(5) },
        filters: [lambda.FilterCriteria.filter({ data: { kind: lambda.FilterRule.isEqual('order') } })],
      }),
    );
  });
  expect(plan.eventSources).toMatchObject([
    {
      ...{ from: new Date(1_700_000_000_000), batchSize: 7, windowMs: 2_000, parallelizationFactor: 3, retries: 10 },
      ...{ reportsFailures: true, bisects: true, maxAgeMs: 300_000, filters: [{ data: { kind: ['order'] } }] },
    },
  ]);
});

test('a mapping has the name of its on-failure destination, and a stream has the record size limit of its template', () => {
  const plan = planOf((stack, handler, stream) => {
    const onFailure = new sources.SqsDlq(new Queue(stack, 'TooLarge'));
    handler.addEventSource(new sources.KinesisEventSource(stream, { startingPosition, onFailure }));
    const byArn = functionOf(stack, 'Other');
    byArn.addEventSourceMapping('Mapping', { eventSourceArn: stream.streamArn, startingPosition });
    const mapping = byArn.node.findChild('Mapping').node.defaultChild as lambda.CfnEventSourceMapping;
    mapping.addPropertyOverride('DestinationConfig.OnFailure.Destination', 'arn:aws:sqs:us-east-1:111111111111:failed');
    const resource = stream.node.defaultChild as kinesis.CfnStream;
    const size = new CfnParameter(stack, 'Size', { type: 'Number', default: 5_000 });
    resource.addPropertyOverride('MaxRecordSizeInKiB', size.valueAsNumber);
  });
  expect(plan.eventSources.map(({ onFailure }) => onFailure).sort()).toEqual([
    'App/TooLarge',
    'arn:aws:sqs:us-east-1:111111111111:failed',
  ]);
  expect(plan.streams).toMatchObject([{ maxRecordKibibytes: 5_000 }]);
});

test.each([1_023, 10_241, 'large'])('a stream with a record size limit of %p KiB is left out', (size) => {
  const build = (_: Stack, __: lambda.Function, stream: kinesis.Stream) => {
    (stream.node.defaultChild as kinesis.CfnStream).addPropertyOverride('MaxRecordSizeInKiB', size);
  };
  expect(leftOutOf(planOf(build), 'AWS::Kinesis::Stream')).toEqual([
    expect.stringMatching(/^MaxRecordSizeInKiB must be .* 1024 to 10240/),
  ]);
});

test('an alias and an enhanced fan-out consumer are resolved to the function and the stream', () => {
  const plan = planOf((stack, handler, stream) => {
    const alias = new lambda.Alias(stack, 'Live', { aliasName: 'live', version: handler.currentVersion });
    const consumer = new kinesis.StreamConsumer(stack, 'FanOut', { stream, streamConsumerName: 'f' });
    alias.addEventSource(new sources.KinesisEventSource(stream, { startingPosition }));
    handler.addEventSource(new sources.KinesisConsumerEventSource(consumer, { startingPosition }));
  });
  const { name } = plan.streams[0]!;
  expect(plan.eventSources.map(({ qualifier, streamName }) => [qualifier, streamName]).sort()).toEqual([
    [undefined, name],
    ['live', name],
  ]);
});

test('mappings that cannot run locally are left out, and the plan contains the reason', () => {
  const plan = planOf((stack, handler, stream) => {
    const table = new dynamodb.Table(stack, 'Table', {
      partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING },
      stream: dynamodb.StreamViewType.KEYS_ONLY,
    });
    (table.node.defaultChild as dynamodb.CfnTable).addPropertyDeletionOverride('StreamSpecification');
    const foreign = kinesis.Stream.fromStreamArn(
      stack,
      'Foreign',
      'arn:aws:kinesis:us-east-1:000000000000:stream/other',
    );
    handler.addEventSource(new sources.DynamoEventSource(table, { startingPosition }));
    handler.addEventSource(new sources.SqsEventSource(new Queue(stack, 'Queue')));
    handler.addEventSource(new sources.KinesisEventSource(foreign, { startingPosition }));
    handler.addEventSource(new sources.KinesisEventSource(stream, { startingPosition, enabled: false }));
    const filters = [lambda.FilterCriteria.filter({ data: { kind: [{ wildcard: 'o*' }] } })];
    functionOf(stack, 'Second').addEventSource(new sources.KinesisEventSource(stream, { startingPosition, filters }));
    const inline = new lambda.Function(stack, 'Inline', {
      ...{ runtime: lambda.Runtime.NODEJS_24_X, handler: 'index.handler', code: lambda.Code.fromInline('0') },
    });
    inline.addEventSource(new sources.KinesisEventSource(stream, { startingPosition }));
  });
  expect(plan.eventSources).toEqual([]);
  expect(mappings(plan)).toEqual([
    expect.stringMatching(/^the table App-Table\w+-\w+ has no stream$/),
    'it reads a queue (App/Queue), which has no emulator',
    'the stream other does not run here',
    'it is disabled',
    expect.stringMatching(/^its filter has .*wildcard/),
    expect.stringMatching(/^the function App-Inline\w+-\w+ does not run here$/),
  ]);
});

test.each<[string, object, string, boolean?]>([
  [
    'in the future',
    { startingPosition: 'AT_TIMESTAMP', startingPositionTimestamp: 4_000_000_000 },
    'a time in the past, got',
  ],
  ['without a known name', { startingPosition: 'MIDDLE' }, 'or AT_TIMESTAMP with a time in the past, got MIDDLE'],
  [
    'of a table',
    { startingPosition: 'AT_TIMESTAMP', startingPositionTimestamp: 1 },
    'LATEST or TRIM_HORIZON, got AT_TIMESTAMP',
    true,
  ],
])('a mapping with a starting position %s is left out', (_, start, reason, isOfTable = false) => {
  const plan = planOf((stack, { functionName }, { streamArn }) => {
    const table = new dynamodb.Table(stack, 'Table', {
      partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING },
      stream: dynamodb.StreamViewType.NEW_IMAGE,
    });
    const eventSourceArn = isOfTable ? table.tableStreamArn! : streamArn;
    new lambda.CfnEventSourceMapping(stack, 'Mapping', { functionName, eventSourceArn, ...start });
  });
  expect(mappings(plan)).toEqual([expect.stringContaining(reason)]);
});

test('a second mapping of the same function and stream is left out', () => {
  const plan = planOf((stack, { functionName }, { streamArn: eventSourceArn }) => {
    for (const id of ['First', 'Second'])
      new lambda.CfnEventSourceMapping(stack, id, { functionName, eventSourceArn, startingPosition });
  });
  expect(mappings(plan)).toEqual(['Lambda rejects a second mapping of the same function and source']);
});

test('a function of a custom resource runs if an alias of the app names it', () => {
  const functionsOf = (hasAlias: boolean) =>
    planOf((stack, handler) => {
      new CustomResource(stack, 'Custom', { serviceToken: handler.functionArn });
      if (hasAlias) new lambda.Alias(stack, 'Live', { aliasName: 'live', version: handler.currentVersion });
    }).functions.map(({ path }) => path);
  expect([functionsOf(false), functionsOf(true)]).toEqual([[], ['App/Function']]);
});

test('a rule with a fixed rate invokes a function that reads a stream; other rules are left out', () => {
  const plan = planOf((stack, handler, stream) => {
    handler.addEventSource(new sources.KinesisEventSource(stream, { startingPosition }));
    const rule = (id: string, schedule: events.Schedule, target: lambda.Function, enabled = true) =>
      new events.Rule(stack, id, {
        ...{ schedule, enabled },
        targets: [new LambdaFunction(target, { event: events.RuleTargetInput.fromObject({ retryParked: true }) })],
      });
    rule('Retry', events.Schedule.rate(Duration.minutes(2)), handler);
    rule('Off', events.Schedule.rate(Duration.minutes(2)), handler, false);
    rule('Nightly', events.Schedule.cron({ hour: '3', minute: '0' }), handler);
    rule('Other', events.Schedule.rate(Duration.minutes(2)), functionOf(stack, 'Other Function'));
  });
  const { name } = plan.functions.find(({ path }) => path === 'App/Function')!;
  expect(plan.schedules).toEqual([
    { path: 'App/Retry', functionName: name, everyMs: 120_000, input: '{"retryParked":true}' },
  ]);
  expect(leftOutOf(plan, 'AWS::Events::Rule')).toEqual([
    'it is disabled',
    'its schedule cron(0 3 * * ? *) is not a rate',
    'it invokes no function that reads a stream here',
  ]);
});

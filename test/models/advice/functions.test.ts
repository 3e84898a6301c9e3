import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Alarm, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Schedule } from 'aws-cdk-lib/aws-events';
import type { CfnFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import { ShardMonitoring, UniformStream } from '../../../lib';
import {
  MAX_SHARDS,
  MIN_SHARDS,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  STREAM_NAME,
  SURGE_ALARM,
} from '../../../lib/core/contract/function-environment';
import { FakeCloudWatch } from '../../../lib/testing';
import type { AlarmProperties } from '../../../lib/testing/parsed-alarm';
import { adviceOf } from '../../support/alarms/advice-of';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { metricsOf } from '../../support/alarms/watched-alarms';
import { type Invocation, LambdaFunction } from '../../support/lambda-function';

/** What the guide says of functions that fail or have stopped, tried on the deployed bundles. */

/** As much of Kinesis, CloudWatch and their errors as the functions meet here. */
let aws: Server;
let endpoint: string;
/** What an operation is refused with: its error and message. */
const refusals = new Map<string, [string, string]>();

const ANSWERS: Record<string, object> = {
  DescribeStreamSummary: {
    StreamDescriptionSummary: {
      StreamName: 'events',
      StreamStatus: 'ACTIVE',
      StreamModeDetails: { StreamMode: 'PROVISIONED' },
      OpenShardCount: 1,
    },
  },
  ListTagsForStream: { Tags: [], HasMoreTags: false },
  AddTagsToStream: {},
  UpdateShardCount: {},
  ListShards: {
    Shards: [
      {
        ShardId: 'shardId-000000000000',
        HashKeyRange: { StartingHashKey: '0', EndingHashKey: String(2n ** 128n - 1n) },
        SequenceNumberRange: { StartingSequenceNumber: '1' },
      },
    ],
  },
  DescribeAlarms: { MetricAlarms: [{ AlarmName: 'out', StateValue: 'ALARM' }] },
};

beforeAll(async () => {
  aws = createServer(async (request, response) => {
    await text(request);
    const operation = String(request.headers['x-amz-target']).split('.')[1]!;
    const [type, message] = refusals.get(operation) ?? [];
    response.writeHead(type === undefined ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(type === undefined ? ANSWERS[operation] : { __type: type, message }));
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
  endpoint = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
});

afterEach(() => refusals.clear());
afterAll(() => {
  aws.close();
  aws.closeAllConnections();
});

async function withFunction<T>(
  name: string,
  environment: Record<string, string>,
  act: (bundle: LambdaFunction) => Promise<T>,
): Promise<T> {
  const bundle = await LambdaFunction.start({
    name,
    environment: { [STREAM_NAME]: 'events', ...environment },
    endpoint,
  });
  try {
    return await act(bundle);
  } finally {
    await bundle.stop();
  }
}

const denied = (operation: string): [string, string] => [
  'AccessDeniedException',
  `User is not authorized to perform: ${operation} because no identity-based policy allows it`,
];

/** What Lambda measures of a run every minute, or every hour. */
const measured = ({ error }: Invocation) => ({ Invocations: 1, Errors: Number(error !== undefined) });

/** Whether a run has written the metric into its log. */
const writes = ({ log }: Invocation, metric: string) => new RegExp(`"_aws".*"${metric}":`).test(log);

describe('scaling has stopped', () => {
  const advice = adviceOf('Scaling has stopped');
  const environment = {
    [MIN_SHARDS]: '1',
    [MAX_SHARDS]: '8',
    [SURGE_ALARM]: 'surge',
    [SCALE_OUT_ALARM]: 'out',
    [SCALE_IN_ALARM]: 'in',
  };

  test.each<[string, string, [string, string], string, boolean]>([
    [
      'a permission that is missing',
      'DescribeAlarms',
      denied('cloudwatch:DescribeAlarms'),
      'cloudwatch:DescribeAlarms',
      true,
    ],
    [
      'a permission that is missing',
      'UpdateShardCount',
      denied('kinesis:UpdateShardCount'),
      'kinesis:UpdateShardCount',
      true,
    ],
    [
      'a permission that is missing',
      'DescribeStreamSummary',
      denied('kinesis:DescribeStreamSummary'),
      'kinesis:DescribeStreamSummary',
      false,
    ],
    [
      'a stream that is gone',
      'DescribeStreamSummary',
      ['ResourceNotFoundException', 'Stream events not found'],
      'Stream events not found',
      false,
    ],
  ])(
    'of %s (%s) the log says why; when it is mended the alarm is quiet',
    async (cause, operation, refusal, why, canLook) => {
      expect(advice).toContain(cause);
      const alarm = new AlarmInPlay('EventsScalingStopped');
      const [failed, mended] = await withFunction('stream-scaler', environment, async (bundle) => {
        refusals.set(operation, refusal);
        const first = await bundle.invoke({});
        refusals.clear();
        return [first, await bundle.invoke({})];
      });
      expect(failed!.error).toBeDefined();
      expect(failed!.log).toContain(why);
      for (let minute = 0; minute < 40; minute++) alarm.minute(measured(failed!));
      expect(alarm.isRaised).toBe(true);

      expect(advice).toContain(
        'A run that cannot read the shards of the stream writes none, and the alarms see nothing',
      );
      expect(writes(failed!, 'OpenShards')).toBe(canLook);

      expect(mended!.error).toBeUndefined();
      for (let minute = 0; minute < 40; minute++) alarm.minute(measured(mended!));
      expect(alarm.isRaised).toBe(false);
    },
  );

  test('a run that succeeds logs a line, so that no lines mean no runs', async () => {
    expect(advice).toContain('If there are no lines of the last minutes, nothing invokes the function');
    const { log } = await withFunction('stream-scaler', environment, (bundle) => bundle.invoke({}));
    expect(log).toContain('"streamName":"events"');
  });

  test('the rule of a schedule invokes it, and is switched on', () => {
    expect(advice).toContain('whether the rule of its schedule is switched off');
    const stack = new Stack(new App(), 'It');
    const stream = new UniformStream(stack, 'Events', { shardCount: 1 });
    expectSchedule(stack, stream.autoScaleShardCount({ minCapacity: 1, maxCapacity: 8 }).function, 'rate(1 minute)');
  });
});

describe('reconciliation fails', () => {
  const advice = adviceOf('Reconciliation fails');

  test.each<[string, string, [string, string], string]>([
    ['a permission that is missing', 'ListShards', denied('kinesis:ListShards'), 'kinesis:ListShards'],
    [
      'a stream that is gone',
      'DescribeStreamSummary',
      ['ResourceNotFoundException', 'Stream events not found'],
      'Stream events not found',
    ],
  ])('of %s (%s) the log says why; when it is mended the alarm is quiet', async (cause, operation, refusal, why) => {
    expect(advice).toContain(cause);
    const alarm = new AlarmInPlay('OtherReconciliationFailures');
    const [failed, mended] = await withFunction('stream-reconciler', {}, async (bundle) => {
      refusals.set(operation, refusal);
      const first = await bundle.invoke({}, 60_000);
      refusals.clear();
      return [first, await bundle.invoke({}, 60_000)];
    });
    const anHour = (run: Invocation) => {
      for (let minute = 0; minute < 60; minute++) alarm.minute(minute === 0 ? measured(run) : {});
    };
    expect(failed!.error).toBeDefined();
    expect(failed!.log).toContain(why);
    anHour(failed!);
    anHour(failed!);
    expect(alarm.isRaised).toBe(true);

    expect(advice).toContain('The metrics `Skew` and `Drift` have no new values until a run succeeds');
    for (const metric of ['Skew', 'Drift']) {
      expect([writes(failed!, metric), writes(mended!, metric)]).toEqual([false, true]);
    }
    anHour(mended!);
    anHour(mended!);
    expect(alarm.isRaised).toBe(false);
  });

  test('the alarm of uneven shards keeps the state that it has', () => {
    expect(advice).toContain('the alarm of uneven shards keeps the state that it has');
    const alarm = new AlarmInPlay('OtherSkew');
    for (let minute = 0; minute < 120; minute++) alarm.minute({ Skew: minute === 0 ? 1.5 : undefined });
    expect(alarm.isRaised).toBe(true);
    for (let minute = 0; minute < 600; minute++) alarm.minute({});
    expect(alarm.isRaised).toBe(true);
  });
});

describe('reconciliation has stopped', () => {
  const advice = adviceOf('Reconciliation has stopped');

  test('the rule of a schedule invokes it, and is switched on', () => {
    expect(advice).toContain('whether the rule of its schedule is switched off');
    const stack = new Stack(new App(), 'It');
    expectSchedule(
      stack,
      new UniformStream(stack, 'Events', { shardCount: 1 }).addReconciliation().function,
      'rate(1 hour)',
    );
  });

  test('a schedule rarer than once a day: without it in addStream, an alarm of one’s own watches the skew', () => {
    expect(advice).toContain(
      'leave `reconciliation` out of `addStream`, and make an alarm of your own on `metricSkew`',
    );
    const stack = new Stack(new App(), 'It');
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    const reconciliation = stream.addReconciliation({ schedule: Schedule.rate(Duration.days(7)) });
    const alarms = new ShardMonitoring(stack, 'Monitoring', { dashboard: false }).addStream(stream);
    expect(alarms.reconciliationStopped).toBeUndefined();
    new Alarm(stack, 'Uneven', {
      metric: reconciliation.metricSkew({ statistic: 'Maximum', period: Duration.days(1) }),
      threshold: 1.05,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.IGNORE,
    });
    const template = Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm');
    const properties: AlarmProperties = Object.entries(template).find(([id]) => id.startsWith('Uneven'))![1].Properties;
    const cloudWatch = new FakeCloudWatch();
    cloudWatch.putMetricAlarm('uneven', properties);
    const week = 7 * 24 * 60;
    for (let minute = 0; minute <= 3 * week; minute++) {
      if (minute % week === 0) {
        const Value = minute === week ? 1.5 : 1;
        for (const metric of metricsOf(properties))
          cloudWatch.putMetricData({ ...metric, Value, atMs: minute * 60_000 });
      }
      cloudWatch.evaluate((minute + 1) * 60_000);
      if (minute === 1.5 * week) expect(cloudWatch.stateOf('uneven')).toBe('ALARM');
      if (minute === 2.5 * week) expect(cloudWatch.stateOf('uneven')).toBe('OK');
    }
  });
});

/** One rule invokes the function, with this schedule, and is on. */
function expectSchedule(stack: Stack, invoked: IFunction, ScheduleExpression: string): void {
  const functionId = stack.getLogicalId(invoked.node.defaultChild as CfnFunction);
  Template.fromStack(stack).hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression,
    State: 'ENABLED',
    Targets: [Match.objectLike({ Arn: { 'Fn::GetAtt': [functionId, 'Arn'] } })],
  });
}

import {
  MAX_SHARDS,
  MIN_SHARDS,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  STREAM_NAME,
  SURGE_ALARM,
} from '../../../lib/core/contract/function-environment';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { type Invocation, LambdaFunction } from '../../support/lambda-function';
import { type LoopbackServer, putRecordsOutput, startJsonService } from '../../support/loopback-server';

/**
 * The name of each test starts with the heading of an alarm in docs/guides/monitoring.md. The test follows the advice below this
 * heading, with the bundled function, until the alarm ends.
 */

/** The parts of Kinesis and CloudWatch that the functions call. */
let aws: LoopbackServer;
/** The errors of the operations that fail. */
const failures = new Map<string, { __type: string; message: string }>();
/** The partition key whose records Kinesis rejects. */
let rejectedKey: string | undefined;

const RESPONSES: Record<string, object> = {
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
  aws = await startJsonService((operation, input) => {
    if (operation === 'PutRecords') return putRecordsOutput(input, (partitionKey) => partitionKey === rejectedKey);
    return failures.get(operation) ?? RESPONSES[operation]!;
  });
});

afterEach(() => {
  failures.clear();
  rejectedKey = undefined;
});

afterAll(() => aws.stop());

async function withFunction<T>(
  name: string,
  environment: Record<string, string>,
  act: (bundle: LambdaFunction) => Promise<T>,
): Promise<T> {
  const bundle = await LambdaFunction.start({
    name,
    environment: { [STREAM_NAME]: 'events', ...environment },
    endpoint: aws.endpoint,
  });
  try {
    return await act(bundle);
  } finally {
    await bundle.stop();
  }
}

/** The metrics of Lambda for one invocation. */
const measured = ({ error }: Invocation) => ({ Invocations: 1, Errors: Number(error !== undefined) });

const SCALER = {
  [MIN_SHARDS]: '1',
  [MAX_SHARDS]: '8',
  [SURGE_ALARM]: 'surge',
  [SCALE_OUT_ALARM]: 'out',
  [SCALE_IN_ALARM]: 'in',
};

test.each([
  ['Scaling has stopped', 'EventsScalingStopped', 'stream-scaler', SCALER, 'UpdateShardCount', 1],
  ['Reconciliation fails', 'OtherReconciliationFailures', 'stream-reconciler', {}, 'ListShards', 60],
] as const)(
  '%s: the log names the missing permission, and the alarm ends when the function has this permission',
  async (_, alarmId, name, environment, operation, everyMinutes) => {
    const alarm = new AlarmInPlay(alarmId);
    const twoHoursOf = (run: Invocation): boolean => {
      for (let minute = 0; minute < 120; minute++) alarm.minute(minute % everyMinutes === 0 ? measured(run) : {});
      return alarm.isRaised;
    };
    await withFunction(name, environment, async (bundle) => {
      failures.set(operation, {
        __type: 'AccessDeniedException',
        message: `not authorized to perform: kinesis:${operation}`,
      });
      const failed = await bundle.invoke({}, 60_000);
      expect(failed.log).toContain(`kinesis:${operation}`);
      expect(twoHoursOf(failed)).toBe(true);

      failures.clear();
      expect(twoHoursOf(await bundle.invoke({}, 60_000))).toBe(false);
    });
  },
);

test('Producer failures: the log has the error code of Kinesis, and the alarm ends when the caller has put the failed record again', async () => {
  const alarm = new AlarmInPlay('ProducerFailures');
  const linesOf = ({ log }: Invocation) =>
    log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const minutesOf = (run: Invocation, minutes: number): boolean => {
    const UserRecordsFailed = linesOf(run).find((line) => 'UserRecordsFailed' in line)?.UserRecordsFailed;
    for (let minute = 0; minute < minutes; minute++) alarm.minute({ UserRecordsFailed, Errors: 0 });
    return alarm.isRaised;
  };
  await withFunction('producer', {}, async (producer) => {
    rejectedKey = 'b';
    const records = ['a', 'b', 'c'].map((partitionKey) => ({ partitionKey, data: partitionKey }));
    const failed = await producer.invoke({ records });
    const { message } = linesOf(failed).find((line) => line.message?.message === 'records failed');
    expect(message).toMatchObject({
      counts: { RECORD_REJECTED: 1 },
      samples: { RECORD_REJECTED: expect.stringContaining('KMSAccessDeniedException') },
    });
    expect(minutesOf(failed, 1)).toBe(true);

    rejectedKey = undefined;
    const results = JSON.parse(failed.response!).records;
    const again = await producer.invoke({ records: records.filter((_, index) => 'errorCode' in results[index]) });
    expect(JSON.parse(again.response!)).toMatchObject({ records: [{ attempts: 1 }], failedRecordCount: 0 });
    expect(minutesOf(again, 10)).toBe(false);
  });
});

test('Messages in a dead-letter queue: a message succeeds when the cause of its failure is gone and the queue delivers the message again', async () => {
  const alarm = new AlarmInPlay('DeadDepth');
  const body = JSON.stringify({ partitionKey: 'a', data: '1' });
  const event = { Records: [{ eventSource: 'aws:sqs', messageId: 'message-1', body }] };
  await withFunction('producer', {}, async (producer) => {
    const minutesOf = (run: Invocation, minutes: number): boolean => {
      const { length } = JSON.parse(run.response!).batchItemFailures;
      for (let minute = 0; minute < minutes; minute++) alarm.minute({ ApproximateNumberOfMessagesVisible: length });
      return alarm.isRaised;
    };
    rejectedKey = 'a';
    expect(minutesOf(await producer.invoke(event), 1)).toBe(true);
    rejectedKey = undefined;
    expect(minutesOf(await producer.invoke(event), 10)).toBe(false);
  });
});

import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import { type Measured, measuredOf, metricsOf, watchedAlarms } from '../../support/alarms/watched-alarms';

const MINUTE = 60_000;

/** The metric values of a minute. */
type Metrics = Measured;

interface Fault {
  readonly fault: string;
  /** The id of the alarm in the template, without hashes. */
  readonly alarm: string;
  /** The metric values without the fault. All other metrics have no values. */
  readonly healthy: Metrics;
  /** Returns the metric values during the fault, which replace the healthy values. `minutes` counts from the start of the fault. */
  readonly faulty: (minutes: number) => Metrics;
  /** The alarm is in the state ALARM at most this number of minutes after the start of the fault. */
  readonly within: number;
}

const HOUR = 3_600_000;
const reading = { IncomingRecords: 500 };

const FAULTS: Fault[] = [
  {
    fault: 'records are throttled',
    alarm: 'EventsWriteThrottles',
    healthy: { WriteProvisionedThroughputExceeded: 0 },
    faulty: () => ({ WriteProvisionedThroughputExceeded: 40 }),
    within: 6,
  },
  {
    fault: 'a polling consumer falls behind',
    alarm: 'EventsIteratorAge',
    healthy: { ...reading, 'GetRecords.IteratorAgeMilliseconds': 1_000 },
    faulty: () => ({ 'GetRecords.IteratorAgeMilliseconds': 1.1 * HOUR }),
    within: 18,
  },
  {
    fault: 'no consumer polls',
    alarm: 'EventsIteratorAge',
    healthy: { ...reading, 'GetRecords.IteratorAgeMilliseconds': 1_000 },
    faulty: () => ({ 'GetRecords.IteratorAgeMilliseconds': undefined }),
    within: 23,
  },
  {
    fault: 'Lambda retries one batch for ever, and reads the other shards',
    alarm: 'EventsConsumerBehind',
    healthy: { ...reading, IteratorAge: 2_000 },
    faulty: (minutes) => ({ IteratorAge: minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'a key of an ordered consumer is dead',
    alarm: 'EventsOrdersDeadKeys',
    healthy: { DeadKeys: 0 },
    faulty: () => ({ DeadKeys: 1 }),
    within: 8,
  },
  {
    fault: 'a key of an ordered consumer is parked for too long',
    alarm: 'EventsOrdersParked',
    healthy: { ParkedSeconds: 0 },
    faulty: (minutes) => ({ ParkedSeconds: minutes * 60 }),
    within: 60 + 33,
  },
  {
    fault: 'no schedule replays parked keys',
    alarm: 'EventsOrdersParked',
    healthy: { ParkedSeconds: 0 },
    faulty: () => ({ ParkedSeconds: undefined }),
    within: 93,
  },
  {
    fault: 'the function of an ordered consumer is throttled, and falls behind',
    alarm: 'EventsOrdersBehind',
    healthy: { ...reading, IteratorAge: 2_000 },
    faulty: (minutes) => ({ IteratorAge: minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'an ordered consumer is too slow',
    alarm: 'EventsOrdersBehind',
    healthy: { ...reading, IteratorAge: 2_000 },
    faulty: (minutes) => ({ IteratorAge: minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'the event source mapping is switched off',
    alarm: 'EventsConsumerBehind',
    healthy: { ...reading, IteratorAge: 2_000 },
    faulty: () => ({ IteratorAge: undefined }),
    within: 23,
  },
  {
    fault: 'a consumer with enhanced fan-out falls behind',
    alarm: 'EventsauditBehind',
    healthy: { ...reading, 'SubscribeToShardEvent.MillisBehindLatest': 0 },
    faulty: (minutes) => ({ 'SubscribeToShardEvent.MillisBehindLatest': minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'a consumer with enhanced fan-out stops',
    alarm: 'EventsauditBehind',
    healthy: { ...reading, 'SubscribeToShardEvent.MillisBehindLatest': 0 },
    faulty: () => ({ 'SubscribeToShardEvent.MillisBehindLatest': undefined }),
    within: 23,
  },
  {
    fault: 'scaling fails',
    alarm: 'EventsScalingStopped',
    healthy: { Invocations: 1, Errors: 0 },
    faulty: () => ({ Errors: 1 }),
    within: 18,
  },
  {
    fault: 'scaling has stopped',
    alarm: 'EventsScalingStopped',
    healthy: { Invocations: 1, Errors: 0 },
    faulty: () => ({ Invocations: undefined, Errors: undefined }),
    within: 18,
  },
  {
    fault: 'Lambda throttles the invocations of scaling',
    alarm: 'EventsScalingStopped',
    healthy: { Invocations: 1, Errors: 0 },
    faulty: () => ({ 'AWS/Lambda Invocations': undefined, Errors: undefined }),
    within: 18,
  },
  {
    fault: 'no updates of the day are left',
    alarm: 'EventsNoUpdatesLeft',
    healthy: { ShardCountUpdatesLeft: 10 },
    faulty: () => ({ ShardCountUpdatesLeft: 0 }),
    within: 6,
  },
  {
    fault: 'the load is high at the maximum',
    alarm: 'EventsHighLoadAtMaximum',
    healthy: { HighLoadAtMaximum: 0 },
    faulty: () => ({ HighLoadAtMaximum: 1 }),
    within: 6,
  },
  {
    fault: 'the shards are uneven',
    alarm: 'OtherSkew',
    healthy: hourly({ Skew: 1.01 }),
    faulty: () => hourly({ Skew: 1.5 }),
    within: 63,
  },
  {
    fault: 'reconciliation fails',
    alarm: 'OtherReconciliationFailures',
    healthy: hourly({ Errors: 0 }),
    faulty: () => hourly({ Errors: 1 }),
    within: 63,
  },
  {
    fault: 'reconciliation has stopped',
    alarm: 'OtherReconciliationStopped',
    healthy: hourly({ Invocations: 1 }),
    faulty: () => ({ Invocations: undefined }),
    within: 27 * 60,
  },
  {
    fault: 'an index throttles writes, for any cause',
    alarm: 'JobsbyStatusWriteThrottles',
    healthy: { ConsumedWriteCapacityUnits: 900 },
    faulty: () => ({ WriteThrottleEvents: 30 }),
    within: 6,
  },
  {
    fault: 'a table throttles writes, for any cause',
    alarm: 'InvoicesWriteThrottles',
    healthy: { ConsumedWriteCapacityUnits: 900 },
    faulty: () => ({ WriteThrottleEvents: 30 }),
    within: 6,
  },
  {
    fault: 'a table throttles reads, for any cause',
    alarm: 'InvoicesReadThrottles',
    healthy: { ConsumedReadCapacityUnits: 900 },
    faulty: () => ({ ReadThrottleEvents: 30 }),
    within: 6,
  },
  {
    fault: 'a partition of a table of Amazon Keyspaces throttles writes',
    alarm: 'BlogsWriteThrottles',
    healthy: { ConsumedWriteCapacityUnits: 900 },
    faulty: () => ({ StoragePartitionThroughputCapacityExceeded: 30 }),
    within: 6,
  },
  {
    fault: 'a partition of a table of Amazon Keyspaces throttles reads',
    alarm: 'BlogsReadThrottles',
    healthy: { ConsumedReadCapacityUnits: 900 },
    faulty: () => ({ StoragePartitionThroughputCapacityExceeded: 30 }),
    within: 6,
  },
  {
    fault: 'DAX throttles requests',
    alarm: 'DaxThrottles',
    healthy: {},
    faulty: () => ({ ThrottledRequestCount: 30 }),
    within: 6,
  },
  {
    fault: 'DAX fails requests',
    alarm: 'DaxFaults',
    healthy: {},
    faulty: () => ({ FaultRequestCount: 1 }),
    within: 4,
  },
  {
    fault: 'a node of DAX is busy',
    alarm: 'DaxCpu',
    healthy: { CPUUtilization: 40 },
    faulty: () => ({ CPUUtilization: 95 }),
    within: 18,
  },
  {
    fault: 'the memory of a node of DAX is full',
    alarm: 'DaxMemory',
    healthy: { CacheMemoryUtilization: 60 },
    faulty: () => ({ CacheMemoryUtilization: 99 }),
    within: 18,
  },
  {
    fault: 'a value needs more shards than the maximum',
    alarm: 'JobsbyStatusValuesAtMaximum',
    healthy: {},
    faulty: () => ({ ValuesAtMaximum: 1 }),
    within: 6,
  },
  {
    fault: 'the controller of shard counts fails',
    alarm: 'JobsbyStatusControllerStopped',
    healthy: { Invocations: 1, Errors: 0 },
    faulty: () => ({ Errors: 1 }),
    within: 18,
  },
  {
    fault: 'the controller of shard counts has stopped',
    alarm: 'JobsbyStatusControllerStopped',
    healthy: { Invocations: 1, Errors: 0 },
    faulty: () => ({ Invocations: undefined, Errors: undefined }),
    within: 18,
  },
  {
    fault: 'changed items wait for a keeper, because batches fail',
    alarm: 'KeeperDelay',
    healthy: { CorrectionDelay: 900, IteratorAge: 1_000 },
    faulty: (minutes) => ({ CorrectionDelay: undefined, IteratorAge: minutes * MINUTE }),
    within: 8,
  },
  {
    fault: 'the event source mapping of a keeper is switched off',
    alarm: 'KeeperNotReading',
    healthy: { ConsumedWriteCapacityUnits: 900, IteratorAge: 1_000 },
    faulty: () => ({ IteratorAge: undefined }),
    within: 23,
  },
  {
    fault: 'another program undoes the corrections of a keeper',
    alarm: 'KeeperSetAside',
    healthy: { ContestedItems: 0, RejectedCorrections: 0 },
    faulty: () => ({ ContestedItems: 1 }),
    within: 6,
  },
  {
    fault: 'DynamoDB rejects a correction',
    alarm: 'KeeperSetAside',
    healthy: { ContestedItems: 0, RejectedCorrections: 0 },
    faulty: () => ({ RejectedCorrections: 1 }),
    within: 6,
  },
  {
    fault: 'the stream of a keeper has a gap',
    alarm: 'KeeperSweepDue',
    healthy: { SweepDue: 0 },
    faulty: () => ({ SweepDue: 1 }),
    within: 6,
  },
  {
    fault: 'the scheduled runs of a keeper fail, while it reads its stream',
    alarm: 'KeeperStopped',
    healthy: { SweepDue: 0, Invocations: 60 },
    faulty: () => ({ SweepDue: undefined }),
    within: 18,
  },
  {
    fault: 'a producer rejects records',
    alarm: 'ProducerFailures',
    healthy: { UserRecordsFailed: 0, Errors: 0 },
    faulty: () => ({ UserRecordsFailed: 3 }),
    within: 4,
  },
  {
    fault: 'a producer fails',
    alarm: 'ProducerFailures',
    healthy: { UserRecordsFailed: 0, Errors: 0 },
    faulty: () => ({ UserRecordsFailed: undefined, Errors: 1 }),
    within: 4,
  },
  {
    fault: 'filters hide nearly all items that pages read',
    alarm: 'QueryHiddenItems',
    healthy: { ItemsRead: 2_000, ItemsHidden: 1_000 },
    faulty: () => ({ ItemsHidden: 1_990 }),
    within: 183,
  },
  {
    fault: 'rows of an outbox wait',
    alarm: 'RelayLag',
    healthy: { WaitingSeconds: 2 },
    faulty: (minutes) => ({ WaitingSeconds: 60 * minutes }),
    within: 11,
  },
  {
    fault: 'no relay runs for an outbox',
    alarm: 'RelayLag',
    healthy: { WaitingSeconds: 2 },
    faulty: () => ({ WaitingSeconds: undefined }),
    within: 8,
  },
  {
    fault: 'a stream rejects the row of an outbox',
    alarm: 'RelayFailures',
    healthy: { Rejections: 0, Errors: 0 },
    faulty: () => ({ Rejections: 1 }),
    within: 4,
  },
  {
    fault: 'the relay of an outbox fails',
    alarm: 'RelayFailures',
    healthy: { Rejections: 0, Errors: 0 },
    faulty: () => ({ Rejections: undefined, Errors: 1 }),
    within: 4,
  },
  {
    fault: 'a row of an outbox is missing',
    alarm: 'RelayMissingRows',
    healthy: { MissingRows: 0 },
    faulty: () => ({ MissingRows: 1 }),
    within: 4,
  },
  {
    fault: 'the relay of an outbox refuses to run',
    alarm: 'RelayRefusals',
    healthy: { Refusals: 0 },
    faulty: () => ({ Refusals: 1 }),
    within: 4,
  },
  {
    fault: 'a message goes to the dead-letter queue',
    alarm: 'DeadDepth',
    healthy: { ApproximateNumberOfMessagesVisible: 0 },
    faulty: () => ({ ApproximateNumberOfMessagesVisible: 1 }),
    within: 4,
  },
];

/** The metrics of a function that runs once an hour. */
function hourly(metrics: Metrics): Metrics {
  return { ...metrics, every: 60 };
}

const alarms = watchedAlarms();

describe('each alarm', () => {
  test('has at least one fault in this test', () => {
    const played = new Set(FAULTS.map(({ alarm }) => alarm));
    expect(new Set(alarms.keys())).toEqual(played);
  });

  test.each(FAULTS)(
    'is in ALARM within $within minutes after $fault, also with late metrics',
    ({ alarm, healthy, faulty, within }) => {
      for (const conditions of CONDITIONS) {
        const limit = within + conditions.extraMinutes;
        const begin = within > 100 ? 2 * 1_440 : 240;
        const minutesInAlarm = play(alarm, conditions, 2 * begin + 2 * limit, (minute) => {
          const inFault = minute >= begin && minute < begin + limit;
          return inFault ? { ...healthy, ...faulty(minute - begin) } : healthy;
        });
        expect(minutesInAlarm.filter((minute) => minute < begin)).toEqual([]);
        const first = minutesInAlarm.find((minute) => minute >= begin) ?? Number.POSITIVE_INFINITY;
        expect(first - begin + 1).toBeLessThanOrEqual(limit);
        // The alarm has returned to OK.
        expect(minutesInAlarm).not.toContain(2 * begin + 2 * limit - 1);
      }
    },
  );

  test.each(FAULTS)('stays OK on a day without this fault, also with late metrics: $fault', ({ alarm, healthy }) => {
    for (const conditions of CONDITIONS) {
      expect(play(alarm, conditions, 1_440, () => healthy)).toEqual([]);
    }
  });
});

/** Scheduled functions. `first` is the minute of the first run. `missed` is the number of minutes without a run until the alarm. */
const SCHEDULED = [
  { alarm: 'EventsScalingStopped', first: 1, healthy: { Invocations: 1, Errors: 0 }, missed: 15, period: 5 },
  { alarm: 'JobsbyStatusControllerStopped', first: 1, healthy: { Invocations: 1, Errors: 0 }, missed: 15, period: 5 },
  { alarm: 'OtherReconciliationStopped', first: 60, healthy: hourly({ Invocations: 1 }), missed: 26 * 60, period: 60 },
  { alarm: 'RelayLag', first: 1, healthy: { WaitingSeconds: 2, Invocations: 1 }, missed: 6, period: 1 },
  { alarm: 'EventsOrdersParked', first: 1, healthy: { ParkedSeconds: 0, Invocations: 1 }, missed: 30, period: 15 },
];

describe('the alarm of a scheduled function', () => {
  describe.each(SCHEDULED)('$alarm', ({ alarm, first, healthy, missed, period }) => {
    const life = 2 * missed + 240;

    test.each([0, 1, 4])('stays OK until the first run, even if this run is %d minutes late', (later) => {
      for (const conditions of CONDITIONS) {
        expect(play(alarm, conditions, life, (minute) => (minute < first + later ? {} : healthy))).toEqual([]);
      }
    });

    test('stays OK while the first run fails or its metric is late', () => {
      for (const conditions of CONDITIONS) {
        const failing = { ...healthy, Errors: 1, WaitingSeconds: undefined };
        const firstRun = (minute: number) => minute < first + 1;
        expect(play(alarm, conditions, life, (minute) => (firstRun(minute) ? failing : healthy))).toEqual([]);
      }
    });

    test('is in ALARM if the schedule has started but the function has not run', () => {
      for (const conditions of CONDITIONS) {
        const { every } = healthy as Metrics;
        const minutesInAlarm = play(alarm, conditions, life, () => ({ every, 'AWS/Events Invocations': 1 }));
        expect(minutesInAlarm[0]).toBeLessThanOrEqual(missed + first + conditions.extraMinutes + (every ?? 0));
        // The alarm can be early by one period, and by the delay of the metrics if a period has one minute.
        expect(minutesInAlarm[0]).toBeGreaterThanOrEqual(missed - period - (period === 1 ? conditions.lateMinutes : 0));
        expect(minutesInAlarm.at(-1)).toBe(life - 1);
      }
    });

    test('stays in ALARM while all metrics are missing, and returns to OK with the next run', () => {
      for (const conditions of CONDITIONS) {
        const [stop, resume] = [240, 240 + 4 * missed];
        const minutesInAlarm = play(alarm, conditions, resume + life, (minute) =>
          minute >= stop && minute < resume ? {} : healthy,
        );
        expect(minutesInAlarm[0]).toBeGreaterThanOrEqual(stop);
        expect(minutesInAlarm).toContain(resume - 1);
        expect(minutesInAlarm.at(-1)).toBeLessThan(resume + missed + 130);
      }
    });

    test('stays OK when the stack is deleted, because CloudFormation deletes functions some minutes before alarms', () => {
      for (const conditions of CONDITIONS) {
        const end = life - Math.min(missed - 4, 10);
        expect(play(alarm, conditions, life, (minute) => (minute < end ? healthy : {}))).toEqual([]);
      }
    });
  });
});

interface Conditions {
  readonly lateMinutes: number;
  readonly extraPeriods: number;
  readonly fillsEmpty: boolean;
  /** The minutes that late metrics add to each limit. */
  readonly extraMinutes: number;
}

/** Each combination of a delay of the metrics and a possible behaviour of CloudWatch that AWS does not document. */
const CONDITIONS: Conditions[] = [0, 1, 2, 3].flatMap((lateMinutes) =>
  [true, false].map((fillsEmpty) => ({ lateMinutes, extraPeriods: 2, fillsEmpty, extraMinutes: lateMinutes })),
);

/** Returns the minutes in which the alarm is in the state ALARM, counted from the deployment. */
function play(
  alarm: string,
  { lateMinutes, extraPeriods, fillsEmpty }: Conditions,
  minutes: number,
  metricsAt: (minute: number) => Metrics,
): number[] {
  const properties = alarms.get(alarm)!;
  const cloudWatch = new FakeCloudWatch({ extraPeriods, fillsEmpty });
  cloudWatch.putMetricAlarm(alarm, properties);
  const metrics = metricsOf(properties);
  const minutesInAlarm: number[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    const { every = 1, ...values } = metricsAt(minute);
    for (const metric of metrics) {
      const Value = measuredOf(metric, values);
      if (Value === undefined || minute % every !== 0) continue;
      const atMs = minute * MINUTE;
      cloudWatch.putMetricData({ ...metric, Value, atMs, arrivesAtMs: atMs + (1 + lateMinutes) * MINUTE });
    }
    cloudWatch.evaluate((minute + 1) * MINUTE);
    if (cloudWatch.stateOf(alarm) === 'ALARM') minutesInAlarm.push(minute);
  }
  return minutesInAlarm;
}

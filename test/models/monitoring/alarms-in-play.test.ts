import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import { type Measured, measuredOf, metricsOf, watchedAlarms } from '../../support/alarms/watched-alarms';

const MINUTE = 60_000;

/** The metric values of a minute. */
type Metrics = Measured;

const HOUR = 60 * MINUTE;

/** A value of a metric: without the fault, or in a minute of the fault. Undefined if the metric has no values. */
type Value = number | undefined | ((minutes: number) => number);

interface Played {
  /** Each metric with its value, or with its values without the fault and during the fault. All other metrics have no values. */
  readonly metrics: Readonly<Record<string, number | readonly [healthy: Value, faulty: Value]>>;
  /** The metrics have values once in this number of minutes. @default 1 */
  readonly every?: number | undefined;
}

/**
 * `alarm` is the id of the alarm in the template, without hashes. The alarm is in the state ALARM at most `within` minutes after the
 * start of the fault.
 */
type Fault = [fault: string, alarm: string, metrics: Played['metrics'], within: number, every?: number];

const READING = { IncomingRecords: 500 };
const BEHIND = (minutes: number) => minutes * MINUTE;

const FAULTS: Fault[] = [
  ['records are throttled', 'EventsWriteThrottles', { WriteProvisionedThroughputExceeded: [0, 40] }, 6],
  [
    'a polling consumer falls behind',
    'EventsIteratorAge',
    { ...READING, 'GetRecords.IteratorAgeMilliseconds': [1_000, 1.1 * HOUR] },
    18,
  ],
  [
    'no consumer polls',
    'EventsIteratorAge',
    { ...READING, 'GetRecords.IteratorAgeMilliseconds': [1_000, undefined] },
    23,
  ],
  ['Lambda retries one batch for ever', 'EventsConsumerBehind', { ...READING, IteratorAge: [2_000, BEHIND] }, 78],
  ['a key of an ordered consumer is dead', 'EventsOrdersDeadKeys', { DeadKeys: [0, 1] }, 8],
  [
    'a key of an ordered consumer is parked for too long',
    'EventsOrdersParked',
    { ParkedSeconds: [0, (minutes) => minutes * 60] },
    60 + 33,
  ],
  ['no schedule replays parked keys', 'EventsOrdersParked', { ParkedSeconds: [0, undefined] }, 93],
  [
    'an ordered consumer is throttled or too slow',
    'EventsOrdersBehind',
    { ...READING, IteratorAge: [2_000, BEHIND] },
    78,
  ],
  [
    'the event source mapping is switched off',
    'EventsConsumerBehind',
    { ...READING, IteratorAge: [2_000, undefined] },
    23,
  ],
  [
    'a consumer with enhanced fan-out falls behind',
    'EventsauditBehind',
    { ...READING, 'SubscribeToShardEvent.MillisBehindLatest': [0, BEHIND] },
    78,
  ],
  [
    'a consumer with enhanced fan-out stops',
    'EventsauditBehind',
    { ...READING, 'SubscribeToShardEvent.MillisBehindLatest': [0, undefined] },
    23,
  ],
  ['scaling fails', 'EventsScalingStopped', { Invocations: 1, Errors: [0, 1] }, 18],
  ['scaling has stopped', 'EventsScalingStopped', { Invocations: [1, undefined], Errors: [0, undefined] }, 18],
  [
    'Lambda throttles the invocations of scaling',
    'EventsScalingStopped',
    { Invocations: 1, Errors: [0, undefined], 'AWS/Lambda Invocations': [undefined, undefined] },
    18,
  ],
  ['no updates of the day are left', 'EventsNoUpdatesLeft', { ShardCountUpdatesLeft: [10, 0] }, 6],
  ['the load is high at the maximum', 'EventsHighLoadAtMaximum', { HighLoadAtMaximum: [0, 1] }, 6],
  ['the shards are uneven', 'OtherSkew', { Skew: [1.01, 1.5] }, 63, 60],
  ['reconciliation fails', 'OtherReconciliationFailures', { Errors: [0, 1] }, 63, 60],
  ['reconciliation has stopped', 'OtherReconciliationStopped', { Invocations: [1, undefined] }, 27 * 60, 60],
  [
    'an index throttles writes, for any cause',
    'JobsbyStatusWriteThrottles',
    { ConsumedWriteCapacityUnits: 900, WriteThrottleEvents: [undefined, 30] },
    6,
  ],
  [
    'a table throttles writes, for any cause',
    'InvoicesWriteThrottles',
    { ConsumedWriteCapacityUnits: 900, WriteThrottleEvents: [undefined, 30] },
    6,
  ],
  [
    'a table throttles reads, for any cause',
    'InvoicesReadThrottles',
    { ConsumedReadCapacityUnits: 900, ReadThrottleEvents: [undefined, 30] },
    6,
  ],
  [
    'a partition of a table of Amazon Keyspaces throttles writes',
    'BlogsWriteThrottles',
    { ConsumedWriteCapacityUnits: 900, StoragePartitionThroughputCapacityExceeded: [undefined, 30] },
    6,
  ],
  [
    'a partition of a table of Amazon Keyspaces throttles reads',
    'BlogsReadThrottles',
    { ConsumedReadCapacityUnits: 900, StoragePartitionThroughputCapacityExceeded: [undefined, 30] },
    6,
  ],
  ['DAX throttles requests', 'DaxThrottles', { ThrottledRequestCount: [undefined, 30] }, 6],
  ['DAX fails requests', 'DaxFaults', { FaultRequestCount: [undefined, 1] }, 4],
  ['a node of DAX is busy', 'DaxCpu', { CPUUtilization: [40, 95] }, 18],
  ['the memory of a node of DAX is full', 'DaxMemory', { CacheMemoryUtilization: [60, 99] }, 18],
  ['a value needs more shards than the maximum', 'JobsbyStatusValuesAtMaximum', { ValuesAtMaximum: [undefined, 1] }, 6],
  ['the controller of shard counts fails', 'JobsbyStatusControllerStopped', { Invocations: 1, Errors: [0, 1] }, 18],
  [
    'the controller of shard counts has stopped',
    'JobsbyStatusControllerStopped',
    { Invocations: [1, undefined], Errors: [0, undefined] },
    18,
  ],
  [
    'changed items wait for a keeper, because batches fail',
    'KeeperDelay',
    { CorrectionDelay: [900, undefined], IteratorAge: [1_000, BEHIND] },
    8,
  ],
  [
    'the event source mapping of a keeper is switched off',
    'KeeperNotReading',
    { ConsumedWriteCapacityUnits: 900, IteratorAge: [1_000, undefined] },
    23,
  ],
  [
    'another program undoes the corrections of a keeper',
    'KeeperSetAside',
    { ContestedItems: [0, 1], RejectedCorrections: 0 },
    6,
  ],
  ['DynamoDB rejects a correction', 'KeeperSetAside', { ContestedItems: 0, RejectedCorrections: [0, 1] }, 6],
  ['the stream of a keeper has a gap', 'KeeperSweepDue', { SweepDue: [0, 1] }, 6],
  [
    'the scheduled runs of a keeper fail, while it reads its stream',
    'KeeperStopped',
    { SweepDue: [0, undefined], Invocations: 60 },
    18,
  ],
  ['a producer rejects records', 'ProducerFailures', { UserRecordsFailed: [0, 3], Errors: 0 }, 4],
  ['a producer fails', 'ProducerFailures', { UserRecordsFailed: [0, undefined], Errors: [0, 1] }, 4],
  [
    'filters hide nearly all items that pages read',
    'QueryHiddenItems',
    { ItemsRead: 2_000, ItemsHidden: [1_000, 1_990] },
    183,
  ],
  ['rows of an outbox wait', 'RelayLag', { WaitingSeconds: [2, (minutes) => 60 * minutes] }, 11],
  ['no relay runs for an outbox', 'RelayLag', { WaitingSeconds: [2, undefined] }, 8],
  ['a stream rejects the row of an outbox', 'RelayFailures', { Rejections: [0, 1], Errors: 0 }, 4],
  ['the relay of an outbox fails', 'RelayFailures', { Rejections: [0, undefined], Errors: [0, 1] }, 4],
  ['a row of an outbox is missing', 'RelayMissingRows', { MissingRows: [0, 1] }, 4],
  ['the relay of an outbox refuses to run', 'RelayRefusals', { Refusals: [0, 1] }, 4],
  ['a message goes to the dead-letter queue', 'DeadDepth', { ApproximateNumberOfMessagesVisible: [0, 1] }, 4],
];

const alarms = watchedAlarms();

/** The values of the metrics without the fault, or in this minute of the fault. */
function valuesOf({ metrics, every }: Played, minutes?: number): Metrics {
  const values = Object.entries(metrics).flatMap(([name, played]): [string, number | undefined][] => {
    const [healthy, faulty] = typeof played === 'number' ? [played, played] : played;
    const value = minutes === undefined ? healthy : faulty;
    if (minutes === undefined && value === undefined) return [];
    return [[name, typeof value === 'function' ? value(minutes!) : value]];
  });
  return { ...Object.fromEntries(values), every };
}

describe('each alarm', () => {
  test('has at least one fault in this test', () => {
    const played = new Set(FAULTS.map(([, alarm]) => alarm));
    expect(new Set(alarms.keys())).toEqual(played);
  });

  test.each(FAULTS.map(([fault, alarm, metrics, within, every]) => ({ fault, alarm, metrics, within, every })))(
    'is in ALARM within $within minutes after $fault, and stays OK without this fault, also with late metrics',
    ({ alarm, within, ...played }) => {
      const healthy = valuesOf(played);
      for (const conditions of CONDITIONS) {
        const limit = within + conditions.extraMinutes;
        // A day, or two days, without the fault come first.
        const begin = within > 100 ? 2 * 1_440 : 1_440;
        const end = begin + 2 * limit + (within > 100 ? begin : 240);
        const minutesInAlarm = play(alarm, conditions, end, (minute) =>
          minute >= begin && minute < begin + limit ? valuesOf(played, minute - begin) : healthy,
        );
        expect(minutesInAlarm.filter((minute) => minute < begin)).toEqual([]);
        const first = minutesInAlarm.find((minute) => minute >= begin) ?? Number.POSITIVE_INFINITY;
        expect(first - begin + 1).toBeLessThanOrEqual(limit);
        // The alarm has returned to OK.
        expect(minutesInAlarm).not.toContain(end - 1);
      }
    },
  );
});

/** Scheduled functions. `first` is the minute of the first run. `missed` is the number of minutes without a run until the alarm. */
const SCHEDULED = [
  { alarm: 'EventsScalingStopped', first: 1, healthy: { Invocations: 1, Errors: 0 }, missed: 15, period: 5 },
  { alarm: 'JobsbyStatusControllerStopped', first: 1, healthy: { Invocations: 1, Errors: 0 }, missed: 15, period: 5 },
  {
    alarm: 'OtherReconciliationStopped',
    first: 60,
    healthy: { Invocations: 1, every: 60 },
    missed: 26 * 60,
    period: 60,
  },
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

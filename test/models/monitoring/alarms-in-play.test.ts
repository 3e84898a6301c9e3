import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import { type Measured, measuredOf, metricsOf, watchedAlarms } from '../../support/alarms/watched-alarms';

const MINUTE = 60_000;

/** A metric without a value has none in that minute. */
type Metrics = Measured;

interface Fault {
  readonly fault: string;
  /** The id of the alarm in the template, without hashes. */
  readonly alarm: string;
  /** What is measured while all is well. A metric that is not named here or below has no value. */
  readonly well: Metrics;
  /** What is measured instead from the fault on, minutes after it began. */
  readonly ill: (minutes: number) => Metrics;
  /** Within how many minutes it rings. */
  readonly within: number;
}

const HOUR = 3_600_000;
const reading = { IncomingRecords: 500 };

const FAULTS: Fault[] = [
  {
    fault: 'records are throttled',
    alarm: 'EventsWriteThrottles',
    well: { WriteProvisionedThroughputExceeded: 0 },
    ill: () => ({ WriteProvisionedThroughputExceeded: 40 }),
    within: 6,
  },
  {
    fault: 'a polling consumer falls behind',
    alarm: 'EventsIteratorAge',
    well: { ...reading, 'GetRecords.IteratorAgeMilliseconds': 1_000 },
    ill: () => ({ 'GetRecords.IteratorAgeMilliseconds': 1.1 * HOUR }),
    within: 18,
  },
  {
    fault: 'nobody polls any more',
    alarm: 'EventsIteratorAge',
    well: { ...reading, 'GetRecords.IteratorAgeMilliseconds': 1_000 },
    ill: () => ({ 'GetRecords.IteratorAgeMilliseconds': undefined }),
    within: 23,
  },
  {
    fault: 'Lambda retries one batch for ever, and reads the other shards',
    alarm: 'EventsConsumerBehind',
    well: { ...reading, IteratorAge: 2_000 },
    ill: (minutes) => ({ IteratorAge: minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'a key of an ordered consumer is dead',
    alarm: 'EventsOrdersDeadKeys',
    well: { DeadKeys: 0 },
    ill: () => ({ DeadKeys: 1 }),
    within: 8,
  },
  {
    fault: 'a key of an ordered consumer is parked for too long',
    alarm: 'EventsOrdersParked',
    well: { ParkedSeconds: 0 },
    ill: (minutes) => ({ ParkedSeconds: minutes * 60 }),
    within: 60 + 33,
  },
  {
    fault: 'nothing retries parked keys any more',
    alarm: 'EventsOrdersParked',
    well: { ParkedSeconds: 0 },
    ill: () => ({ ParkedSeconds: undefined }),
    within: 93,
  },
  {
    fault: 'the function of an ordered consumer is throttled, and falls behind',
    alarm: 'EventsOrdersBehind',
    well: { ...reading, IteratorAge: 2_000 },
    ill: (minutes) => ({ IteratorAge: minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'an ordered consumer is too slow',
    alarm: 'EventsOrdersBehind',
    well: { ...reading, IteratorAge: 2_000 },
    ill: (minutes) => ({ IteratorAge: minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'the event source mapping is switched off',
    alarm: 'EventsConsumerBehind',
    well: { ...reading, IteratorAge: 2_000 },
    ill: () => ({ IteratorAge: undefined }),
    within: 23,
  },
  {
    fault: 'a consumer with enhanced fan-out falls behind',
    alarm: 'EventsauditBehind',
    well: { ...reading, 'SubscribeToShardEvent.MillisBehindLatest': 0 },
    ill: (minutes) => ({ 'SubscribeToShardEvent.MillisBehindLatest': minutes * MINUTE }),
    within: 78,
  },
  {
    fault: 'a consumer with enhanced fan-out stops',
    alarm: 'EventsauditBehind',
    well: { ...reading, 'SubscribeToShardEvent.MillisBehindLatest': 0 },
    ill: () => ({ 'SubscribeToShardEvent.MillisBehindLatest': undefined }),
    within: 23,
  },
  {
    fault: 'scaling fails',
    alarm: 'EventsScalingStopped',
    well: { Invocations: 1, Errors: 0 },
    ill: () => ({ Errors: 1 }),
    within: 18,
  },
  {
    fault: 'scaling has stopped',
    alarm: 'EventsScalingStopped',
    well: { Invocations: 1, Errors: 0 },
    ill: () => ({ Invocations: undefined, Errors: undefined }),
    within: 18,
  },
  {
    fault: 'Lambda has no room for the runs of scaling',
    alarm: 'EventsScalingStopped',
    well: { Invocations: 1, Errors: 0 },
    ill: () => ({ 'AWS/Lambda Invocations': undefined, Errors: undefined }),
    within: 18,
  },
  {
    fault: 'the day has no updates left',
    alarm: 'EventsNoUpdatesLeft',
    well: { ShardCountUpdatesLeft: 10 },
    ill: () => ({ ShardCountUpdatesLeft: 0 }),
    within: 6,
  },
  {
    fault: 'the load is high at the maximum',
    alarm: 'EventsHighLoadAtMaximum',
    well: { HighLoadAtMaximum: 0 },
    ill: () => ({ HighLoadAtMaximum: 1 }),
    within: 6,
  },
  {
    fault: 'the shards are uneven',
    alarm: 'OtherSkew',
    well: hourly({ Skew: 1.01 }),
    ill: () => hourly({ Skew: 1.5 }),
    within: 63,
  },
  {
    fault: 'reconciliation fails',
    alarm: 'OtherReconciliationFailures',
    well: hourly({ Errors: 0 }),
    ill: () => hourly({ Errors: 1 }),
    within: 63,
  },
  {
    fault: 'reconciliation has stopped',
    alarm: 'OtherReconciliationStopped',
    well: hourly({ Invocations: 1 }),
    ill: () => ({ Invocations: undefined }),
    within: 27 * 60,
  },
  {
    fault: 'an index throttles writes, for any cause',
    alarm: 'JobsbyStatusWriteThrottles',
    well: { ConsumedWriteCapacityUnits: 900 },
    ill: () => ({ WriteThrottleEvents: 30 }),
    within: 6,
  },
  {
    fault: 'a table throttles writes, for any cause',
    alarm: 'InvoicesWriteThrottles',
    well: { ConsumedWriteCapacityUnits: 900 },
    ill: () => ({ WriteThrottleEvents: 30 }),
    within: 6,
  },
  {
    fault: 'a table throttles reads, for any cause',
    alarm: 'InvoicesReadThrottles',
    well: { ConsumedReadCapacityUnits: 900 },
    ill: () => ({ ReadThrottleEvents: 30 }),
    within: 6,
  },
  {
    fault: 'a partition of a table of Amazon Keyspaces throttles writes',
    alarm: 'BlogsWriteThrottles',
    well: { ConsumedWriteCapacityUnits: 900 },
    ill: () => ({ StoragePartitionThroughputCapacityExceeded: 30 }),
    within: 6,
  },
  {
    fault: 'a partition of a table of Amazon Keyspaces throttles reads',
    alarm: 'BlogsReadThrottles',
    well: { ConsumedReadCapacityUnits: 900 },
    ill: () => ({ StoragePartitionThroughputCapacityExceeded: 30 }),
    within: 6,
  },
  {
    fault: 'DAX throttles requests',
    alarm: 'DaxThrottles',
    well: {},
    ill: () => ({ ThrottledRequestCount: 30 }),
    within: 6,
  },
  {
    fault: 'DAX fails requests',
    alarm: 'DaxFaults',
    well: {},
    ill: () => ({ FaultRequestCount: 1 }),
    within: 4,
  },
  {
    fault: 'a node of DAX is busy',
    alarm: 'DaxCpu',
    well: { CPUUtilization: 40 },
    ill: () => ({ CPUUtilization: 95 }),
    within: 18,
  },
  {
    fault: 'the memory of a node of DAX is full',
    alarm: 'DaxMemory',
    well: { CacheMemoryUtilization: 60 },
    ill: () => ({ CacheMemoryUtilization: 99 }),
    within: 18,
  },
  {
    fault: 'an index with adaptive counts throttles writes',
    alarm: 'ControllerThrottledAlarm',
    well: { ConsumedWriteCapacityUnits: 900 },
    ill: () => ({ WriteThrottleEvents: 30 }),
    within: 4,
  },
  {
    fault: 'a value needs more shards than the maximum',
    alarm: 'JobsbyStatusValuesAtMaximum',
    well: {},
    ill: () => ({ ValuesAtMaximum: 1 }),
    within: 6,
  },
  {
    fault: 'the controller of shard counts fails',
    alarm: 'JobsbyStatusControllerStopped',
    well: { Invocations: 1, Errors: 0 },
    ill: () => ({ Errors: 1 }),
    within: 18,
  },
  {
    fault: 'the controller of shard counts has stopped',
    alarm: 'JobsbyStatusControllerStopped',
    well: { Invocations: 1, Errors: 0 },
    ill: () => ({ Invocations: undefined, Errors: undefined }),
    within: 18,
  },
  {
    fault: 'a producer gives records up',
    alarm: 'ProducerFailures',
    well: { UserRecordsFailed: 0, Errors: 0 },
    ill: () => ({ UserRecordsFailed: 3 }),
    within: 4,
  },
  {
    fault: 'a producer fails',
    alarm: 'ProducerFailures',
    well: { UserRecordsFailed: 0, Errors: 0 },
    ill: () => ({ UserRecordsFailed: undefined, Errors: 1 }),
    within: 4,
  },
  {
    fault: 'filters hide nearly all that pages read',
    alarm: 'QueryHiddenItems',
    well: { ItemsRead: 2_000, ItemsHidden: 1_000 },
    ill: () => ({ ItemsHidden: 1_990 }),
    within: 183,
  },
  {
    fault: 'rows of an outbox wait',
    alarm: 'RelayLag',
    well: { WaitingSeconds: 2 },
    ill: (minutes) => ({ WaitingSeconds: 60 * minutes }),
    within: 11,
  },
  {
    fault: 'nothing relays an outbox any more',
    alarm: 'RelayLag',
    well: { WaitingSeconds: 2 },
    ill: () => ({ WaitingSeconds: undefined }),
    within: 8,
  },
  {
    fault: 'a stream rejects the row of an outbox',
    alarm: 'RelayFailures',
    well: { Rejections: 0, Errors: 0 },
    ill: () => ({ Rejections: 1 }),
    within: 4,
  },
  {
    fault: 'the relay of an outbox fails',
    alarm: 'RelayFailures',
    well: { Rejections: 0, Errors: 0 },
    ill: () => ({ Rejections: undefined, Errors: 1 }),
    within: 4,
  },
  {
    fault: 'a row of an outbox is missing',
    alarm: 'RelayMissingRows',
    well: { MissingRows: 0 },
    ill: () => ({ MissingRows: 1 }),
    within: 4,
  },
  {
    fault: 'the relay of an outbox refuses to run',
    alarm: 'RelayRefusals',
    well: { Refusals: 0 },
    ill: () => ({ Refusals: 1 }),
    within: 4,
  },
  {
    fault: 'a message is given up',
    alarm: 'DeadDepth',
    well: { ApproximateNumberOfMessagesVisible: 0 },
    ill: () => ({ ApproximateNumberOfMessagesVisible: 1 }),
    within: 4,
  },
];

/** Of a function that runs once an hour. */
function hourly(metrics: Metrics): Metrics {
  return { ...metrics, every: 60 };
}

const alarms = watchedAlarms();

describe('each alarm', () => {
  test('is one whose fault is played here', () => {
    const played = new Set(FAULTS.map(({ alarm }) => alarm));
    expect(new Set(alarms.keys())).toEqual(played);
  });

  test.each(FAULTS)('rings when $fault, within $within minutes, in time and late', ({ alarm, well, ill, within }) => {
    for (const conditions of CONDITIONS) {
      const limit = within + conditions.extraMinutes;
      const begin = within > 100 ? 2 * 1_440 : 240;
      const rings = play(alarm, conditions, 2 * begin + 2 * limit, (minute) => {
        const inFault = minute >= begin && minute < begin + limit;
        return inFault ? { ...well, ...ill(minute - begin) } : well;
      });
      expect(rings.filter((minute) => minute < begin)).toEqual([]);
      const first = rings.find((minute) => minute >= begin) ?? Number.POSITIVE_INFINITY;
      expect(first - begin + 1).toBeLessThanOrEqual(limit);
      // It has become quiet again, or it would not ring a second time.
      expect(rings).not.toContain(2 * begin + 2 * limit - 1);
    }
  });

  test.each(FAULTS)(
    'does not ring from the first minute for a day before $fault, in time and late',
    ({ alarm, well }) => {
      for (const conditions of CONDITIONS) {
        expect(play(alarm, conditions, 1_440, () => well)).toEqual([]);
      }
    },
  );
});

/** What runs on a schedule: when it first runs, and how long after a deployment it is missed. */
const SCHEDULED = [
  { alarm: 'EventsScalingStopped', first: 1, well: { Invocations: 1, Errors: 0 }, missed: 15, period: 5 },
  { alarm: 'JobsbyStatusControllerStopped', first: 1, well: { Invocations: 1, Errors: 0 }, missed: 15, period: 5 },
  { alarm: 'OtherReconciliationStopped', first: 60, well: hourly({ Invocations: 1 }), missed: 26 * 60, period: 60 },
  { alarm: 'RelayLag', first: 1, well: { WaitingSeconds: 2, Invocations: 1 }, missed: 6, period: 1 },
  { alarm: 'EventsOrdersParked', first: 1, well: { ParkedSeconds: 0, Invocations: 1 }, missed: 30, period: 15 },
];

describe('the alarm of what runs on a schedule', () => {
  describe.each(SCHEDULED)('$alarm', ({ alarm, first, well, missed, period }) => {
    const life = 2 * missed + 240;

    test.each([0, 1, 4])('is silent before the first run, which comes %d minutes later than it should', (later) => {
      for (const conditions of CONDITIONS) {
        expect(play(alarm, conditions, life, (minute) => (minute < first + later ? {} : well))).toEqual([]);
      }
    });

    test('is silent while the first run fails, or the first look at the rows comes late', () => {
      for (const conditions of CONDITIONS) {
        const failing = { ...well, Errors: 1, WaitingSeconds: undefined };
        const firstRun = (minute: number) => minute < first + 1;
        expect(play(alarm, conditions, life, (minute) => (firstRun(minute) ? failing : well))).toEqual([]);
      }
    });

    test('rings when the schedule has begun, and no run has come of it', () => {
      for (const conditions of CONDITIONS) {
        const { every } = well as Metrics;
        const rings = play(alarm, conditions, life, () => ({ every, 'AWS/Events Invocations': 1 }));
        expect(rings[0]).toBeLessThanOrEqual(missed + first + conditions.extraMinutes + (every ?? 0));
        // A period counts as soon as it has begun, and one whose metrics are late is silent.
        expect(rings[0]).toBeGreaterThanOrEqual(missed - period - (period === 1 ? conditions.lateMinutes : 0));
        expect(rings.at(-1)).toBe(life - 1);
      }
    });

    test('goes on ringing after everything is silent, and ends with the first run', () => {
      for (const conditions of CONDITIONS) {
        const [stop, resume] = [240, 240 + 4 * missed];
        const rings = play(alarm, conditions, resume + life, (minute) =>
          minute >= stop && minute < resume ? {} : well,
        );
        expect(rings[0]).toBeGreaterThanOrEqual(stop);
        expect(rings).toContain(resume - 1);
        expect(rings.at(-1)).toBeLessThan(resume + missed + 130);
      }
    });

    test('is silent at the end of the stack, whose functions go some minutes after its alarms', () => {
      for (const conditions of CONDITIONS) {
        const end = life - Math.min(missed - 4, 10);
        expect(play(alarm, conditions, life, (minute) => (minute < end ? well : {}))).toEqual([]);
      }
    });
  });
});

interface Conditions {
  readonly lateMinutes: number;
  readonly extraPeriods: number;
  readonly fillsEmpty: boolean;
  /** How much longer it may take: metrics that are late, and a longer look back for values that are missing. */
  readonly extraMinutes: number;
}

/** How late metrics are, and what AWS does not say. */
const CONDITIONS: Conditions[] = [0, 1, 2, 3].flatMap((lateMinutes) =>
  [true, false].map((fillsEmpty) => ({ lateMinutes, extraPeriods: 2, fillsEmpty, extraMinutes: lateMinutes })),
);

/** The minutes at whose end the alarm rings, from the first minute after its deployment on. */
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
  const rings: number[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    const { every = 1, ...values } = metricsAt(minute);
    for (const metric of metrics) {
      const Value = measuredOf(metric, values);
      if (Value === undefined || minute % every !== 0) continue;
      const atMs = minute * MINUTE;
      cloudWatch.putMetricData({ ...metric, Value, atMs, arrivesAtMs: atMs + (1 + lateMinutes) * MINUTE });
    }
    cloudWatch.evaluate((minute + 1) * MINUTE);
    if (cloudWatch.stateOf(alarm) === 'ALARM') rings.push(minute);
  }
  return rings;
}

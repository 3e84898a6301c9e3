import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import type { AlarmClient } from '../../../lambda/stream-scaler/read-load';
import { type AlarmStateValue, alarmState, type MissingDataTreatment } from '../../../lib/testing/alarm-state';
import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import { parseMetricMath, type Series } from '../../../lib/testing/metric-math';
import type { AlarmProperties } from '../../../lib/testing/parsed-alarm';

const MINUTE = 60_000;

/** The notation of AWS for data points: 0 is within the threshold, X breaches it, - is missing. */
const dataPoints = (text: string): Series =>
  text.split(' ').map((point) => (point === '-' ? Number.NaN : Number(point === 'X')));

const TREATMENTS: MissingDataTreatment[] = ['missing', 'ignore', 'breaching', 'notBreaching'];
const RETAINED = 'retained' as AlarmStateValue;

/** The tables of "Configuring how CloudWatch alarms treat missing data" in the CloudWatch user guide. */
describe('the state of an alarm in the tables of the user guide', () => {
  const all = (state: AlarmStateValue) => TREATMENTS.map(() => state);
  test.each<[string, string, number, AlarmStateValue[]]>([
    ['3 of 3', '0 - X - X', 3, all('OK')],
    ['3 of 3', '0 - - - -', 3, all('OK')],
    ['3 of 3', '- - - - -', 3, ['INSUFFICIENT_DATA', RETAINED, 'ALARM', 'OK']],
    ['3 of 3', '0 X X - X', 3, all('ALARM')],
    ['3 of 3', '- - X - -', 3, ['ALARM', RETAINED, 'ALARM', 'OK']],
    ['2 of 3', '0 - X - X', 2, all('ALARM')],
    ['2 of 3', '0 0 X 0 X', 2, all('ALARM')],
    ['2 of 3', '0 - X - -', 2, ['OK', 'OK', 'ALARM', 'OK']],
    ['2 of 3', '- - - - 0', 2, ['OK', 'OK', 'ALARM', 'OK']],
    ['2 of 3', '- - - X -', 2, ['ALARM', RETAINED, 'ALARM', 'OK']],
  ])(
    'is the documented state if %s data points must breach, for the data points %s',
    (_, points, datapointsToAlarm, states) => {
      const evaluated = TREATMENTS.map((treatMissingData) =>
        alarmState(
          dataPoints(points),
          { breaches: (value) => value > 0, evaluationPeriods: 3, datapointsToAlarm, treatMissingData },
          RETAINED,
        ),
      );
      expect(evaluated).toEqual(states);
    },
  );

  test.each(['- - - - X', '- - - X -'])(
    'is not ALARM as long as the next data point can be within the threshold: %s',
    (points) => {
      const rule = { breaches: (value: number) => value > 0, evaluationPeriods: 3, datapointsToAlarm: 3 };
      expect(alarmState(dataPoints(points), { ...rule, treatMissingData: 'missing' }, 'OK')).toBe('INSUFFICIENT_DATA');
    },
  );
});

describe('metric math', () => {
  const _ = Number.NaN;
  const series = new Map<string, Series>([
    ['a', [30, 20, 0, 0]],
    ['b', [20, _, 20, _]],
    ['m1', [1, 1, 0, 0, _]],
    ['m2', [30, _, 0, 0, 30]],
    ['m3', [0, 0, 20, _, 20]],
    ['none', [_, _]],
  ]);
  const evaluate = (text: string, fillsEmpty = false) =>
    parseMetricMath(text)({ series, periods: 5, periodSeconds: 60, fillsEmpty });

  // The examples of "Using math expressions with CloudWatch metrics" in the CloudWatch user guide.
  test.each<[string, Series]>([
    ['(a < b)', [0, 0, 1, 0]],
    ['(a >= 30)', [1, 0, 0, 0]],
    ['(a > 15 AND b > 15)', [1, 0, 0, 0]],
    ['IF(m1, m2, m3)', [30, 0, 20, _, _]],
    ['IF(m1, 5, m3)', [5, 5, 20, _, _]],
    ['IF(m1, m2, 5)', [30, 0, 5, 5, _]],
    ['a + b', [50, 20, 20, 0]],
    ['a / b', [1.5, _, 0, _]],
    ['100 * a / PERIOD(a)', [50, (100 * 20) / 60, 0, 0]],
    ['FILL(b, 7)', [20, 7, 20, 7]],
    ['FILL(b, REPEAT)', [20, 20, 20, 20]],
    ['FILL(m2, m3)', [30, 0, 0, 0, 30]],
    ['MAX([a, b])', [30, 20, 20, 0]],
    ['MIN([a, 1 + b])', [21, 20, 0, 0]],
    ['SUM([m1, m2, m3])', [31, 1, 20, 0, 50]],
    ['2 ^ a * 0 - -a', [30, 20, 0, 0]],
    ['FILL(none, 0)', [_, _]],
  ])('has the documented result for %s', (text, values) => {
    expect(evaluate(text)).toEqual(values);
  });

  test('creates values for a metric without values if the expression contains FILL', () => {
    expect(evaluate('FILL(none, 0)', true)).toEqual([0, 0]);
  });

  test.each([
    ['MAX(a)', /the result for one series depends on the range/],
    ['STDDEV([a, b])', /not STDDEV/],
    ['a +', /a complete expression/],
    ['a b', /complete before "b"/],
    ['(a', /an expression with \)/],
    ["SEARCH('x', 'Sum')", /made of numbers, ids/],
    ['unknown', /one of a, b, m1/],
    ['IF(a)', /a condition and a value/],
  ])('rejects %s', (text, message) => {
    expect(() => evaluate(text)).toThrow(message);
  });
});

describe('FakeCloudWatch', () => {
  const metric = { Namespace: 'Test', MetricName: 'Load', Dimensions: [{ Name: 'Of', Value: { Ref: 'Stream' } }] };
  const alarm: AlarmProperties = {
    ...metric,
    Statistic: 'Sum',
    Period: 60,
    Threshold: 10,
    ComparisonOperator: 'GreaterThanThreshold',
    EvaluationPeriods: 3,
    TreatMissingData: 'notBreaching',
  };

  /** The minutes that end while the alarm is in the state ALARM. */
  function minutesInAlarm(
    properties: AlarmProperties,
    valueAt: (minute: number) => number | undefined,
    { minutes = 20, lateMinutes = 0, times = 1 } = {},
  ): number[] {
    const cloudWatch = new FakeCloudWatch();
    cloudWatch.putMetricAlarm('Load', properties);
    const inAlarm: number[] = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      const value = valueAt(minute);
      const atMs = minute * MINUTE;
      for (let time = 0; time < times && value !== undefined; time += 1) {
        cloudWatch.putMetricData({ ...metric, Value: value, atMs, arrivesAtMs: atMs + (lateMinutes + 1) * MINUTE });
      }
      cloudWatch.evaluate(atMs + MINUTE);
      if (cloudWatch.stateOf('Load') === 'ALARM') inAlarm.push(minute);
    }
    return inAlarm;
  }

  test('has the interface of the AWS SDK client', async () => {
    const cloudWatch = new FakeCloudWatch();
    cloudWatch.putMetricAlarm('Load', alarm);
    const clients: AlarmClient[] = [cloudWatch, new CloudWatch({ region: 'eu-west-1' })];
    expect(clients).toHaveLength(2);
    expect(await cloudWatch.describeAlarms({ AlarmNames: ['Load', 'Other'] })).toEqual({
      MetricAlarms: [{ AlarmName: 'Load', StateValue: 'INSUFFICIENT_DATA' }],
    });
    expect(() => cloudWatch.stateOf('Other')).toThrow('there is no alarm Other');
  });

  test('changes an alarm to ALARM after its evaluation periods, and back after a period whose value is within the threshold', () => {
    expect(minutesInAlarm(alarm, (minute) => (minute >= 5 && minute < 10 ? 11 : 10))).toEqual([7, 8, 9]);
  });

  test('counts a value twice if the value is put twice', () => {
    expect(minutesInAlarm(alarm, () => 6, { times: 2, minutes: 4 })).toEqual([2, 3]);
  });

  test('evaluates only values that have arrived: if a metric is two minutes late, the alarm is two minutes late', () => {
    expect(minutesInAlarm(alarm, (minute) => (minute >= 5 && minute < 10 ? 11 : 10), { lateMinutes: 2 })).toEqual([
      9, 10, 11,
    ]);
  });

  test('leaves an alarm in the state OK if its metric is late and its expression has FILL, unless DatapointsToAlarm is less than EvaluationPeriods', () => {
    const filled = (datapoints: number, EvaluationPeriods: number): AlarmProperties => ({
      Metrics: [
        { Id: 'e1', Expression: 'FILL(load, 0)' },
        { Id: 'load', MetricStat: { Metric: metric, Period: 60, Stat: 'Sum' }, ReturnData: false },
      ],
      Threshold: 10,
      ComparisonOperator: 'GreaterThanThreshold',
      EvaluationPeriods,
      DatapointsToAlarm: datapoints,
      TreatMissingData: 'notBreaching',
    });
    expect(minutesInAlarm(filled(3, 3), () => 11, { lateMinutes: 1 })).toEqual([]);
    expect(minutesInAlarm(filled(3, 6), () => 11, { lateMinutes: 1 })[0]).toBe(3);
    expect(minutesInAlarm(filled(3, 3), () => 11)[0]).toBe(2);
  });

  test('evaluates an alarm every minute, with periods that end at this minute', () => {
    const fiveMinutes = { ...alarm, Period: 300, EvaluationPeriods: 1 };
    expect(minutesInAlarm(fiveMinutes, (minute) => Number(minute === 7) * 11)).toEqual([7, 8, 9, 10, 11]);
  });

  test('ignores missing data of DynamoDB metrics, whatever TreatMissingData says', () => {
    const throttles = { ...metric, Namespace: 'AWS/DynamoDB' };
    const cloudWatch = new FakeCloudWatch();
    cloudWatch.putMetricAlarm('Throttles', { ...alarm, ...throttles, EvaluationPeriods: 1 });
    cloudWatch.putMetricData({ ...throttles, Value: 11, atMs: 0 });
    for (let minute = 1; minute <= 60; minute += 1) cloudWatch.evaluate(minute * MINUTE);
    expect(cloudWatch.stateOf('Throttles')).toBe('ALARM');
  });

  test.each<[string, Partial<AlarmProperties>]>([
    ['Threshold', { Threshold: undefined }],
    ['ComparisonOperator', { ComparisonOperator: 'LessThanLowerThreshold' }],
    ['Stat', { Statistic: 'p99' }],
    ['TreatMissingData', { TreatMissingData: 'never' }],
    [
      'Metrics',
      {
        Metrics: [60, 300].map((Period) => ({ Id: `m${Period}`, MetricStat: { Metric: metric, Period, Stat: 'Sum' } })),
      },
    ],
  ])('rejects an alarm with an unsupported %s', (field, properties) => {
    expect(() => new FakeCloudWatch().putMetricAlarm('Load', { ...alarm, ...properties })).toThrow(`${field} must be`);
  });

  test('evaluates alarms correctly after it has dropped data that are older than a day', () => {
    expect(minutesInAlarm(alarm, () => 11, { minutes: 7_000 })).toHaveLength(6_998);
  });
});

test('getMetricData returns the values that have arrived, by period and with the latest value first', async () => {
  const cloudWatch = new FakeCloudWatch();
  const Metric = {
    Namespace: 'AWS/Kinesis',
    MetricName: 'IncomingRecords',
    Dimensions: [{ Name: 'StreamName', Value: 's' }],
  };
  for (const [atMs, Value] of [
    [0, 1],
    [1, 2],
    [2 * MINUTE, 4],
    [3 * MINUTE, 8],
  ] as const)
    cloudWatch.putMetricData({ ...Metric, atMs, Value });
  cloudWatch.putMetricData({ ...Metric, atMs: MINUTE, Value: 16, arrivesAtMs: 5 * MINUTE });
  const ask = async (endMs: number) => {
    const { MetricDataResults } = await cloudWatch.getMetricData({
      MetricDataQueries: [{ Id: 'm0', MetricStat: { Metric, Period: 60, Stat: 'Sum' } }],
      StartTime: new Date(0),
      EndTime: new Date(endMs),
    });
    return MetricDataResults[0];
  };
  const minutes = (...at: number[]) => at.map((minute) => new Date(minute * MINUTE));
  expect(await ask(4 * MINUTE)).toEqual({ Id: 'm0', Timestamps: minutes(3, 2, 0), Values: [8, 4, 3] });
  expect(await ask(6 * MINUTE)).toEqual({ Id: 'm0', Timestamps: minutes(3, 2, 1, 0), Values: [8, 4, 16, 3] });
});

import type { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { FakeCloudWatch } from '../../../lib/testing';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { expectSame } from '../../support/plays/differences';
import type { Compared } from '../../support/plays/index-answers';

const MINUTE = 60_000;
const STATISTICS = ['Sum', 'Average', 'Maximum', 'Minimum', 'SampleCount'] as const;

/**
 * Puts metric values at random minutes to `FakeCloudWatch` and to an emulator. Compares the values and times of each period, and the
 * list of alarms.
 *
 * @throws an error that names the first request with different responses
 */
export async function playMetricAnswers(
  cloudWatch: CloudWatch,
  { calls, seed }: { calls: number; seed: number },
): Promise<Compared> {
  const random = seededRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  const oneOf = <E>(choices: readonly E[]): E => choices[below(choices.length)]!;
  const fake = new FakeCloudWatch();
  const compared: Compared = {};
  // The emulator deletes values older than its start time.
  const startMs = Math.floor(Date.now() / MINUTE - 300) * MINUTE;
  const metricOf = (number: number) => ({
    Namespace: 'Tests',
    MetricName: `Load${number}`,
    Dimensions: [
      { Name: 'Of', Value: `shard-${number % 2}` },
      { Name: 'In', Value: 'stream' },
    ],
  });
  const alarmOf = (number: number) => ({
    ...metricOf(number),
    ...{ Statistic: 'Sum' as const, Period: 60, Threshold: 10, EvaluationPeriods: 3 },
    ComparisonOperator: 'GreaterThanThreshold' as const,
  });
  for (const number of [0, 1]) {
    fake.putMetricAlarm(`Alarm${number}`, alarmOf(number));
    await cloudWatch.putMetricAlarm({ AlarmName: `Alarm${number}`, ...alarmOf(number) });
  }
  for (let call = 0; call < calls; call++) {
    const kind = oneOf(['putMetricData', 'putMetricData', 'getMetricData', 'describeAlarms'] as const);
    compared[kind] = (compared[kind] ?? 0) + 1;
    if (kind === 'putMetricData') {
      const [Value, atMs] = [below(20) - 5, startMs + below(60) * MINUTE];
      const { Dimensions, ...metric } = metricOf(below(3));
      fake.putMetricData({ ...metric, Dimensions: [...Dimensions].reverse(), Value, atMs });
      const { Namespace, MetricName } = metric;
      const MetricData = [{ MetricName, Dimensions, Value, Timestamp: new Date(atMs) }];
      await cloudWatch.putMetricData({ Namespace, MetricData });
    } else if (kind === 'describeAlarms') {
      const AlarmNames = ['Alarm0', 'Alarm1', 'Other'].filter(() => random() < 0.5);
      if (AlarmNames.length === 0) continue;
      const names = ({ MetricAlarms = [] }: { MetricAlarms?: { AlarmName?: string }[] }) =>
        MetricAlarms.map(({ AlarmName }) => AlarmName).sort();
      const [got, expected] = [
        names(await fake.describeAlarms({ AlarmNames })),
        names(await cloudWatch.describeAlarms({ AlarmNames })),
      ];
      expectSame(got, expected, { AlarmNames });
    } else {
      const Period = oneOf([60, 300]);
      const from = 5 * below(6);
      const range = {
        StartTime: new Date(startMs + from * MINUTE),
        EndTime: new Date(startMs + (from + 5 * (1 + below(6))) * MINUTE),
        MetricDataQueries: [0, 1].map((Id) => ({
          Id: `m${Id}`,
          MetricStat: { Metric: metricOf(below(4)), Period, Stat: oneOf(STATISTICS) },
        })),
      };
      const [got, expected] = [
        await fake.getMetricData(range),
        await cloudWatch.getMetricData({ ...range, ScanBy: 'TimestampDescending' }),
      ];
      const plain = (results: { Id?: string; Timestamps?: Date[]; Values?: number[] }[] = []) =>
        results.map(({ Id, Timestamps, Values }) => ({ Id, Timestamps: Timestamps?.map(Number), Values }));
      expectSame(plain(got.MetricDataResults), plain(expected.MetricDataResults), range);
    }
  }
  return compared;
}

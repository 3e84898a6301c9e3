import type { CloudWatch, MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import { pages } from '../../lib/core/kernel/pages';

/** The part of a client that reads metrics. CloudWatch and the fake of the entry point `testing` implement it. */
export type MetricClient = Pick<CloudWatch, 'getMetricData'>;

export const METRIC_ACTIONS = ['cloudwatch:GetMetricData'] as const;

/** A metric with a value for each minute. */
export interface MinuteMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: 'Sum' | 'Maximum';
}

/** The values of metrics by minute. Minutes without a value are missing. */
export interface MetricReader {
  read(metrics: readonly MinuteMetric[]): Promise<number[][]>;
}

const MINUTE_MS = 60_000;

/** Source: the CloudWatch API reference, GetMetricData: 500 metrics in a request. */
const MAX_METRICS = 500;

/**
 * Reads the metrics of the latest hours.
 *
 * @throws IncompleteAnswerError if CloudWatch omits a metric or a part of it: a metric that cannot be read must not look
 *   like a metric without throttles
 */
export function metricReader(client: MetricClient, hours: number, nowMs: number): MetricReader {
  const EndTime = new Date(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS);
  const StartTime = new Date(EndTime.getTime() - hours * 60 * MINUTE_MS);
  return {
    async read(metrics) {
      const values: number[][] = metrics.map(() => []);
      for (let start = 0; start < metrics.length; start += MAX_METRICS) {
        const asked = metrics.slice(start, start + MAX_METRICS);
        const MetricDataQueries = asked.map((metric, n) => queryOf(metric, start + n));
        const statuses = new Map<string, string>();
        const readPage = (token: string | undefined) =>
          client.getMetricData({ MetricDataQueries, StartTime, EndTime, NextToken: token });
        for await (const page of pages('GetMetricData', readPage, ({ NextToken }) => NextToken)) {
          for (const { Id = '', StatusCode = COMPLETE, Values = [] } of page.MetricDataResults ?? []) {
            statuses.set(Id, StatusCode);
            values[Number(Id.slice(1))]?.push(...Values);
          }
        }
        const missing = asked.find((_, n) => statuses.get(idOf(start + n)) !== COMPLETE);
        if (missing !== undefined) throw new IncompleteAnswerError('GetMetricData', `all values of ${missing.name}`);
      }
      return values;
    },
  };
}

/** The status of a complete metric. The status on a later page replaces an earlier status. */
const COMPLETE = 'Complete';

function idOf(index: number): string {
  return `m${index}`;
}

function queryOf({ namespace, name, dimensions, statistic }: MinuteMetric, index: number): MetricDataQuery {
  const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
  const Metric = { Namespace: namespace, MetricName: name, Dimensions };
  return { Id: idOf(index), MetricStat: { Metric, Period: MINUTE_MS / 1_000, Stat: statistic } };
}

/** The highest sum of a minute, divided by 60 seconds. Undefined if there is no sum. */
export function peakPerSecond(sums: readonly number[]): number | undefined {
  return sums.length === 0 ? undefined : Math.max(...sums) / 60;
}

export function total(sums: readonly number[]): number {
  return sums.reduce((sum, value) => sum + value, 0);
}

import { METRICS_NAMESPACE } from '../lib/core/function-metrics';

/**
 * Writes metrics in the embedded metric format, which CloudWatch Logs takes in: it needs no request and no permission.
 *
 * To stdout as it is, for Lambda would wrap what goes through the console into JSON of its own.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function writeMetrics(
  dimensions: Readonly<Record<string, string>>,
  values: Readonly<Record<string, number>>,
  now: number,
): void {
  const line = {
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [
        {
          Namespace: METRICS_NAMESPACE,
          Dimensions: [Object.keys(dimensions)],
          Metrics: Object.keys(values).map((Name) => ({ Name })),
        },
      ],
    },
    ...dimensions,
    ...values,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

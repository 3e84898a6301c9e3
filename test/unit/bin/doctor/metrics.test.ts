import type { GetMetricDataCommandInput, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import fc from 'fast-check';
import { type MetricClient, type MinuteMetric, metricReader } from '../../../../bin/doctor/metrics';

/** Source: the CloudWatch API reference, GetMetricData and MetricDataResult. */

const metric = (n: number): MinuteMetric => ({
  namespace: 'AWS/DynamoDB',
  name: `Metric${n}`,
  dimensions: { TableName: 'Orders' },
  statistic: 'Sum',
});

/**
 * A client that responds with a few metrics and values on each page. Like CloudWatch, it rejects requests for more
 * than 500 metrics.
 */
function pagedClient(
  { metricsOfPage, valuesOfPage }: { metricsOfPage: number; valuesOfPage: number },
  valuesOf: (name: string) => number[],
  statusOf: (name: string, isLast: boolean) => MetricDataResult['StatusCode'] = (_, isLast) =>
    isLast ? 'Complete' : 'PartialData',
) {
  const requests: number[] = [];
  const client = {
    async getMetricData({ MetricDataQueries = [], NextToken = '0 0' }: GetMetricDataCommandInput) {
      requests.push(MetricDataQueries.length);
      if (MetricDataQueries.length > 500) throw new Error('ValidationError');
      const [first, from] = NextToken.split(' ').map(Number) as [number, number];
      const page = MetricDataQueries.slice(first, first + metricsOfPage);
      const nameOf = (query: (typeof page)[number]) => query.MetricStat!.Metric!.MetricName!;
      const longest = Math.max(0, ...page.map((query) => valuesOf(nameOf(query)).length));
      const isLast = from + valuesOfPage >= longest;
      const next = isLast ? `${first + metricsOfPage} 0` : `${first} ${from + valuesOfPage}`;
      return {
        MetricDataResults: page.map((query) => ({
          Id: query.Id,
          StatusCode: statusOf(nameOf(query), isLast),
          Values: valuesOf(nameOf(query)).slice(from, from + valuesOfPage),
        })),
        ...((!isLast || first + metricsOfPage < MetricDataQueries.length) && { NextToken: next }),
      };
    },
  };
  return { client: client as unknown as MetricClient, requests };
}

const reader = (client: MetricClient) => metricReader(client, 24, Date.UTC(2026, 10, 26));

test('read – any number of metrics in pages of any size – returns all values, with at most 500 metrics in a request', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1_200),
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 5 }),
      async (count, metricsOfPage, valuesOfPage) => {
        const valuesOf = (name: string) => Array.from({ length: Number(name.slice(6)) % 7 }, (_, n) => n);
        const { client, requests } = pagedClient({ metricsOfPage, valuesOfPage }, valuesOf);
        const metrics = Array.from({ length: count }, (_, n) => metric(n));
        expect(await reader(client).read(metrics)).toEqual(metrics.map(({ name }) => valuesOf(name)));
        expect(Math.max(0, ...requests)).toBeLessThanOrEqual(500);
      },
    ),
    { numRuns: 60 },
  );
});

test('read – a metric that ends without the status Complete – throws, and names the metric', async () => {
  const status = 'Forbidden';
  const pages = { metricsOfPage: 2, valuesOfPage: 1 };
  const { client } = pagedClient(
    pages,
    () => [],
    (name) => (name === 'Metric3' ? status : 'Complete'),
  );
  await expect(reader(client).read([0, 1, 2, 3, 4].map(metric))).rejects.toMatchObject({
    code: 'INCOMPLETE_ANSWER',
    message: expect.stringContaining('all values of Metric3'),
  });
});

test('read – a response without a requested metric – throws', async () => {
  const client = { getMetricData: async () => ({ MetricDataResults: [] }) } as unknown as MetricClient;
  await expect(reader(client).read([metric(1)])).rejects.toMatchObject({ code: 'INCOMPLETE_ANSWER' });
});

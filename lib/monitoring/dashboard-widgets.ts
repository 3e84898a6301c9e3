import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { IOutboxRelayFunction } from '../outbox/i-outbox-relay-function';
import type { IOrderedProducerFunction } from '../stream/i-ordered-producer-function';
import type { IFanOutQueryFunction } from '../table/i-fan-out-query-function';
import type { IShardedIndex } from '../table/i-sharded-index';
import { FanOutQueryMetrics } from './fan-out-query-metrics';
import { lambdaMetric, REPORTING_PERIOD } from './function-metric';
import type { StreamMonitoringOptions } from './monitoring-options';
import { OrderedProducerMetrics } from './ordered-producer-metrics';
import { OutboxRelayMetrics } from './outbox-relay-metrics';
import { ShardedIndexMetrics } from './sharded-index-metrics';
import type { StreamConsumerMetrics } from './stream-consumer-metrics';
import { StreamShardMetrics } from './stream-shard-metrics';

/** Rows of three graphs, as wide as the dashboard. */
type Rows = cloudwatch.IWidget[][];

const WIDTH = 8;
const HEIGHT = 6;

/** CloudWatch fills it in for each line. */
const SHARD_ID = `\${PROP('Dim.ShardId')}`;

const PERFECTLY_EVEN: cloudwatch.HorizontalAnnotation = { value: 1, label: 'perfectly even' };

export function streamWidgets(stream: kinesis.IStream, { autoScaling, reconciliation }: StreamMonitoringOptions): Rows {
  const shards = StreamShardMetrics.fromStream(stream);
  const sum = { statistic: cloudwatch.Stats.SUM, period: REPORTING_PERIOD };
  const rows: Rows = [
    [
      graph('Bytes by shard', [shards.metricIncomingBytes({ label: SHARD_ID })]),
      graph('Records by shard', [shards.metricIncomingRecords({ label: SHARD_ID })]),
      graph(
        'Hottest shard, times the mean',
        [
          shards.metricHottestToMeanBytes({ label: 'bytes' }),
          shards.metricHottestToMeanRecords({ label: 'records' }),
          ...(reconciliation ? [reconciliation.metricSkew({ label: 'hash keys' })] : []),
        ],
        { leftAnnotations: [PERFECTLY_EVEN], leftYAxis: { min: 0 } },
      ),
    ],
    [
      graph('Records refused by shard', [shards.metricWriteProvisionedThroughputExceeded({ label: SHARD_ID })]),
      graph('Throttles of the whole stream', [
        stream.metricWriteProvisionedThroughputExceeded({ ...sum, label: 'records refused' }),
        stream.metricReadProvisionedThroughputExceeded({ ...sum, label: 'reads refused' }),
      ]),
      graph('How far behind consumers are', [
        stream.metricGetRecordsIteratorAgeMilliseconds({
          statistic: cloudwatch.Stats.MAXIMUM,
          period: REPORTING_PERIOD,
          label: 'milliseconds',
        }),
      ]),
    ],
  ];
  if (autoScaling === undefined) return rows;
  return [
    ...rows,
    [
      graph('Utilisation of the shards, in %', [autoScaling.metricUtilization({ label: 'utilisation' })], {
        leftAnnotations: [autoScaling.scaleOutAlarm.toAnnotation(), autoScaling.scaleInAlarm.toAnnotation()],
      }),
      graph('Shards', [autoScaling.metricOpenShards({ label: 'open shards' })]),
      graph('Shard count updates left of the day', [
        autoScaling.metricUpdatesLeft({ statistic: cloudwatch.Stats.MINIMUM, label: 'of 10' }),
      ]),
    ],
  ];
}

export function indexWidgets(index: IShardedIndex): Rows {
  const metrics = ShardedIndexMetrics.fromIndex(index);
  return [
    [
      graph('Units consumed', [
        metrics.metricConsumedWriteCapacityUnits({ label: 'write units' }),
        metrics.metricConsumedReadCapacityUnits({ label: 'read units' }),
        metrics.metricOnlineIndexConsumedWriteCapacity({ label: 'write units while it is built' }),
      ]),
      graph('Refused by a hot partition', [
        metrics.metricWriteKeyRangeThroughputThrottleEvents({ label: 'writes' }),
        metrics.metricReadKeyRangeThroughputThrottleEvents({ label: 'reads' }),
      ]),
      graph('Refused for any reason', [
        metrics.metricWriteThrottleEvents({ label: 'writes' }),
        metrics.metricReadThrottleEvents({ label: 'reads' }),
      ]),
    ],
  ];
}

export function producerWidgets(producer: IOrderedProducerFunction): Rows {
  const metrics = OrderedProducerMetrics.fromProducer(producer);
  return [
    [
      graph('Records', [
        metrics.metricUserRecordsReceived({ label: 'received' }),
        metrics.metricUserRecordsPut({ label: 'put' }),
        metrics.metricUserRecordsFailed({ label: 'given up' }),
      ]),
      graph('Sent again', [metrics.metricAllErrors({ label: 'entries that were not taken' })], {
        right: [metrics.metricRetriesPerRecord({ label: 'retries a record' })],
      }),
      graph('Time of a request, in milliseconds', [
        metrics.metricRequestTime({ statistic: cloudwatch.Stats.p(50), label: 'median' }),
        metrics.metricRequestTime({ label: '99th percentile' }),
      ]),
    ],
  ];
}

export function outboxWidgets(relay: IOutboxRelayFunction): Rows {
  const metrics = OutboxRelayMetrics.fromRelay(relay);
  return [
    [
      graph('How long rows wait, in seconds', [metrics.metricWaitingSeconds({ label: 'the oldest row' })]),
      graph('Rows that wait', [
        metrics.metricWaitingRows({ label: 'all' }),
        metrics.metricParkedRows({ label: 'parked with their key' }),
      ]),
      graph('Rows relayed', [metrics.metricRelayedRows({ label: 'relayed' })], {
        right: [metrics.metricRejections({ label: 'rejections' }), metrics.metricGivenUpRows({ label: 'given up' })],
      }),
    ],
  ];
}

export function queryWidgets(query: IFanOutQueryFunction): Rows {
  const metrics = FanOutQueryMetrics.fromQuery(query);
  const duration = (statistic: string, label: string) => lambdaMetric(query, 'Duration', statistic, { label });
  return [
    [
      graph('Pages', [metrics.metricPages({ label: 'pages' })], {
        right: [metrics.metricConsumedReadUnits({ label: 'read units' })],
      }),
      graph('A page takes', [
        metrics.metricRequestsPerPage({ label: 'requests' }),
        metrics.metricWavesPerPage({ label: 'waves of requests' }),
        metrics.metricOverRead({ label: 'items read for one' }),
      ]),
      graph('Time of a page, in milliseconds', [
        duration(cloudwatch.Stats.p(50), 'median'),
        duration(cloudwatch.Stats.p(99), '99th percentile'),
      ]),
    ],
  ];
}

export function consumerWidgets(stream: kinesis.IStream, consumer: StreamConsumerMetrics): Rows {
  return [
    [
      graph('How far behind it is, in milliseconds', [
        consumer.metricMillisBehindLatest({ period: REPORTING_PERIOD, label: 'milliseconds' }),
      ]),
      graph('Whether it reads', [consumer.metricReports({ period: REPORTING_PERIOD, label: 'reports' })], {
        right: [
          stream.metricIncomingRecords({ statistic: cloudwatch.Stats.SUM, period: REPORTING_PERIOD, label: 'records' }),
        ],
      }),
    ],
  ];
}

export function queueWidgets(queue: sqs.IQueue): Rows {
  const metric = { statistic: cloudwatch.Stats.MAXIMUM, period: REPORTING_PERIOD };
  return [
    [
      graph('Messages', [queue.metricApproximateNumberOfMessagesVisible({ ...metric, label: 'messages' })]),
      graph('Age of the oldest, in seconds', [queue.metricApproximateAgeOfOldestMessage({ ...metric, label: 'age' })]),
    ],
  ];
}

function graph(title: string, left: cloudwatch.IMetric[], props: cloudwatch.GraphWidgetProps = {}): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({ title, left, width: WIDTH, height: HEIGHT, ...props });
}

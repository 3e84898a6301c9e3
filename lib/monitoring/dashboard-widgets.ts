import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { OUTBOX_METRICS, PRODUCER_METRICS, QUERY_METRICS } from '../core/foundation/function-metrics';
import type { IQueryFunction } from '../function/query-function';
import type { IOutboxRelayFunction } from '../outbox/outbox-relay-function';
import type { IOrderedProducerFunction } from '../stream/producer/ordered-producer-function';
import { SHARD_BYTES_PER_SECOND, SHARD_RECORDS_PER_SECOND } from '../stream/stream-metrics';
import type { AdaptiveShardCountController } from '../table/adaptive/adaptive-shard-count-controller';
import type { DaxCluster } from '../table/dax-cluster';
import type { IShardedIndex } from '../table/index/sharded-index';
import type { IKeyShardedTable } from '../table/key-sharded/key-sharded-table';
import { FanOutQueryFunctionBase } from '../table/query/fan-out-query-function';
import { REPORTING_PERIOD } from './alarm-definition';
import type { ConsumerAlarms } from './consumer-alarms';
import type { DaxAlarms } from './dax-alarms';
import type { IndexAlarms } from './index-alarms';
import { lambdaMetric } from './lambda-metric';
import type { StreamMonitoringOptions } from './monitoring-options';
import type { OutboxAlarms } from './outbox-alarms';
import type { ProducerAlarms } from './producer-alarms';
import type { DeadLetterQueueAlarms } from './queue-alarms';
import type { StreamAlarms } from './stream-alarms';
import type { StreamConsumerMetrics } from './stream-consumer-metrics';
import { StreamShardMetrics } from './stream-shard-metrics';
import type { TableAlarms } from './table-alarms';

/** Rows of three graphs, as wide as the dashboard. */
type Rows = cloudwatch.IWidget[][];

const WIDTH = 8;
const HEIGHT = 6;

/** CloudWatch fills it in for each line. */
const SHARD_ID = `\${PROP('Dim.ShardId')}`;

const PERFECTLY_EVEN: cloudwatch.HorizontalAnnotation = { value: 1, label: 'perfectly even' };

/** The graphs show sums of a minute. */
const A_MINUTE = REPORTING_PERIOD.toSeconds();
const SHARD_BYTES: cloudwatch.HorizontalAnnotation = {
  value: SHARD_BYTES_PER_SECOND * A_MINUTE,
  label: 'limit of a shard, 1 MB a second',
  color: cloudwatch.Color.RED,
};
const SHARD_RECORDS: cloudwatch.HorizontalAnnotation = {
  value: SHARD_RECORDS_PER_SECOND * A_MINUTE,
  label: 'limit of a shard, 1,000 a second',
  color: cloudwatch.Color.RED,
};

export function streamWidgets(
  stream: kinesis.IStream,
  { autoScaling, reconciliation }: StreamMonitoringOptions,
  alarms: StreamAlarms,
): Rows {
  const shards = StreamShardMetrics.fromStream(stream);
  const period = REPORTING_PERIOD;
  const sum = { statistic: cloudwatch.Stats.SUM, period };
  const rows: Rows = [
    [
      graph('Bytes by shard', [shards.metricIncomingBytes({ label: SHARD_ID, period })], {
        leftAnnotations: [SHARD_BYTES],
      }),
      graph('Records by shard', [shards.metricIncomingRecords({ label: SHARD_ID, period })], {
        leftAnnotations: [SHARD_RECORDS],
      }),
      graph(
        'Hottest shard, times the mean',
        [
          shards.metricHottestToMeanBytes({ label: 'bytes', period }),
          shards.metricHottestToMeanRecords({ label: 'records', period }),
          ...(reconciliation ? [reconciliation.metricSkew({ label: 'hash keys', period })] : []),
        ],
        {
          leftAnnotations: [PERFECTLY_EVEN, ...lines(alarms.skew, 'alarm of hash keys')],
          leftYAxis: { min: 0 },
        },
      ),
    ],
    [
      graph('Records refused by shard', [shards.metricWriteProvisionedThroughputExceeded({ label: SHARD_ID, period })]),
      graph(
        'Throttles of the whole stream',
        [
          stream.metricWriteProvisionedThroughputExceeded({ ...sum, label: 'records refused' }),
          stream.metricReadProvisionedThroughputExceeded({ ...sum, label: 'reads refused' }),
        ],
        { leftAnnotations: lines(alarms.writeThrottles, 'alarm of records refused') },
      ),
      graph(
        'How far behind consumers are',
        [
          stream.metricGetRecordsIteratorAgeMilliseconds({
            statistic: cloudwatch.Stats.MAXIMUM,
            period,
            label: 'milliseconds',
          }),
        ],
        { leftAnnotations: lines(alarms.iteratorAge) },
      ),
    ],
  ];
  if (autoScaling === undefined) return rows;
  return [
    ...rows,
    [
      graph('Utilization of the shards, in %', [autoScaling.metricUtilization({ label: 'utilization', period })], {
        leftAnnotations: [
          ...lines(autoScaling.surgeAlarm, 'doubles the shards'),
          ...lines(autoScaling.scaleOutAlarm, 'adds shards'),
          ...lines(autoScaling.scaleInAlarm, 'removes shards below'),
        ],
      }),
      graph('Shards', [autoScaling.metricOpenShards({ label: 'open shards', period })]),
      graph(
        'Shard count updates left of the day',
        [autoScaling.metricShardCountUpdatesLeft({ label: 'of 10', period })],
        { leftAnnotations: lines(alarms.noUpdatesLeft, 'alarm below') },
      ),
    ],
  ];
}

export function indexWidgets(index: IShardedIndex, alarms: IndexAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph('Units consumed', [
        index.metric('ConsumedWriteCapacityUnits', { label: 'write units', period }),
        index.metric('ConsumedReadCapacityUnits', { label: 'read units', period }),
        index.metric('OnlineIndexConsumedWriteCapacity', { label: 'write units while it is built', period }),
      ]),
      graph(
        'Refused by a hot partition',
        [
          index.metric('WriteKeyRangeThroughputThrottleEvents', { label: 'writes', period }),
          index.metric('ReadKeyRangeThroughputThrottleEvents', { label: 'reads', period }),
        ],
        { leftAnnotations: lines(alarms.writeThrottles, 'alarm of writes') },
      ),
      graph('Refused for any reason', [
        index.metric('WriteThrottleEvents', { label: 'writes', period }),
        index.metric('ReadThrottleEvents', { label: 'reads', period }),
      ]),
    ],
  ];
}

export function tableWidgets(sharded: IKeyShardedTable, alarms: TableAlarms): Rows {
  const period = REPORTING_PERIOD;
  const sum = { statistic: cloudwatch.Stats.SUM, period };
  return [
    [
      graph('Units consumed', [
        sharded.table.metricConsumedWriteCapacityUnits({ ...sum, label: 'write units' }),
        sharded.table.metricConsumedReadCapacityUnits({ ...sum, label: 'read units' }),
      ]),
      graph(
        'Refused by a hot partition',
        [
          sharded.metric('WriteKeyRangeThroughputThrottleEvents', { label: 'writes', period }),
          sharded.metric('ReadKeyRangeThroughputThrottleEvents', { label: 'reads', period }),
        ],
        {
          leftAnnotations: [
            ...lines(alarms.writeThrottles, 'alarm of writes'),
            ...lines(alarms.readThrottles, 'alarm of reads'),
          ],
        },
      ),
      graph('Refused for any reason', [
        sharded.metric('WriteThrottleEvents', { label: 'writes', period }),
        sharded.metric('ReadThrottleEvents', { label: 'reads', period }),
      ]),
    ],
  ];
}

export function daxWidgets(cluster: DaxCluster, alarms: DaxAlarms): Rows {
  const period = REPORTING_PERIOD;
  const ofTheBusiest = { statistic: cloudwatch.Stats.MAXIMUM, period };
  return [
    [
      graph('Queries', [
        cluster.metricQueryCacheHits({ label: 'from the cache', period }),
        cluster.metricQueryCacheMisses({ label: 'from DynamoDB', period }),
      ]),
      graph('Single items', [
        cluster.metricItemCacheHits({ label: 'from the cache', period }),
        cluster.metricItemCacheMisses({ label: 'from DynamoDB', period }),
      ]),
      graph(
        'Requests without an answer',
        [
          cluster.metricThrottledRequestCount({ label: 'throttled', period }),
          cluster.metricFaultRequestCount({ label: 'failed by the cluster', period }),
          cluster.metricErrorRequestCount({ label: 'refused, throttled ones included', period }),
        ],
        {
          leftAnnotations: [
            ...lines(alarms.throttles, 'alarm of throttles'),
            ...lines(alarms.faults, 'alarm of failures'),
          ],
        },
      ),
    ],
    [
      graph('CPU of the busiest node, in %', [cluster.metricCpuUtilization({ ...ofTheBusiest, label: 'CPU' })], {
        leftAnnotations: lines(alarms.cpu),
      }),
      graph(
        'Memory of the fullest node, in %',
        [cluster.metricCacheMemoryUtilization({ ...ofTheBusiest, label: 'memory' })],
        { leftAnnotations: lines(alarms.memory) },
      ),
      graph('Evicted, in bytes', [cluster.metricEvictedSize({ label: 'evicted', period })]),
    ],
  ];
}

export function shardCountWidgets(controller: AdaptiveShardCountController | undefined, alarms: IndexAlarms): Rows {
  if (controller === undefined) return [];
  const period = REPORTING_PERIOD;
  return [
    [
      graph('Values that are throttled', [controller.metricThrottledValues({ label: 'values', period })]),
      graph(
        'Values that need more shards than the maximum',
        [controller.metricValuesAtMaximum({ label: 'values', period })],
        { leftAnnotations: lines(alarms.valuesAtMaximum, 'alarm of values at the maximum') },
      ),
      graph('Shard counts raised', [controller.metricShardCountRaises({ label: 'raises', period })], {
        right: [controller.metricMostShards({ label: 'most shards of a throttled value', period })],
      }),
    ],
  ];
}

export function producerWidgets(producer: IOrderedProducerFunction, alarms: ProducerAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph(
        'Records',
        [
          producer.metric(PRODUCER_METRICS.userRecordsReceived, { label: 'received', period }),
          producer.metric(PRODUCER_METRICS.userRecordsPut, { label: 'put', period }),
        ],
        {
          right: [producer.metric(PRODUCER_METRICS.userRecordsFailed, { label: 'given up', period })],
          rightAnnotations: lines(alarms.failures, 'alarm of records given up'),
        },
      ),
      graph(
        'Sent again',
        [producer.metric(PRODUCER_METRICS.allErrors, { label: 'entries that were not taken', period })],
        {
          right: [producer.metric(PRODUCER_METRICS.retriesPerRecord, { label: 'retries a record', period })],
        },
      ),
      graph('Time of a request, in milliseconds', [
        producer.metric(PRODUCER_METRICS.requestTime, { statistic: cloudwatch.Stats.p(50), label: 'median', period }),
        producer.metric(PRODUCER_METRICS.requestTime, { label: '99th percentile', period }),
      ]),
    ],
  ];
}

export function outboxWidgets(relay: IOutboxRelayFunction, alarms: OutboxAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph(
        'How long rows wait, in seconds',
        [relay.metric(OUTBOX_METRICS.waitingSeconds, { label: 'the oldest row', period })],
        {
          leftAnnotations: lines(alarms.lag),
        },
      ),
      graph('Rows that wait', [
        relay.metric(OUTBOX_METRICS.waitingRows, { label: 'all', period }),
        relay.metric(OUTBOX_METRICS.parkedRows, { label: 'parked with their key', period }),
      ]),
      graph('Rows relayed', [relay.metric(OUTBOX_METRICS.relayedRows, { label: 'relayed', period })], {
        right: [
          relay.metric(OUTBOX_METRICS.rejections, { label: 'rejections', period }),
          relay.metric(OUTBOX_METRICS.givenUpRows, { label: 'given up', period }),
        ],
        rightAnnotations: lines(alarms.failures, 'alarm of rejections'),
      }),
    ],
  ];
}

export function queryWidgets(query: IQueryFunction): Rows {
  const period = REPORTING_PERIOD;
  const duration = (statistic: string, label: string) => lambdaMetric(query, 'Duration', { statistic, label });
  return [
    [
      graph('Pages', [query.metric(QUERY_METRICS.pages, { label: 'pages', period })], {
        right:
          query instanceof FanOutQueryFunctionBase
            ? [query.metric(QUERY_METRICS.consumedReadUnits, { label: 'read units', period })]
            : [],
      }),
      graph('A page takes', [
        query.metric(QUERY_METRICS.requests, { label: 'requests', period }),
        query.metric(QUERY_METRICS.waves, { label: 'waves of requests', period }),
        query.metric(QUERY_METRICS.overRead, { label: 'items read for one', period }),
      ]),
      graph('Time of a page, in milliseconds', [
        duration(cloudwatch.Stats.p(50), 'median'),
        duration(cloudwatch.Stats.p(99), '99th percentile'),
      ]),
    ],
  ];
}

export function consumerWidgets(
  stream: kinesis.IStream,
  consumer: StreamConsumerMetrics,
  alarms: ConsumerAlarms,
): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph(
        'How far behind it is, in milliseconds',
        [consumer.metricMillisBehindLatest({ period, label: 'milliseconds' })],
        { leftAnnotations: lines(alarms.behind) },
      ),
      graph('Whether it reads', [consumer.metricReports({ period, label: 'reports' })], {
        right: [stream.metricIncomingRecords({ statistic: cloudwatch.Stats.SUM, period, label: 'records' })],
      }),
    ],
  ];
}

export function queueWidgets(queue: sqs.IQueue, alarms: DeadLetterQueueAlarms): Rows {
  const metric = { statistic: cloudwatch.Stats.MAXIMUM, period: REPORTING_PERIOD };
  return [
    [
      graph('Messages', [queue.metricApproximateNumberOfMessagesVisible({ ...metric, label: 'messages' })], {
        leftAnnotations: lines(alarms.depth),
      }),
      graph('Age of the oldest, in seconds', [queue.metricApproximateAgeOfOldestMessage({ ...metric, label: 'age' })]),
    ],
  ];
}

/** The threshold of an alarm, if there is one, as a line. */
function lines(alarm?: cloudwatch.Alarm, label = 'alarm'): cloudwatch.HorizontalAnnotation[] {
  return alarm === undefined ? [] : [{ ...alarm.toAnnotation(), label }];
}

function graph(title: string, left: cloudwatch.IMetric[], props: cloudwatch.GraphWidgetProps = {}): cloudwatch.IWidget {
  return new cloudwatch.GraphWidget({ title, left, width: WIDTH, height: HEIGHT, ...props });
}

import { Annotations, Duration, Stack, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import { STREAM_SHARD_METRICS } from '../core/contract/function-metrics';
import { MAX_SKEW } from '../core/resharding/thresholds';
import { type IStreamAutoScaling, StreamAutoScaling } from '../stream/scaling/stream-auto-scaling';
import type { IStreamReconciliation } from '../stream/scaling/stream-reconciliation';
import { SHARD_BYTES_PER_SECOND, SHARD_RECORDS_PER_SECOND } from '../stream/stream-metrics';
import {
  type AlarmTable,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_OF_FIVE_MINUTES,
  type WatchedAlarms,
} from './alarm-definition';
import { consumerBehind, StreamConsumerMetrics } from './consumer-monitoring';
import { lambdaMetric } from './function-monitoring';
import { graph, lines, type Rows } from './graphs';
import { noRunForADay, noRunSucceeds } from './silence';
import { StreamShardMetrics } from './stream-shard-metrics';
import type { Watch } from './watch';

/** Options of `ShardMonitoring.addStream`: thresholds and alarms of a stream. */
export interface StreamMonitoringOptions {
  /**
   * Whether to enable shard-level metrics of a stream of this app. Without these metrics, the
   * dashboard cannot show a hot shard. CloudWatch charges for three metrics of each shard, $0.30 a month each in US
   * East: $450 a month for 500 shards.
   *
   * An imported stream does not change: enable its metrics in the app that defines the stream.
   *
   * @default - true for a stream in the stack of the monitoring. For any other stream, the metrics stay as they are,
   *   and synthesis warns (`cdk-even-shards:ShardMonitoring.noShardLevelMetrics`). Set it to `false` to omit this
   *   warning
   */
  readonly shardLevelMetrics?: boolean;

  /**
   * Whether an alarm is raised when the stream throttles records in three of five minutes.
   *
   * @default true
   */
  readonly writeThrottleAlarm?: boolean;

  /**
   * How many records the stream may throttle in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxWriteThrottles?: number;

  /**
   * Whether an alarm is raised when consumers that poll the stream are behind, or when writers write records and no consumer
   * polls. Switch the alarm off if all consumers use enhanced fan-out, and add these consumers with `addConsumer`.
   *
   * @default true
   */
  readonly iteratorAgeAlarm?: boolean;

  /**
   * How far behind consumers may be for 15 minutes. Keep this time well below the retention period of the stream,
   * because records that are older than that period are lost.
   *
   * @default - 1 hour
   */
  readonly maxIteratorAge?: Duration;

  /**
   * The automatic scaling of the stream. Adds graphs of the utilization and of the number of shards to the dashboard. Adds
   * alarms for a scaling function that fails or has stopped, for too few remaining updates of the shard count, and for a high
   * load while the stream has its maximum number of shards.
   *
   * @default - no graphs and no alarms of automatic scaling
   */
  readonly autoScaling?: IStreamAutoScaling;

  /**
   * Kinesis allows ten updates of the shard count in 24 hours. At least this number of updates must be left for
   * automatic scaling: 0 to 10.
   *
   * @default 1
   */
  readonly minUpdatesLeft?: number;

  /**
   * The reconciliation of the stream. Adds the skew to the dashboard, an alarm for uneven shards, and alarms for a
   * reconciliation that fails or has stopped.
   *
   * @default - no graphs and no alarms of the reconciliation
   */
  readonly reconciliation?: IStreamReconciliation;

  /**
   * The largest allowed skew, 1 or more. The skew is the number of hash keys of the widest shard, divided by the mean
   * number of hash keys of a shard. The reconciliation repairs a stream only if its skew is above 1.05.
   *
   * @default 1.05
   */
  readonly maxSkew?: number;
}

/** The alarms of a stream. An alarm is absent if it is switched off, or if its option is not set. */
export interface StreamAlarms extends WatchedAlarms {
  /** The stream throttles records. */
  readonly writeThrottles?: cloudwatch.Alarm;
  /** A consumer that polls the stream is behind, or no consumer polls. */
  readonly iteratorAge?: cloudwatch.Alarm;
  /** No run of the function that scales the stream has succeeded for 15 minutes. */
  readonly scalingStopped?: cloudwatch.Alarm;
  /** The stream has fewer than `minUpdatesLeft` of the updates that Kinesis allows in 24 hours. */
  readonly noUpdatesLeft?: cloudwatch.Alarm;
  /** The load is above the target, and the stream has the maximum number of shards that its automatic scaling allows. */
  readonly highLoadAtMaximum?: cloudwatch.Alarm;
  /** The shards of the stream are uneven. */
  readonly skew?: cloudwatch.Alarm;
  /** A run of the reconciliation has failed. */
  readonly reconciliationFailures?: cloudwatch.Alarm;
  /** The reconciliation has not run for more than a day. */
  readonly reconciliationStopped?: cloudwatch.Alarm;
}

export const streamWatch: Watch<kinesis.IStream, StreamMonitoringOptions, StreamAlarms> = {
  method: 'addStream',
  kind: 'a stream',
  resource: (stream) => stream,
  title: ({ streamName }) => `Stream ${streamName}`,
  alarms: streamAlarms,
  widgets: streamWidgets,
};

function streamAlarms(
  monitoring: IConstruct,
  stream: kinesis.IStream,
  options: StreamMonitoringOptions,
): AlarmTable<StreamAlarms> {
  const { autoScaling, reconciliation } = options;
  const props = Props.of(monitoring, options, DEFAULT_THRESHOLDS);
  const polling = StreamConsumerMetrics.fromPolling(stream);
  return {
    writeThrottles: {
      isOn: options.writeThrottleAlarm,
      severity: 'page',
      metric: stream.metricWriteProvisionedThroughputExceeded({ statistic: 'Sum', period: REPORTING_PERIOD }),
      description:
        `The stream ${stream.streamName} throttles records. If all its shards are busy, add shards. If the dashboard ` +
        'shows one shard that is hotter than the mean, give its keys explicit hash keys that spread the load, or split that ' +
        'shard. If one key alone exceeds the limits of a shard, divide it into several keys.' +
        seeMonitoring('write-throttles-of-a-stream'),
      ...THREE_OF_FIVE_MINUTES,
      threshold: props.number('maxWriteThrottles', { min: 0 }),
    },
    iteratorAge: {
      isOn: options.iteratorAgeAlarm,
      ...consumerBehind(monitoring, stream, polling, { maxIteratorAge: options.maxIteratorAge }),
    },
    ...(autoScaling && scalingAlarms(stream, autoScaling, props.number('minUpdatesLeft', { min: 0 }))),
    ...(reconciliation && reconciliationAlarms(stream, reconciliation, props.number('maxSkew', { min: 1 }))),
  };
}

/** The default thresholds. */
const DEFAULT_THRESHOLDS = { maxWriteThrottles: 0, minUpdatesLeft: 1, maxSkew: MAX_SKEW };

function scalingAlarms(
  { streamName }: kinesis.IStream,
  autoScaling: IStreamAutoScaling,
  minUpdatesLeft: number,
): AlarmTable<Pick<StreamAlarms, 'scalingStopped' | 'noUpdatesLeft' | 'highLoadAtMaximum'>> {
  return {
    scalingStopped: {
      ...noRunSucceeds(autoScaling),
      description:
        `No run of the function that scales the stream ${streamName} has succeeded for 15 minutes. Its log has the cause. ` +
        'If the log has no recent lines, nothing invokes the function. The stream keeps its shards until a run succeeds. If the function ' +
        `cannot read the stream, the alarms that scale the stream get no metrics.${seeMonitoring('scaling-has-stopped')}`,
    },
    noUpdatesLeft: {
      severity: 'ticket',
      metric: autoScaling.metric(STREAM_SHARD_METRICS.updatesLeft, { period: REPORTING_PERIOD }),
      description:
        `The stream ${streamName} has too few updates of the shard count left: Kinesis allows ten in 24 hours. If its load ` +
        'grows, split shards by hand. Check who else updates the stream, and whether its load changes too often for automatic ' +
        `scaling.${seeMonitoring('no-updates-left')}`,
      ...THREE_OF_FIVE_MINUTES,
      threshold: minUpdatesLeft,
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    },
    highLoadAtMaximum: {
      severity: 'ticket',
      metric: autoScaling.metric(STREAM_SHARD_METRICS.highLoadAtMaximum, { period: REPORTING_PERIOD }),
      description:
        `The load of the stream ${streamName} is above the target, and the stream has the maximum of shards that its automatic ` +
        'scaling allows. Increase maxCapacity before the stream throttles records.' +
        seeMonitoring('high-load-at-the-maximum'),
      ...THREE_OF_FIVE_MINUTES,
      threshold: 0,
    },
  };
}

function reconciliationAlarms(
  { streamName }: kinesis.IStream,
  reconciliation: IStreamReconciliation,
  maxSkew: number,
): AlarmTable<Pick<StreamAlarms, 'skew' | 'reconciliationFailures' | 'reconciliationStopped'>> {
  return {
    skew: {
      severity: 'ticket',
      metric: reconciliation.metric(STREAM_SHARD_METRICS.skew, { statistic: 'Maximum', period: Duration.hours(1) }),
      description:
        `The shards of the stream ${streamName} are uneven: the widest has more than ${Tokenization.stringifyNumber(maxSkew)} ` +
        'times the keys of the mean. Invoke its reconciliation with {"repair": true}, or add it with repair: true. A repair needs ' +
        'a target: the reconciliation of a UniformStream has one, and any other reconciliation needs a shardCount.' +
        seeMonitoring('uneven-shards'),
      threshold: maxSkew,
      evaluationPeriods: 1,
      // Runs of the reconciliation may be a day apart. Between two runs, the alarm uses the last value of the skew.
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
    reconciliationFailures: {
      severity: 'ticket',
      metric: lambdaMetric(reconciliation, 'Errors', { statistic: 'Sum', period: Duration.hours(1) }),
      description:
        `The reconciliation of the stream ${streamName} fails, so it is unknown whether the shards are even. The log has the ` +
        `cause.${seeMonitoring('reconciliation-fails')}`,
      threshold: 0,
      evaluationPeriods: 1,
      // Runs may be a day apart. Between two runs, the alarm uses the result of the last run.
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
    reconciliationStopped: {
      ...noRunForADay(reconciliation),
      description:
        `The reconciliation of the stream ${streamName} has not run for more than a day. Check whether its schedule is ` +
        'enabled, whether it runs at least once a day, and whether the account has concurrency left for the function.' +
        seeMonitoring('reconciliation-has-stopped'),
    },
  };
}

/** CloudWatch replaces this expression by the shard id of each line. */
const SHARD_ID = `\${PROP('Dim.ShardId')}`;

const PERFECTLY_EVEN: cloudwatch.HorizontalAnnotation = { value: 1, label: 'perfectly even' };

/** Each point of a graph is the sum of one minute. */
const MINUTE_SECONDS = REPORTING_PERIOD.toSeconds();

const SHARD_BYTES: cloudwatch.HorizontalAnnotation = {
  value: SHARD_BYTES_PER_SECOND * MINUTE_SECONDS,
  label: 'limit of a shard, 1 MB a second',
  color: cloudwatch.Color.RED,
};

const SHARD_RECORDS: cloudwatch.HorizontalAnnotation = {
  value: SHARD_RECORDS_PER_SECOND * MINUTE_SECONDS,
  label: 'limit of a shard, 1,000 a second',
  color: cloudwatch.Color.RED,
};

function streamWidgets(
  stream: kinesis.IStream,
  alarms: StreamAlarms,
  { autoScaling, reconciliation }: StreamMonitoringOptions,
): Rows {
  const shards = StreamShardMetrics.fromStream(stream);
  const period = REPORTING_PERIOD;
  const sum = { statistic: cloudwatch.Stats.SUM, period };
  return [
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
          ...(reconciliation ? [reconciliation.metric(STREAM_SHARD_METRICS.skew, { label: 'hash keys', period })] : []),
        ],
        {
          leftAnnotations: [PERFECTLY_EVEN, ...lines(alarms.skew, 'alarm of hash keys')],
          leftYAxis: { min: 0 },
        },
      ),
    ],
    [
      graph('Records throttled by shard', [
        shards.metricWriteProvisionedThroughputExceeded({ label: SHARD_ID, period }),
      ]),
      graph(
        'Throttles of the whole stream',
        [
          stream.metricWriteProvisionedThroughputExceeded({ ...sum, label: 'records throttled' }),
          stream.metricReadProvisionedThroughputExceeded({ ...sum, label: 'reads throttled' }),
        ],
        { leftAnnotations: lines(alarms.writeThrottles, 'alarm of records throttled') },
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
    ...(autoScaling ? [scalingRow(autoScaling, alarms)] : []),
  ];
}

function scalingRow(autoScaling: IStreamAutoScaling, alarms: StreamAlarms): Rows[number] {
  const period = REPORTING_PERIOD;
  return [
    graph('Utilization of the shards, in %', [autoScaling.metricUtilization({ label: 'utilization', period })], {
      leftAnnotations: scalingThresholds(autoScaling),
    }),
    graph('Shards', [autoScaling.metric(STREAM_SHARD_METRICS.openShards, { label: 'open shards', period })]),
    graph(
      'Shard count updates left of the day',
      [autoScaling.metric(STREAM_SHARD_METRICS.updatesLeft, { label: 'of 10', period })],
      { leftAnnotations: lines(alarms.noUpdatesLeft, 'alarm below') },
    ),
  ];
}

/** The thresholds of automatic scaling, as lines. Imported automatic scaling has unknown thresholds. */
function scalingThresholds(autoScaling: IStreamAutoScaling): cloudwatch.HorizontalAnnotation[] {
  if (!(autoScaling instanceof StreamAutoScaling)) return [];
  return [
    ...lines(autoScaling.surgeAlarm, 'doubles the shards'),
    ...lines(autoScaling.scaleOutAlarm, 'adds shards'),
    ...lines(autoScaling.scaleInAlarm, 'removes shards below'),
  ];
}

/** The shard-level metrics that the dashboard shows. */
const SHARD_LEVEL_METRICS = [
  kinesis.ShardLevelMetrics.INCOMING_BYTES,
  kinesis.ShardLevelMetrics.INCOMING_RECORDS,
  kinesis.ShardLevelMetrics.WRITE_PROVISIONED_THROUGHPUT_EXCEEDED,
];

/**
 * Enables shard-level metrics of a stream, unless the stream already has such metrics. By default, this function
 * changes only a stream in the stack of the monitoring. The owner of a stream in another stack would not expect the
 * costs.
 *
 * @param shardLevelMetrics the option of the user, if it is set
 */
export function enableShardLevelMetrics(
  monitoring: IConstruct,
  stream: kinesis.IStream,
  shardLevelMetrics?: boolean,
): void {
  const resource = stream.node.defaultChild;
  const ownResource = resource instanceof kinesis.CfnStream ? resource : undefined;
  if (shardLevelMetrics === false || ownResource?.desiredShardLevelMetrics !== undefined) return;
  if (ownResource && (shardLevelMetrics || Stack.of(ownResource) === Stack.of(monitoring))) {
    ownResource.desiredShardLevelMetrics = SHARD_LEVEL_METRICS;
    return;
  }
  const remedy = ownResource
    ? 'set shardLevelMetrics: true in addStream'
    : `set shardLevelMetrics [${SHARD_LEVEL_METRICS.join(', ')}] where the stream is defined, and shardLevelMetrics: false in addStream`;
  Annotations.of(monitoring).addWarningV2(
    'cdk-even-shards:ShardMonitoring.noShardLevelMetrics',
    `the dashboard cannot show a hot shard of ${stream.node.path}, because shard-level metrics of a stream of another stack are not enabled ` +
      `automatically: ${remedy}. CloudWatch charges $0.30 a month in US East for each of the three metrics of each shard`,
  );
}

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

/** What is watched of a stream. */
export interface StreamMonitoringOptions {
  /**
   * Whether to switch on the metrics of the single shards, for a stream of this app that has none: without them the
   * dashboard cannot show a hot shard. CloudWatch charges each of the three metrics of each shard: $0.30 a month in US
   * East, which is $450 for 500 shards.
   *
   * A stream that is imported stays as it is: switch its metrics on where it is defined.
   *
   * @default - true for a stream of the stack that the monitoring is in. For any other stream false, with the warning
   *   `cdk-even-shards:ShardMonitoring.noShardLevelMetrics` unless you say so
   */
  readonly shardLevelMetrics?: boolean;

  /**
   * Whether to raise an alarm when the stream throttles records in three of five minutes.
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
   * Whether to raise an alarm when consumers that poll the stream fall behind, or when records are written and nobody
   * polls. Switch it off if all consumers use enhanced fan-out, and add these with `addConsumer`.
   *
   * @default true
   */
  readonly iteratorAgeAlarm?: boolean;

  /**
   * How far behind consumers may be for 15 minutes. Keep it well below the stream's retention period, after which records
   * are lost.
   *
   * @default - 1 hour
   */
  readonly maxIteratorAge?: Duration;

  /**
   * The stream's automatic scaling: adds its utilization and shards to the dashboard, and alarms for a scaling that fails
   * or has stopped, for a day without updates left, and for a high load at the most shards.
   *
   * @default - the dashboard and the alarms leave automatic scaling out
   */
  readonly autoScaling?: IStreamAutoScaling;

  /**
   * How many updates of the shard count the day is to have left for the automatic scaling: 0 to 10.
   *
   * @default 1
   */
  readonly minUpdatesLeft?: number;

  /**
   * The stream's reconciliation: adds its skew to the dashboard, and alarms for a stream that is not even, and for a
   * reconciliation that fails or has stopped.
   *
   * @default - the dashboard and the alarms leave reconciliation out
   */
  readonly reconciliation?: IStreamReconciliation;

  /**
   * How many times the keys of the mean the widest shard may have: 1 or more. What the reconciliation counts as even, and
   * does not repair, goes up to 1.05.
   *
   * @default 1.05
   */
  readonly maxSkew?: number;
}

/** The alarms of a stream. One that is switched off, or that the options do not ask for, is absent. */
export interface StreamAlarms extends WatchedAlarms {
  /** The stream throttles records. */
  readonly writeThrottles?: cloudwatch.Alarm;
  /** A consumer that polls the stream is behind, or nobody polls. */
  readonly iteratorAge?: cloudwatch.Alarm;
  /** No run of the function that scales the stream has succeeded for 15 minutes. */
  readonly scalingStopped?: cloudwatch.Alarm;
  /** The updates of the shard count that Kinesis allows in 24 hours are used up. */
  readonly noUpdatesLeft?: cloudwatch.Alarm;
  /** The load is above the target, and the stream has the most shards that it may have. */
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
        `The stream ${stream.streamName} throttles records. If all its shards are busy, give it more shards. If the dashboard ` +
        'shows one shard that is hotter than the mean, give its keys explicit hash keys that spread the load, or split that ' +
        'shard. A single key that is too fast for a shard must become several keys.' +
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

/** The thresholds that the user does not choose. */
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
        `The function that scales the stream ${streamName} has not succeeded for a quarter of an hour. Its log says why ` +
        'it fails. If it logs nothing, nothing invokes it. Until it succeeds, the stream keeps its shards. While it cannot ' +
        `even look at the stream, the alarms that it asks are blind.${seeMonitoring('scaling-has-stopped')}`,
    },
    noUpdatesLeft: {
      severity: 'ticket',
      metric: autoScaling.metric(STREAM_SHARD_METRICS.updatesLeft, { period: REPORTING_PERIOD }),
      description:
        `The stream ${streamName} has used up its updates of the shard count: Kinesis allows ten in 24 hours. If its load ` +
        'grows, split shards by hand. See who else updates it, and whether its load changes too often for automatic ' +
        `scaling.${seeMonitoring('no-updates-left')}`,
      ...THREE_OF_FIVE_MINUTES,
      threshold: minUpdatesLeft,
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    },
    highLoadAtMaximum: {
      severity: 'ticket',
      metric: autoScaling.metric(STREAM_SHARD_METRICS.highLoadAtMaximum, { period: REPORTING_PERIOD }),
      description:
        `The load of the stream ${streamName} is above the target, and the stream has the most shards that its automatic ` +
        'scaling may give it. Increase maxCapacity before the stream throttles records.' +
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
        'times the keys of the mean. Invoke its reconciliation with {"repair": true}, or add it with repair: true. It needs ' +
        'to know the shard count for that, as that of a UniformStream does.' +
        seeMonitoring('uneven-shards'),
      threshold: maxSkew,
      evaluationPeriods: 1,
      // Between two looks, which may be a day apart, the stream is what it was.
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
    reconciliationFailures: {
      severity: 'ticket',
      metric: lambdaMetric(reconciliation, 'Errors', { statistic: 'Sum', period: Duration.hours(1) }),
      description:
        `The reconciliation of the stream ${streamName} fails, so nobody knows whether its shards are even. Its log says ` +
        `why.${seeMonitoring('reconciliation-fails')}`,
      threshold: 0,
      evaluationPeriods: 1,
      // Between two runs, which may be a day apart, the last one counts.
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
    reconciliationStopped: {
      ...noRunForADay(reconciliation),
      description:
        `The reconciliation of the stream ${streamName} has not run for more than a day. See whether its schedule is ` +
        'switched off, or rarer than once a day, and whether the account has concurrency left for it.' +
        seeMonitoring('reconciliation-has-stopped'),
    },
  };
}

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
      leftAnnotations: decisionsOf(autoScaling),
    }),
    graph('Shards', [autoScaling.metric(STREAM_SHARD_METRICS.openShards, { label: 'open shards', period })]),
    graph(
      'Shard count updates left of the day',
      [autoScaling.metric(STREAM_SHARD_METRICS.updatesLeft, { label: 'of 10', period })],
      { leftAnnotations: lines(alarms.noUpdatesLeft, 'alarm below') },
    ),
  ];
}

/** The lines between which the utilization stays. Those of another app's scaling are not known. */
function decisionsOf(autoScaling: IStreamAutoScaling): cloudwatch.HorizontalAnnotation[] {
  if (!(autoScaling instanceof StreamAutoScaling)) return [];
  return [
    ...lines(autoScaling.surgeAlarm, 'doubles the shards'),
    ...lines(autoScaling.scaleOutAlarm, 'adds shards'),
    ...lines(autoScaling.scaleInAlarm, 'removes shards below'),
  ];
}

/** What the dashboard draws of each shard. */
const SHARD_LEVEL_METRICS = [
  kinesis.ShardLevelMetrics.INCOMING_BYTES,
  kinesis.ShardLevelMetrics.INCOMING_RECORDS,
  kinesis.ShardLevelMetrics.WRITE_PROVISIONED_THROUGHPUT_EXCEEDED,
];

/**
 * Switches on the metrics of the single shards, for a stream that has none. By default that is a stream of the same stack:
 * whoever deploys it sees the change, and pays. What a user has chosen stays.
 *
 * @param wanted what the user says, if anything
 */
export function watchShards(monitoring: IConstruct, stream: kinesis.IStream, wanted?: boolean): void {
  const resource = stream.node.defaultChild;
  const ofThisApp = resource instanceof kinesis.CfnStream ? resource : undefined;
  if (wanted === false || ofThisApp?.desiredShardLevelMetrics !== undefined) return;
  if (ofThisApp && (wanted || Stack.of(ofThisApp) === Stack.of(monitoring))) {
    ofThisApp.desiredShardLevelMetrics = SHARD_LEVEL_METRICS;
    return;
  }
  const remedy = ofThisApp
    ? 'set shardLevelMetrics: true where the monitoring adds the stream'
    : `give the stream shardLevelMetrics [${SHARD_LEVEL_METRICS.join(', ')}] where it is defined, and set shardLevelMetrics: false where the monitoring adds it`;
  Annotations.of(monitoring).addWarningV2(
    'cdk-even-shards:ShardMonitoring.noShardLevelMetrics',
    `the dashboard cannot show a hot shard of ${stream.node.path}, a stream of another stack, unless CloudWatch has metrics ` +
      `of its shards: ${remedy}. CloudWatch charges each of the three metrics of each shard, $0.30 a month in US East`,
  );
}

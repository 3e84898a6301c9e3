import { Duration, Token, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { readGuide } from '../../construct/guide-link';
import { checkedArn, constructField, Props } from '../../construct/props';
import {
  MAX_SHARDS,
  MIN_SHARDS,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  STREAM_NAME,
  SURGE_ALARM,
} from '../../core/contract/function-environment';
import { STREAM_SHARD_METRICS } from '../../core/contract/function-metrics';
import { SCALE_IN_FRACTION, SURGE_FRACTION } from '../../core/resharding/thresholds';
import {
  addBundledFunction,
  type BundledFunctionOptions,
  type IBundledFunction,
  runOnSchedule,
} from '../../function/bundled-function';
import { possibleShardCount, provisionedStream } from '../stream-checks';
import { StreamReshardGrants } from '../stream-grants';
import { SHARD_BYTES_PER_SECOND, SHARD_RECORDS_PER_SECOND } from '../stream-metrics';
import { ownShardCount } from './shard-count-owner';
import { StreamShardsFunctionBase } from './stream-shards-function';

/**
 * The automatic scaling of a stream, defined in this app or imported by
 * `StreamAutoScaling.fromStreamAutoScalingAttributes`. Its metrics, such as `OpenShards`, are in the namespace
 * `EvenShards` with the dimension `StreamName`.
 */
export interface IStreamAutoScaling extends IBundledFunction {
  /**
   * The utilization of the stream's shards in percent: the larger of the utilization by bytes and the utilization by
   * records.
   *
   * @param props the period, label and color of the expression
   */
  metricUtilization(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression;
}

/** The attributes of an existing scaling, for `StreamAutoScaling.fromStreamAutoScalingAttributes`. */
export interface StreamAutoScalingAttributes {
  /** The ARN of its function: `functionArn` in the app that defines the scaling. */
  readonly functionArn: string;

  /** The stream that it scales, defined in this app or imported. */
  readonly stream: kinesis.IStreamRef;
}

/**
 * The metrics that a scaling of this app and an imported scaling share.
 *
 * @internal
 */
abstract class StreamAutoScalingBase extends StreamShardsFunctionBase implements IStreamAutoScaling {
  /**
   * The utilization of the stream's shards in percent: the larger of the utilization by bytes and the utilization by
   * records. It is the mean over a period and over all shards, so it does not show a single hot shard.
   *
   * Over 5 minutes by default. The statistic cannot be changed.
   *
   * @param props the period, label and color of the expression
   */
  public metricUtilization(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    const period = props?.period ?? Duration.minutes(5);
    const shards = this.metricOpenShards({ period });
    const needed = (load: string, metricName: string, capacity: number) =>
      new cloudwatch.MathExpression({
        expression: `FILL(${load}, 0) / ${capacity}`,
        usingMetrics: {
          [load]: this._sumOfStream(metricName, period),
        },
        period,
      });
    return new cloudwatch.MathExpression({
      expression: '100 * MAX([byBytes, byRecords, byNobody]) / PERIOD(shards) / FILL(shards, REPEAT)',
      usingMetrics: {
        byBytes: needed('bytes', 'IncomingBytes', SHARD_BYTES_PER_SECOND),
        byRecords: needed('records', 'IncomingRecords', SHARD_RECORDS_PER_SECOND),
        // Without writes, `bytes` and `records` have no datapoints. This expression then gives the utilization 0.
        byNobody: new cloudwatch.MathExpression({
          expression: '0 * FILL(shards, REPEAT)',
          usingMetrics: { shards },
          period,
        }),
        shards,
      },
      label: 'utilization in %',
      ...props,
      period,
    });
  }

  /**
   * The number of open shards of the stream. During an update of the shard count, this is the new number.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricOpenShards(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.openShards, props);
  }

  /**
   * The number of shard count updates that Kinesis still allows. Kinesis allows ten updates in 24 hours.
   *
   * Minimum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricShardCountUpdatesLeft(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.updatesLeft, props);
  }

  /**
   * 1 while the load is high and the stream has its maximum number of shards, otherwise 0.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricHighLoadAtMaximum(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.highLoadAtMaximum, props);
  }

  /** The sum of a Kinesis metric of the stream. @internal */
  protected _sumOfStream(metricName: string, period: Duration): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: 'AWS/Kinesis',
      metricName,
      dimensionsMap: { StreamName: this._stream.streamRef.streamName },
      statistic: cloudwatch.Stats.SUM,
      period,
    });
  }
}

/** The bounds of the shard count, the target utilization, and the settings of the function. */
export interface StreamAutoScalingOptions extends BundledFunctionOptions {
  /** The minimum number of shards: an integer from 1 to 10,000. */
  readonly minCapacity: number;

  /** The maximum number of shards: an integer from `minCapacity` to 10,000. */
  readonly maxCapacity: number;

  /**
   * The function adds shards above this utilization, in percent. It is above 0 and at most 100. The utilization by
   * bytes is the traffic in bytes, divided by the byte limit of all shards. The utilization by records is computed in
   * the same way. The function uses the larger value. Below 40 % of this target, the function removes shards. The
   * number must not be a token, because synthesis computes the lower bound from it.
   *
   * Leave head-room for peaks within a minute, for keys that the hash does not spread evenly, and for ten minutes of
   * growth. Detection, decision and resharding take about ten minutes.
   *
   * @default 70
   */
  readonly targetUtilizationPercent?: number;

  /**
   * The timeout of an invocation, at most 15 minutes.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

/** Properties of a `StreamAutoScaling`. */
export interface StreamAutoScalingProps extends StreamAutoScalingOptions {
  /** The stream, defined in this app or imported, in provisioned mode and in the account and region of the stack. */
  readonly stream: kinesis.IStreamRef;
}

const DEFAULT_TARGET_UTILIZATION_PERCENT = 70;

const SEE_GUIDE = readGuide('resharding', 'scale-it-with-its-load');

/**
 * Adds shards when the load of a stream grows, and removes shards after half an hour of low load.
 *
 * `UniformStream.autoScaleShardCount` creates a scaling. Three alarms watch the utilization of the shards, and a
 * function reads the alarms every minute:
 *
 * - If the utilization was above the target in three of six minutes, the function increases the shard count by a third.
 *   If the utilization was far above the target, the function doubles the shards.
 * - If the utilization was below 40 % of the target for half an hour and no record was throttled, the function halves
 *   the shards. The utilization is then at most 80 % of the target. Throttled records prevent this reduction, because a
 *   hot shard can throttle while the utilization is low.
 *
 * Kinesis allows ten updates in 24 hours. The function counts the updates in a tag of the stream, and halves the shards
 * only if enough updates are left to double them again. Every update divides the hash key space evenly.
 *
 * Use it for a load that changes over hours, such as between day and night. If the load can multiply within minutes or
 * is unpredictable, use on-demand mode, unless you need explicit hash keys. If the load hardly changes, use a fixed
 * shard count.
 *
 * @throws an error with the code `INVALID_SHARD_COUNT` if a count is not an integer from 1 to 10,000
 * @throws an error with the code `INVALID_ARGUMENT` if `minCapacity` is greater than `maxCapacity`, or if the target is
 *   out of bounds
 * @throws an error with the code `INVALID_ARGUMENT` if the stream is known to be on-demand or in another account or
 *   region
 *
 * @exampleMetadata fixture=app
 * @example
 * const scaling = new StreamAutoScaling(stack, 'Scaling', { stream, minCapacity: 2, maxCapacity: 64 });
 * monitoring.addStream(stream, { autoScaling: scaling });
 */
export class StreamAutoScaling extends StreamAutoScalingBase implements IStreamAutoScaling {
  /**
   * Imports an existing scaling of another app, to read its metrics and to grant its invocation. The import does not
   * create, change or look up resources.
   *
   * @param scope the construct to add the scaling to, usually `this`
   * @param id the name of the scaling within the scope
   * @param attributes the ARN of the function, and the stream
   */
  public static fromStreamAutoScalingAttributes(
    scope: Construct,
    id: string,
    attributes: StreamAutoScalingAttributes,
  ): IStreamAutoScaling {
    return new ImportedStreamAutoScaling(scope, id, attributes);
  }

  /** The function that scales the stream. */
  public readonly function: lambda.Function;

  /** The alarm for a utilization above the target. While it is in the state ALARM, the function adds shards. */
  public readonly scaleOutAlarm: cloudwatch.Alarm;

  /**
   * The alarm for a utilization far above the target. While it is in the state ALARM, the function doubles the shards.
   */
  public readonly surgeAlarm: cloudwatch.Alarm;

  /**
   * The alarm that starts after half an hour in which half of the shards would have been enough. This is a normal
   * state, so do not send notifications for this alarm.
   */
  public readonly scaleInAlarm: cloudwatch.Alarm;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  /**
   * Creates three alarms, and a function with its own role, log group and schedule.
   *
   * @param scope the construct to add the scaling to, usually `this`
   * @param id the name of the scaling within the scope
   * @param props the stream, the bounds of its shard count, and the target utilization
   */
  constructor(scope: Construct, id: string, props: StreamAutoScalingProps) {
    super(scope, id);
    const settings = scalingSettings(this, props);
    const { stream } = settings;
    this._stream = stream;
    ownShardCount(this, stream, undefined);
    this.scaleOutAlarm = this.addBusyAlarm('ScaleOutAlarm', settings.targetPercent, 'adds shards', settings);
    this.surgeAlarm = this.addBusyAlarm('SurgeAlarm', settings.surgePercent, 'doubles the shards', settings);
    this.scaleInAlarm = this.addIdleAlarm(settings);
    const alarms = [this.surgeAlarm, this.scaleOutAlarm, this.scaleInAlarm];
    this.function = addBundledFunction(
      this,
      {
        bundle: 'stream-scaler',
        description: 'Gives a Kinesis stream the shards that its load needs',
        environment: {
          [STREAM_NAME]: stream.streamRef.streamName,
          [MIN_SHARDS]: settings.minCapacity,
          [MAX_SHARDS]: settings.maxCapacity,
          [SURGE_ALARM]: this.surgeAlarm.alarmName,
          [SCALE_OUT_ALARM]: this.scaleOutAlarm.alarmName,
          [SCALE_IN_ALARM]: this.scaleInAlarm.alarmName,
        },
        timeout: Duration.minutes(1),
        minTimeout: { min: Duration.seconds(1) },
        memorySize: 256,
      },
      // A failed run needs no retry: the next run starts within a minute, and reads the new state of the alarms.
      { ...props, retryAttempts: props.retryAttempts ?? 0, maxEventAge: props.maxEventAge ?? Duration.minutes(1) },
    );
    StreamReshardGrants.fromStream(stream).scale(this.function);
    iam.Grant.addToPrincipal({
      grantee: this.function,
      actions: ['cloudwatch:DescribeAlarms'],
      resourceArns: alarms.map(({ alarmArn }) => alarmArn),
    });
    runOnSchedule(this, this.function, {
      description: 'Scales a Kinesis stream',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      retryAttempts: 0,
    });
  }

  /** An alarm for a utilization above `percent` in three of six minutes. */
  private addBusyAlarm(id: string, percent: number, action: string, { stream, maxCapacity }: ScalingSettings) {
    return new cloudwatch.Alarm(this, id, {
      metric: this.metricUtilization({ period: Duration.minutes(1) }),
      alarmDescription: `The utilization of the shards of the stream ${stream.streamRef.streamName} is above ${percent} %. The scaling function ${action}, up to ${Tokenization.stringifyNumber(maxCapacity)}.${SEE_GUIDE}`,
      threshold: percent,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 6,
      datapointsToAlarm: 3,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
  }

  /** An alarm that starts after half an hour in which half of the shards would have been enough. */
  private addIdleAlarm({ stream, minCapacity, scaleInPercent }: ScalingSettings) {
    return new cloudwatch.Alarm(this, 'ScaleInAlarm', {
      metric: this.utilizationUnlessThrottled(Duration.minutes(5)),
      alarmDescription: `The utilization of the shards of the stream ${stream.streamRef.streamName} was below ${scaleInPercent} % for half an hour, and no record was throttled. The scaling function halves the shards, down to ${Tokenization.stringifyNumber(minCapacity)}.${SEE_GUIDE}`,
      threshold: scaleInPercent,
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 6,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
  }

  /**
   * The utilization, or 100 while the stream throttles records. The utilization counts only accepted bytes and records,
   * so it is too low while the stream throttles.
   */
  private utilizationUnlessThrottled(period: Duration): cloudwatch.MathExpression {
    const throttles = this._sumOfStream('WriteProvisionedThroughputExceeded', period);
    return new cloudwatch.MathExpression({
      expression: 'MAX([utilization, throttled])',
      usingMetrics: {
        utilization: this.metricUtilization({ period }),
        throttled: new cloudwatch.MathExpression({
          expression: 'IF(throttles > 0, 100, 0)',
          usingMetrics: { throttles },
          period,
        }),
      },
      label: 'utilization in %, or 100 while records are throttled',
      period,
    });
  }
}

/** A scaling of another app. The import adds nothing to the template. */
class ImportedStreamAutoScaling extends StreamAutoScalingBase {
  public readonly function: lambda.IFunction;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  constructor(scope: Construct, id: string, { functionArn, stream }: StreamAutoScalingAttributes) {
    super(scope, id);
    const checked = checkedArn(constructField(this, 'functionArn'), functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionArn(this, 'Function', checked);
    this._stream = stream;
  }
}

/** The checked properties of a scaling, with defaults. The bounds may be tokens. */
interface ScalingSettings {
  readonly stream: kinesis.IStreamRef;
  readonly minCapacity: number;
  readonly maxCapacity: number;
  readonly targetPercent: number;
  readonly surgePercent: number;
  readonly scaleInPercent: number;
}

function scalingSettings(scaling: IConstruct, given: StreamAutoScalingProps): ScalingSettings {
  const props = Props.of(scaling, given, { targetUtilizationPercent: DEFAULT_TARGET_UTILIZATION_PERCENT });
  const stream = provisionedStream(scaling, given.stream);
  const minCapacity = possibleShardCount(scaling, 'minCapacity', given.minCapacity);
  const maxCapacity = possibleShardCount(scaling, 'maxCapacity', given.maxCapacity);
  if (![minCapacity, maxCapacity].some(Token.isUnresolved) && minCapacity > maxCapacity) {
    throw props.refusal('minCapacity', minCapacity, `at most maxCapacity, ${maxCapacity}`);
  }
  const targetPercent = props.number('targetUtilizationPercent', { above: 0, max: 100, resolved: true });
  return {
    stream,
    minCapacity,
    maxCapacity,
    targetPercent,
    surgePercent: toTenth(targetPercent + (100 - targetPercent) * SURGE_FRACTION),
    scaleInPercent: toTenth(targetPercent * SCALE_IN_FRACTION),
  };
}

/** Rounds a threshold to a tenth, so that people can read it easily. */
function toTenth(percent: number): number {
  return Math.round(percent * 10) / 10;
}

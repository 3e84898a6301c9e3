import { Duration, Token, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { readGuide } from '../../construct/guide-link';
import { Props } from '../../construct/props';
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
 * The automatic scaling of a stream, of this app or imported by `StreamAutoScaling.fromStreamAutoScalingAttributes`. Its metrics are in
 * the namespace `EvenShards`, by the name of the stream, such as `OpenShards`.
 */
export interface IStreamAutoScaling extends IBundledFunction {
  /**
   * How much of the capacity of its shards the stream uses, in percent: the larger of bytes and records.
   *
   * @param props its period, label and color
   */
  metricUtilization(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression;
}

/** A scaling that exists, as `StreamAutoScaling.fromStreamAutoScalingAttributes` takes it. */
export interface StreamAutoScalingAttributes {
  /** The ARN of its function: `functionArn` in the app that has it. */
  readonly functionArn: string;

  /** The stream that it scales, of this app or imported. */
  readonly stream: kinesis.IStreamRef;
}

/**
 * What every scaling of a stream has, of this app or imported: the metrics of the stream and its shards.
 *
 * @internal
 */
abstract class StreamAutoScalingBase extends StreamShardsFunctionBase implements IStreamAutoScaling {
  /**
   * How much of the capacity of its shards the stream uses, in percent: the larger of bytes and records. Mean over a
   * period and over all shards; a hot shard among cool ones does not show.
   *
   * Over 5 minutes by default. The statistic cannot be changed.
   *
   * @param props its period, label and color
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
        // A stream that nobody writes to has no datapoints: 0 times the shards is the zero that it means.
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
   * The shards of the stream; while it is scaled, those it is about to have.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricOpenShards(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.openShards, props);
  }

  /**
   * How many of the ten updates of its shard count the stream may still have in this 24 hours.
   *
   * Minimum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricShardCountUpdatesLeft(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.updatesLeft, props);
  }

  /**
   * 1 while the load is high and the stream has the most shards that it may have, else 0.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricHighLoadAtMaximum(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.highLoadAtMaximum, props);
  }

  /** The sum of a metric that Kinesis writes of the stream. @internal */
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

/** Between which shard counts a stream is scaled, and by which load. */
export interface StreamAutoScalingOptions extends BundledFunctionOptions {
  /** The fewest shards: a whole number from 1 to 10,000. */
  readonly minCapacity: number;

  /** The most shards: a whole number from `minCapacity` to 10,000. */
  readonly maxCapacity: number;

  /**
   * How much of the shards' capacity may be used before shards are added, in percent, more than 0 and at most 100: the
   * larger of bytes over 1 MB and records over 1,000 a second and shard, over the whole stream. Shards are taken away below
   * 40 % of it. The number must be known at synthesis, because the lower bound is computed from it.
   *
   * A minute's mean hides its peaks, and a hash spreads keys less evenly than the ranges are: leave room for both, and for
   * the growth of the ten minutes that it takes to notice, decide and reshard.
   *
   * @default 70
   */
  readonly targetUtilizationPercent?: number;

  /**
   * How long one invocation may take, at most 15 minutes.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

/** Properties of a `StreamAutoScaling`. */
export interface StreamAutoScalingProps extends StreamAutoScalingOptions {
  /** The stream, of this app or imported, in provisioned mode and in the stack's own account and region. */
  readonly stream: kinesis.IStreamRef;
}

const DEFAULT_TARGET_UTILIZATION_PERCENT = 70;

const SEE_GUIDE = readGuide('resharding', 'scale-it-with-its-load');

/**
 * Gives a stream more shards when its load grows, and fewer when its load has been low for half an hour.
 *
 * `UniformStream.autoScaleShardCount` makes one. Three alarms watch the utilization of the shards; a function asks them every minute.
 * It adds a third of the shards once three of six minutes were above the target, and doubles them if these were far above
 * it. It halves them once half an hour was below 40 % of the target, which leaves the half at most 80 % of it, and nothing
 * was throttled: a hot shard throttles records although the utilization is low. Kinesis allows ten updates in 24 hours, so it
 * halves only if enough of them are left to double back, and keeps count in a tag of the stream. Every update divides the
 * key space evenly.
 *
 * It follows a load that changes over hours, such as that of day and night. For one that multiplies within minutes, or
 * whose rise nobody can foresee, on-demand mode is the better choice, unless explicit hash keys rely on the shards; for
 * one that hardly changes, so is a fixed count.
 *
 * @throws an error with the code `INVALID_SHARD_COUNT` unless both counts are whole numbers from 1 to 10,000, and
 *   `INVALID_ARGUMENT` if `minCapacity` is greater than `maxCapacity`, if the target is out of bounds, or if the stream is known to be on-demand, or
 *   in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * const scaling = new StreamAutoScaling(stack, 'Scaling', { stream, minCapacity: 2, maxCapacity: 64 });
 * monitoring.addStream(stream, { autoScaling: scaling });
 */
export class StreamAutoScaling extends StreamAutoScalingBase implements IStreamAutoScaling {
  /**
   * Imports a scaling that exists, of another app: to watch it, and to allow its invocation. Nothing is created, changed or
   * looked up.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param attributes its function, and the stream that it scales
   */
  public static fromStreamAutoScalingAttributes(
    scope: Construct,
    id: string,
    attributes: StreamAutoScalingAttributes,
  ): IStreamAutoScaling {
    return new ImportedStreamAutoScaling(scope, id, attributes);
  }

  /** The function that scales. */
  public readonly function: lambda.Function;

  /** In alarm while more shards are needed. */
  public readonly scaleOutAlarm: cloudwatch.Alarm;

  /** This alarm is raised when the load is so far above the target that the function doubles the shards. */
  public readonly surgeAlarm: cloudwatch.Alarm;

  /**
   * This alarm is raised when half of the shards would have been enough for half an hour. That happens often, and needs
   * nobody's attention.
   */
  public readonly scaleInAlarm: cloudwatch.Alarm;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  /**
   * Three alarms, and a function with a role, a log group and a schedule of its own.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param props the stream, its bounds and its target
   */
  constructor(scope: Construct, id: string, props: StreamAutoScalingProps) {
    super(scope, id);
    const settings = scalingSettings(this, props);
    const { stream } = settings;
    this._stream = stream;
    ownShardCount(this, stream, undefined);
    this.scaleOutAlarm = this.addBusyAlarm('ScaleOutAlarm', settings.targetPercent, 'more', settings);
    this.surgeAlarm = this.addBusyAlarm('SurgeAlarm', settings.surgePercent, 'twice as many', settings);
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
        memorySize: 256,
      },
      // A run that fails is not tried again: the next one is a minute away, and asks the alarms as they are then.
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

  /** Raised when more of the shards' capacity is used than the target allows, in three minutes of six. */
  private addBusyAlarm(id: string, percent: number, given: string, { stream, maxCapacity }: ScalingSettings) {
    return new cloudwatch.Alarm(this, id, {
      metric: this.metricUtilization({ period: Duration.minutes(1) }),
      alarmDescription: `The shards of the stream ${stream.streamRef.streamName} are used by more than ${percent} %: it is given ${given}, up to ${Tokenization.stringifyNumber(maxCapacity)}.${SEE_GUIDE}`,
      threshold: percent,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 6,
      datapointsToAlarm: 3,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
  }

  /** Raised when so little of the shards was used for half an hour that half of them would do. */
  private addIdleAlarm({ stream, minCapacity, scaleInPercent }: ScalingSettings) {
    return new cloudwatch.Alarm(this, 'ScaleInAlarm', {
      metric: this.utilizationUnlessThrottled(Duration.minutes(5)),
      alarmDescription: `The shards of the stream ${stream.streamRef.streamName} were used by less than ${scaleInPercent} % for half an hour, and throttled nothing: it needs fewer, down to ${Tokenization.stringifyNumber(minCapacity)}.${SEE_GUIDE}`,
      threshold: scaleInPercent,
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 6,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
  }

  /** Accepted bytes are not what a stream that throttles was asked for, so such a stream counts as fully used. */
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

/** A scaling that another app has. It adds nothing to the template. */
class ImportedStreamAutoScaling extends StreamAutoScalingBase {
  public readonly function: lambda.IFunction;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  constructor(scope: Construct, id: string, { functionArn, stream }: StreamAutoScalingAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionArn(this, 'Function', functionArn);
    this._stream = stream;
  }
}

/** What a scaling is built from: its properties, checked, and with their defaults. The bounds may be tokens. */
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
  const targetPercent = props.number('targetUtilizationPercent', { above: 0, max: 100, known: true });
  return {
    stream,
    minCapacity,
    maxCapacity,
    targetPercent,
    surgePercent: toTenth(targetPercent + (100 - targetPercent) * SURGE_FRACTION),
    scaleInPercent: toTenth(targetPercent * SCALE_IN_FRACTION),
  };
}

/** Rounded to a tenth: a threshold that people read. */
function toTenth(percent: number): number {
  return Math.round(percent * 10) / 10;
}

import { Duration } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { checkedArn, constructField } from '../../construct/props';
import { REPAIR, SHARD_COUNT, STREAM_NAME } from '../../core/contract/function-environment';
import { STREAM_SHARD_METRICS } from '../../core/contract/function-metrics';
import { RESERVED_MS } from '../../core/contract/reserved-time';
import { InvalidArgumentError } from '../../core/kernel/errors';
import {
  addBundledFunction,
  type BundledFunctionOptions,
  type IBundledFunction,
  oneSecondBefore,
  runOnSchedule,
} from '../../function/bundled-function';
import { possibleShardCount, provisionedStream } from '../stream-checks';
import { StreamReshardGrants } from '../stream-grants';
import { ownShardCount } from './shard-count-owner';
import { StreamShardsFunctionBase } from './stream-shards-function';

/**
 * The reconciliation of a stream, defined in this app or imported by
 * `StreamReconciliation.fromStreamReconciliationAttributes`. Its metrics `Skew`, `Drift` and `OpenShards` are in the
 * namespace `EvenShards` with the dimension `StreamName`.
 */
export interface IStreamReconciliation extends IBundledFunction {}

/** The attributes of an existing reconciliation, for `StreamReconciliation.fromStreamReconciliationAttributes`. */
export interface StreamReconciliationAttributes {
  /** The ARN of its function: `functionArn` in the app that defines the reconciliation. */
  readonly functionArn: string;

  /** The stream that the function checks, defined in this app or imported. */
  readonly stream: kinesis.IStreamRef;
}

/**
 * The metrics that a reconciliation of this app and an imported reconciliation share.
 *
 * @internal
 */
abstract class StreamReconciliationBase extends StreamShardsFunctionBase implements IStreamReconciliation {
  /**
   * The number of hash keys of the widest shard, divided by the mean number of hash keys of a shard, at the last
   * check. With 1, the shards are perfectly even. Up to 1.05, they are even.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricSkew(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.skew, props);
  }
}

/** Options of a stream's reconciliation: repair, schedule, and the settings of the function. */
export interface StreamReconciliationOptions extends BundledFunctionOptions {
  /**
   * Whether the function repairs drift by splits, merges and updates of the shard count. Otherwise it only reports
   * drift. Producers and consumers can use the stream during a repair.
   *
   * @default false - the function reports drift in its response, its log, and the metrics `Skew` and `Drift`
   */
  readonly repair?: boolean;

  /**
   * When to check the stream. You can also invoke the function at any other time, with `{}` or `{ "repair": true }`.
   *
   * @default - once an hour
   */
  readonly schedule?: events.Schedule;

  /**
   * The timeout of an invocation, at most 15 minutes. With a `shardCount`, the timeout is at least 16 seconds, because a repair
   * stops 15 seconds before the timeout.
   *
   * @default - 15 minutes, because a repair waits for splits and merges
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

/** Properties of a `StreamReconciliation`. */
export interface StreamReconciliationProps extends StreamReconciliationOptions {
  /** The stream, defined in this app or imported, in provisioned mode and in the account and region of the stack. */
  readonly stream: kinesis.IStreamRef;

  /**
   * The number of shards that the stream should have: an integer from 1 to 10,000. A repair requires it, because the
   * function cannot know whether five shards are right, or whether a person split one of four shards.
   *
   * @default - the present number of shards: the function only reports whether the shards are even
   */
  readonly shardCount?: number;
}

/**
 * Checks a stream's shards on a schedule, and reports or repairs drift. Drift is a count that differs from
 * `shardCount`, or uneven shards after manual splits and merges.
 *
 * `UniformStream.addReconciliation` creates a reconciliation. The response of an invocation contains the open shards,
 * their skew, and the plan: the list of requests that remove the drift. The function sends these requests only if it
 * repairs drift.
 *
 * @throws an error with the code `INVALID_SHARD_COUNT` if the count is not an integer from 1 to 10,000
 * @throws an error with the code `INVALID_ARGUMENT` if `repair` is true without a count, or if the stream is known to
 *   be on-demand or in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * const reconciliation = new StreamReconciliation(stack, 'Look', { stream, shardCount: 8, repair: true });
 * monitoring.addStream(stream, { reconciliation });
 */
export class StreamReconciliation extends StreamReconciliationBase implements IStreamReconciliation {
  /**
   * Imports an existing reconciliation of another app, to read its metrics and to grant its invocation. The import does
   * not create, change or look up resources.
   *
   * @param scope the construct to add the reconciliation to, usually `this`
   * @param id the name of the reconciliation within the scope
   * @param attributes the ARN of the function, and the stream
   */
  public static fromStreamReconciliationAttributes(
    scope: Construct,
    id: string,
    attributes: StreamReconciliationAttributes,
  ): IStreamReconciliation {
    return new ImportedStreamReconciliation(scope, id, attributes);
  }

  /** The function, to invoke it or to grant its invocation. */
  public readonly function: lambda.Function;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  /**
   * Creates a function with its own role, log group and schedule.
   *
   * @param scope the construct to add the reconciliation to, usually `this`
   * @param id the name of the reconciliation within the scope
   * @param props the stream, and whether to repair drift
   */
  constructor(scope: Construct, id: string, props: StreamReconciliationProps) {
    super(scope, id);
    const { stream, shardCount, repair } = reconciliationSettings(this, props);
    this._stream = stream;
    if (shardCount !== undefined) ownShardCount(this, stream, shardCount);
    this.function = addBundledFunction(
      this,
      {
        bundle: 'stream-reconciler',
        description: "Reports or repairs the drift of a Kinesis stream's shards",
        environment: { [STREAM_NAME]: stream.streamRef.streamName, [REPAIR]: repair, [SHARD_COUNT]: shardCount },
        timeout: Duration.minutes(15),
        minTimeout: shardCount === undefined ? { min: Duration.seconds(1) } : oneSecondBefore(RESERVED_MS.repair),
        memorySize: 256,
      },
      props,
    );
    const grants = StreamReshardGrants.fromStream(stream);
    if (shardCount === undefined) grants.inspect(this.function);
    else grants.reshard(this.function);
    runOnSchedule(this, this.function, {
      description: "Checks a Kinesis stream's shards for drift",
      schedule: props.schedule ?? events.Schedule.rate(Duration.hours(1)),
    });
  }
}

/** A reconciliation of another app. The import adds nothing to the template. */
class ImportedStreamReconciliation extends StreamReconciliationBase {
  public readonly function: lambda.IFunction;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  constructor(scope: Construct, id: string, { functionArn, stream }: StreamReconciliationAttributes) {
    super(scope, id);
    const checked = checkedArn(constructField(this, 'functionArn'), functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionArn(this, 'Function', checked);
    this._stream = stream;
  }
}

/** The checked properties of a reconciliation, with defaults. */
interface ReconciliationSettings {
  readonly stream: kinesis.IStreamRef;
  readonly shardCount?: number;
  readonly repair: boolean;
}

function reconciliationSettings(scope: IConstruct, props: StreamReconciliationProps): ReconciliationSettings {
  const { repair = false } = props;
  const stream = provisionedStream(scope, props.stream);
  const shardCount = possibleShardCount(scope, 'shardCount', props.shardCount);
  if (!repair || shardCount !== undefined) return { stream, shardCount, repair };
  const allowed = 'false without a shardCount (a repair needs to know the count)';
  throw new InvalidArgumentError(constructField(scope, 'repair'), repair, allowed);
}

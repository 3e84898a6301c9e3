import { Duration } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { constructField } from '../../construct/props';
import { REPAIR, SHARD_COUNT, STREAM_NAME } from '../../core/contract/function-environment';
import { STREAM_SHARD_METRICS } from '../../core/contract/function-metrics';
import { InvalidArgumentError } from '../../core/kernel/errors';
import {
  addBundledFunction,
  type BundledFunctionOptions,
  type IBundledFunction,
  runOnSchedule,
} from '../../function/bundled-function';
import { possibleShardCount, provisionedStream } from '../stream-checks';
import { StreamReshardGrants } from '../stream-grants';
import { ownShardCount } from './shard-count-owner';
import { StreamShardsFunctionBase } from './stream-shards-function';

/**
 * The reconciliation of a stream, of this app or imported by `StreamReconciliation.fromStreamReconciliationAttributes`. Its metrics are
 * in the namespace `EvenShards`, by the name of the stream: `Skew`, `Drift` and `OpenShards`.
 */
export interface IStreamReconciliation extends IBundledFunction {}

/** A reconciliation that exists, as `StreamReconciliation.fromStreamReconciliationAttributes` takes it. */
export interface StreamReconciliationAttributes {
  /** The ARN of its function: `functionArn` in the app that has it. */
  readonly functionArn: string;

  /** The stream that it looks at, of this app or imported. */
  readonly stream: kinesis.IStreamRef;
}

/**
 * What every reconciliation of a stream has, of this app or imported: the metrics of the stream's shards.
 *
 * @internal
 */
abstract class StreamReconciliationBase extends StreamShardsFunctionBase implements IStreamReconciliation {
  /**
   * How many times the mean the widest shard holds, at the last look: 1 is perfectly even, up to 1.05 counts as even.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricSkew(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(STREAM_SHARD_METRICS.skew, props);
  }
}

/** What a stream's reconciliation does, and when. */
export interface StreamReconciliationOptions extends BundledFunctionOptions {
  /**
   * Whether drift is repaired, by splits, merges and updates of the shard count, or only reported. Records can be written
   * and read all the while.
   *
   * @default false - reported: in the function's answer, its log and the metrics `Skew` and `Drift`
   */
  readonly repair?: boolean;

  /**
   * When to look at the stream. It can be invoked at any other time, with `{}` or `{ "repair": true }`.
   *
   * @default - once an hour
   */
  readonly schedule?: events.Schedule;

  /**
   * How long one invocation may take, at most 15 minutes.
   *
   * @default - 15 minutes: a repair waits for splits and merges
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

/** Properties of a `StreamReconciliation`. */
export interface StreamReconciliationProps extends StreamReconciliationOptions {
  /** The stream, of this app or imported, in provisioned mode and in the stack's own account and region. */
  readonly stream: kinesis.IStreamRef;

  /**
   * How many shards the stream should have: a whole number from 1 to 10,000. A repair needs it, because a stream of five
   * shards may be a stream of four in which someone has split a shard.
   *
   * @default - the shards that the stream has: the function reports only whether they are even
   */
  readonly shardCount?: number;
}

/**
 * Looks at a stream's shards on a schedule, and reports or repairs drift: shards that manual splits and merges have left
 * uneven, or a count other than the declared one.
 *
 * `UniformStream.addReconciliation` makes one. An invocation answers with the open shards, their skew, and the plan that takes the
 * stream to where it should be, request by request: a dry run, unless it repairs.
 *
 * @throws an error with the code `INVALID_SHARD_COUNT` unless the count is a whole number from 1 to 10,000, and
 *   `INVALID_ARGUMENT` if it is to repair without one, or if the stream is known to be on-demand, or in another account or
 *   region
 *
 * @exampleMetadata fixture=app
 * @example
 * const reconciliation = new StreamReconciliation(stack, 'Look', { stream, shardCount: 8, repair: true });
 * monitoring.addStream(stream, { reconciliation });
 */
export class StreamReconciliation extends StreamReconciliationBase implements IStreamReconciliation {
  /**
   * Imports a reconciliation that exists, of another app: to watch it, and to allow its invocation. Nothing is created, changed or
   * looked up.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param attributes its function, and the stream that it looks at
   */
  public static fromStreamReconciliationAttributes(
    scope: Construct,
    id: string,
    attributes: StreamReconciliationAttributes,
  ): IStreamReconciliation {
    return new ImportedStreamReconciliation(scope, id, attributes);
  }

  /** The function: to invoke it or to grant its invocation. */
  public readonly function: lambda.Function;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  /**
   * A function with a role, a log group and a schedule of its own.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param props the stream, and what to do about drift
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
        memorySize: 256,
      },
      props,
    );
    const grants = StreamReshardGrants.fromStream(stream);
    if (shardCount === undefined) grants.inspect(this.function);
    else grants.reshard(this.function);
    runOnSchedule(this, this.function, {
      description: "Looks for drift of a Kinesis stream's shards",
      schedule: props.schedule ?? events.Schedule.rate(Duration.hours(1)),
    });
  }
}

/** A reconciliation that another app has. It adds nothing to the template. */
class ImportedStreamReconciliation extends StreamReconciliationBase {
  public readonly function: lambda.IFunction;

  /** @internal */
  protected readonly _stream: kinesis.IStreamRef;

  constructor(scope: Construct, id: string, { functionArn, stream }: StreamReconciliationAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionArn(this, 'Function', functionArn);
    this._stream = stream;
  }
}

/** What a reconciliation is built from: its properties, checked, and with their defaults. */
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
  const allowed = 'false without a shardCount, which says what to repair the stream to';
  throw new InvalidArgumentError(constructField(scope, 'repair'), repair, allowed);
}

import { Duration } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { MetricFamily } from '../../construct/metric-definition';
import { checkedArn, constructField } from '../../construct/props';
import { INDEX } from '../../core/contract/function-environment';
import { SHARD_COUNT_METRICS } from '../../core/contract/function-metrics';
import {
  addBundledFunction,
  BundledFunctionBase,
  type BundledFunctionOptions,
  type IBundledFunction,
  runOnSchedule,
} from '../../function/bundled-function';
import { checkIndexEnvironment, type IShardedIndex } from '../index/sharded-index';
import { ADAPTIVE_COUNT_METRICS, storeMetric } from '../table-metrics';

/**
 * A controller, defined in this app or imported by
 * `AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes`. The controller increases the adaptive
 * counts of an index. Its metrics, such as `ValuesAtMaximum`, are in the namespace `EvenShards`, with the names of the
 * table and the index as dimensions.
 */
export interface IAdaptiveShardCountController extends IBundledFunction {}

/** An existing controller, for `AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes`. */
export interface AdaptiveShardCountControllerAttributes {
  /** The ARN of the function: `functionArn` in the app of the controller. */
  readonly functionArn: string;

  /** The index of the controller, defined in this app or imported. */
  readonly index: IShardedIndex;
}

/**
 * The metrics that a controller of this app and an imported controller share.
 *
 * @internal
 */
abstract class AdaptiveShardCountControllerBase extends BundledFunctionBase implements IAdaptiveShardCountController {
  /** @internal */
  protected readonly _metrics: MetricFamily = ADAPTIVE_COUNT_METRICS;

  /** @internal */
  protected abstract readonly _index: IShardedIndex;

  /**
   * A metric that the function writes for the index. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `ShardCountIncreases`
   * @param props the statistic, period, label and color of the metric
   */
  public override metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return storeMetric(this, ADAPTIVE_COUNT_METRICS, this._index, metricName, props);
  }

  /**
   * The number of counts that the function increased.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricShardCountIncreases(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.increases, props);
  }

  /**
   * The number of values whose writes are throttled, according to the reports of writers.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricThrottledValues(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.throttledValues, props);
  }

  /**
   * The number of values that need more shards than the maximum of the index.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricValuesAtMaximum(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.valuesAtMaximum, props);
  }

  /**
   * The largest shard count of a throttled value, after an increase.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricMostShards(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.mostShards, props);
  }
}

/** Properties of an `AdaptiveShardCountController`. */
export interface AdaptiveShardCountControllerProps extends BundledFunctionOptions {
  /**
   * The index, with `ShardCounts.adaptive`. It is defined in this app or imported, and is in the account and region of the stack.
   */
  readonly index: IShardedIndex;

  /**
   * How long one invocation may take, from 2 to 15 minutes. An increase takes 45 seconds.
   *
   * @default - 3 minutes
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

/** With a shorter timeout, an invocation could end after readers read the new shards and before writers use them. */
const MIN_TIMEOUT = { min: Duration.minutes(2), because: 'an increase takes 45 seconds' };

/**
 * Increases the shard counts of throttled values of an index with `ShardCounts.adaptive`.
 *
 * A function runs every minute. It reads the reports that an `IndexKeeper` writes, and that writers write with a `WriteReporter`. If a value is throttled for two minutes in a row, the function increases the
 * count of the value. The new count is:
 *
 * - the number of shards that the attempted writes need, but at least 1.5 times the present count
 * - at most twice the number of shards that the writes need, and at most the maximum of the index
 *
 * An increase takes 45 seconds. Readers and writers use the new count without a deployment.
 *
 * To see the throttled values and the increases that they need, invoke the function with `{ "dryRun": true }`. To increase a
 * count by hand, invoke it with `{ "value": "open", "count": 8 }`.
 *
 * Without throttled writes, the function costs about 3 cents a month. The permissions of the function only allow reading and
 * changing counts.
 *
 * @throws an error with the code `INVALID_INDEX_CONFIG` if the counts of the index are fixed. `INVALID_ARGUMENT` if the
 *   table is known to be in another account or region, or if the timeout is known to be less than 2 minutes
 *
 * @exampleMetadata fixture=app
 * @example
 * const controller = new AdaptiveShardCountController(stack, 'Counts', { index });
 * monitoring.addIndex(index, { shardCountController: controller });
 */
export class AdaptiveShardCountController
  extends AdaptiveShardCountControllerBase
  implements IAdaptiveShardCountController
{
  /**
   * Imports an existing controller of another app, to monitor it and to allow its invocation. The import does not
   * create, change or look up resources.
   *
   * @param scope the parent construct, usually `this`
   * @param id the id within the scope
   * @param attributes the function and the index of the controller
   */
  public static fromAdaptiveShardCountControllerAttributes(
    scope: Construct,
    id: string,
    attributes: AdaptiveShardCountControllerAttributes,
  ): IAdaptiveShardCountController {
    return new ImportedAdaptiveShardCountController(scope, id, attributes);
  }

  /** The function that increases counts. */
  public readonly function: lambda.Function;

  /** @internal */
  protected readonly _index: IShardedIndex;

  /**
   * Creates a function with its own role, log group and schedule.
   *
   * @param scope the parent construct, usually `this`
   * @param id the id within the scope
   * @param props the index, and the settings of the function
   */
  constructor(scope: Construct, id: string, props: AdaptiveShardCountControllerProps) {
    super(scope, id);
    const { index } = props;
    this._index = index;
    checkIndexEnvironment(this, 'index', 'an index', index);
    this.function = addBundledFunction(
      this,
      {
        bundle: 'adaptive-shard-count-controller',
        description: 'Increases the shard counts of values of an index that are throttled',
        environment: { [INDEX]: index.toConfigJson() },
        timeout: Duration.minutes(3),
        minTimeout: MIN_TIMEOUT,
        memorySize: 256,
        largest: { property: 'index', remedy: 'set shard counts for fewer values' },
      },
      props,
    );
    index.grants.changeShardCounts(this.function);
    runOnSchedule(this, this.function, {
      description: 'Invokes the controller of shard counts every minute',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      retryAttempts: 0,
    });
  }
}

/** A controller of another app. The import adds nothing to the template. */
class ImportedAdaptiveShardCountController extends AdaptiveShardCountControllerBase {
  public readonly function: lambda.IFunction;

  /** @internal */
  protected readonly _index: IShardedIndex;

  constructor(scope: Construct, id: string, { functionArn, index }: AdaptiveShardCountControllerAttributes) {
    super(scope, id);
    const checked = checkedArn(constructField(this, 'functionArn'), functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionArn(this, 'Function', checked);
    this._index = index;
  }
}

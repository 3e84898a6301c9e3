import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { readGuide } from '../../construct/guide-link';
import type { MetricFamily } from '../../construct/metric-definition';
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
   * The number of values whose writes are throttled, according to the reports of writers and to Contributor Insights.
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
   * The memory of the function in MiB. Lambda assigns processor time in proportion to memory.
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
 * A function runs every minute. It reads the reports that writers write with a `WriteReporter`. While the index is throttled, it
 * also reads the Contributor Insights of the index. If a value is throttled for two minutes in a row, the function increases the
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
 * Without throttled writes, the function costs about 3 cents a month, and its alarm 20 cents. The permissions of the
 * function only allow reading and changing counts, and reading the Contributor Insights of the index.
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

  /**
   * The alarm on throttled writes to the index in the last five minutes, for any cause. Its state changes invoke the function,
   * which then reads metrics. You do not have to act on this alarm.
   */
  public readonly throttledAlarm: cloudwatch.Alarm;

  /** @internal */
  protected readonly _index: IShardedIndex;

  /**
   * Creates an alarm, and a function with its own role, log group and two rules.
   *
   * @param scope the parent construct, usually `this`
   * @param id the id within the scope
   * @param props the index, and the settings of the function
   */
  constructor(scope: Construct, id: string, props: AdaptiveShardCountControllerProps) {
    super(scope, id);
    const { index } = props;
    this._index = index;
    const { table, indexName } = index;
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
      },
      // The schedule invokes the function every minute. Only events of the alarm are retried, and an additional run is harmless.
      { ...props, maxEventAge: props.maxEventAge ?? Duration.minutes(5) },
    );
    index.grants.changeShardCounts(this.function);
    this.grantInsights();
    this.throttledAlarm = new cloudwatch.Alarm(this, 'ThrottledAlarm', {
      // A math expression, because an alarm directly on a DynamoDB metric keeps its state while data points are
      // missing. `WriteThrottleEvents` has data points only while DynamoDB throttles writes.
      metric: new cloudwatch.MathExpression({
        expression: 'throttles + 0 * writes',
        usingMetrics: {
          throttles: index.metric('WriteThrottleEvents', { period: Duration.minutes(1) }),
          writes: index.metric('ConsumedWriteCapacityUnits', { period: Duration.minutes(1) }),
        },
        label: 'throttled writes',
        period: Duration.minutes(1),
      }),
      alarmDescription:
        `DynamoDB throttles writes to the index ${indexName} of the table ${table.tableName}. The controller of its shard counts ` +
        `finds the values that need more shards.${readGuide('adaptive-counts', 'what-the-controller-sees')}`,
      threshold: 0,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 5,
      datapointsToAlarm: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    new events.Rule(this, 'AlarmChange', {
      description: 'Invokes the controller of shard counts when an index is throttled',
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        resources: [this.throttledAlarm.alarmArn],
      },
      targets: [new LambdaFunction(this.function)],
    });
    runOnSchedule(this, this.function, {
      description: 'Invokes the controller of shard counts every minute',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      retryAttempts: 0,
    });
  }

  /**
   * The name of a Contributor Insights rule ends with the time at which DynamoDB created the rule, so the ARN has a
   * wildcard.
   */
  private grantInsights(): void {
    const { table, indexName, indexArn } = this._index;
    iam.Grant.addToPrincipal({
      grantee: this.function,
      actions: ['dynamodb:DescribeContributorInsights'],
      resourceArns: [table.tableArn, indexArn],
    });
    const rules = ['PKC', 'PKT'].map((kind) =>
      Stack.of(this).formatArn({
        service: 'cloudwatch',
        resource: 'insight-rule',
        resourceName: `DynamoDBContributorInsights-${kind}-${table.tableName}-${indexName}-*`,
        arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
      }),
    );
    iam.Grant.addToPrincipal({
      grantee: this.function,
      actions: ['cloudwatch:GetInsightRuleReport'],
      resourceArns: rules,
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
    this.function = lambda.Function.fromFunctionArn(this, 'Function', functionArn);
    this._index = index;
  }
}

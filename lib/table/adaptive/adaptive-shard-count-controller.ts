import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { readGuide } from '../../construct/guide-link';
import type { MetricFamily } from '../../construct/metric-definition';
import { Props } from '../../construct/props';
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
 * What increases the adaptive counts of an index, of this app or imported by
 * `AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes`. Its metrics are in the namespace `EvenShards`, by the names
 * of the table and the index, such as `ValuesAtMaximum`.
 */
export interface IAdaptiveShardCountController extends IBundledFunction {}

/** A controller that exists, as `AdaptiveShardCountController.fromAdaptiveShardCountControllerAttributes` takes it. */
export interface AdaptiveShardCountControllerAttributes {
  /** The ARN of its function: `functionArn` in the app that has it. */
  readonly functionArn: string;

  /** The index whose counts it increases, of this app or imported. */
  readonly index: IShardedIndex;
}

/**
 * What every controller has, of this app or imported: the metrics of its index.
 *
 * @internal
 */
abstract class AdaptiveShardCountControllerBase extends BundledFunctionBase implements IAdaptiveShardCountController {
  /** @internal */
  protected readonly _metrics: MetricFamily = ADAPTIVE_COUNT_METRICS;

  /** @internal */
  protected abstract readonly _index: IShardedIndex;

  /**
   * Any metric that the function writes of the index, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `ShardCountIncreases`
   * @param props its statistic, period, label and color
   */
  public override metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return storeMetric(this, ADAPTIVE_COUNT_METRICS, this._index, metricName, props);
  }

  /**
   * Counts that were increased.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricShardCountIncreases(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.increases, props);
  }

  /**
   * Values of which throttled writes are known.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricThrottledValues(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.throttledValues, props);
  }

  /**
   * Values that need more shards than the maximum of the index.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricValuesAtMaximum(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.valuesAtMaximum, props);
  }

  /**
   * The most shards of a value that is throttled, after an increase.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricMostShards(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(SHARD_COUNT_METRICS.mostShards, props);
  }
}

/** Properties of a `AdaptiveShardCountController`. */
export interface AdaptiveShardCountControllerProps extends BundledFunctionOptions {
  /** The index, with `ShardCounts.adaptive`, of this app or imported, in the stack's own account and region. */
  readonly index: IShardedIndex;

  /**
   * How long one invocation may take, from 2 to 15 minutes: an increase takes 45 seconds.
   *
   * @default - 3 minutes
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

const LEAST_TIMEOUT = { min: Duration.minutes(2), because: 'an increase takes 45 seconds' };

/**
 * Increases the shard counts of the values of an index that are throttled, as far as their writes need it: for an index with
 * `ShardCounts.adaptive`.
 *
 * A function runs every minute. It goes by what writers report with a `WriteReporter`, and while the index is throttled also
 * by its Contributor Insights. A value that was throttled for two minutes in a row gets as many shards as the writes that were wanted
 * need, at least half as many more, never twice the need, and never more than the maximum of the index. An increase takes 45
 * seconds, and readers and writers follow it without a deployment.
 *
 * Invoke the function with `{ "dryRun": true }` to see what it knows and would do, and with `{ "value": "open", "count": 8 }`
 * to increase a count by hand.
 *
 * Without a throttled write it costs about 3 cents a month, and its alarm 20 cents. It may read and change counts, and read
 * the Contributor Insights of the index, and nothing else.
 *
 * @throws an error with the code `INVALID_INDEX_CONFIG` if the counts of the index are fixed, and `INVALID_ARGUMENT` if the
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
   * Imports a controller that exists, of another app: to watch it, and to allow its invocation. Nothing is created, changed or
   * looked up.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param attributes its function, and the index whose counts it increases
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
   * This alarm is raised when writes to the index were throttled in the last five minutes, for whatever reason. Its events
   * tell the function to look at metrics; it needs nobody's attention.
   */
  public readonly throttledAlarm: cloudwatch.Alarm;

  /** @internal */
  protected readonly _index: IShardedIndex;

  /**
   * An alarm, and a function with a role, a log group and two rules of its own.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param props the index
   */
  constructor(scope: Construct, id: string, props: AdaptiveShardCountControllerProps) {
    super(scope, id);
    const { index } = props;
    this._index = index;
    const { table, indexName } = index;
    checkIndexEnvironment(this, 'index', 'an index', index);
    // In less time, readers would be told to ask more shards and writers never to use them.
    Props.of(this, props).duration('timeout', LEAST_TIMEOUT);
    this.function = addBundledFunction(
      this,
      {
        bundle: 'adaptive-shard-count-controller',
        description: 'Increases the shard counts of values of an index that are throttled',
        environment: { [INDEX]: index.toConfigJson() },
        timeout: Duration.minutes(3),
        memorySize: 256,
      },
      // The next look is a minute away. An event of the alarm is worth another try, and a look more does no harm.
      { ...props, maxEventAge: props.maxEventAge ?? Duration.minutes(5) },
    );
    index.grants.changeShardCounts(this.function);
    this.grantInsights();
    this.throttledAlarm = new cloudwatch.Alarm(this, 'ThrottledAlarm', {
      // An alarm on a metric of DynamoDB keeps its state while there is no value, and there is none without a throttle.
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
        `Writes to the index ${indexName} of the table ${table.tableName} are throttled: the controller of its shard counts ` +
        `looks for the values that need more shards.${readGuide('adaptive-counts', 'what-the-controller-sees')}`,
      threshold: 0,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 5,
      datapointsToAlarm: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    new events.Rule(this, 'AlarmChange', {
      description: 'Tells the controller of shard counts that an index is throttled',
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        resources: [this.throttledAlarm.alarmArn],
      },
      targets: [new LambdaFunction(this.function)],
    });
    runOnSchedule(this, this.function, {
      description: 'Looks for values of an index that need more shards',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      retryAttempts: 0,
    });
  }

  /** DynamoDB puts the time at which it made a rule into its name. */
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

/** A controller that another app has. It adds nothing to the template. */
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

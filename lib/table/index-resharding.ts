import { type CfnElement, Duration, FeatureFlags, Stack, Token, Tokenization, Validations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as events from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2 } from 'aws-cdk-lib/cx-api';
import { Construct } from 'constructs';
import { constructField } from '../construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';
import {
  INDEX,
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  WRITE_UNITS_PER_SECOND,
} from '../core/foundation/function-environment';
import {
  INDEX_NAME_DIMENSION,
  METRICS_NAMESPACE,
  RESHARDING_METRICS,
  TABLE_NAME_DIMENSION,
} from '../core/foundation/function-metrics';
import { addBundledFunction, addLogGroup } from '../function/bundled-function';
import type { BundledFunctionOptions } from '../function/bundled-function-options';
import { checkEnvironmentSize } from '../function/environment-size';
import { refuseToken } from '../refuse-token';
import type { IShardedIndex } from './i-sharded-index';
import { checkIndexEnvironment } from './index-environment';

/** Properties of an `IndexResharding`. */
export interface IndexReshardingProps extends BundledFunctionOptions {
  /** The index whose strays are moved, of this app or imported, in the stack's own account and region. */
  readonly index: IShardedIndex;

  /** The most read units to consume a second, in all segments together: a number greater than 0. */
  readonly readUnitsPerSecond: number;

  /**
   * The most write units to consume a second, in all segments together and those of all indexes of the table included: a
   * number greater than 0.
   */
  readonly writeUnitsPerSecond: number;

  /**
   * Into how many segments the table is divided: a whole number from 1 to 256, known at synthesis. Each segment is an
   * execution of its own, which invokes the function until the segment is complete.
   *
   * @default 8
   */
  readonly segments?: number;

  /**
   * How many segments are worked on at once: a whole number of at least 1. The budgets are divided among them.
   *
   * @default - all of them
   */
  readonly maxConcurrency?: number;

  /**
   * How many segments may fail before the execution fails and stops the others: a whole number of at least 0. A segment
   * fails when its invocation fails six times without progress.
   *
   * @default 0
   */
  readonly toleratedFailureCount?: number;

  /**
   * When to count strays, without moving them. Put an alarm on `metricHiddenStrays`.
   *
   * @default - never by itself
   */
  readonly auditSchedule?: events.Schedule;

  /**
   * Where Step Functions writes what each segment has found and done, as JSON.
   *
   * @default - the output of the execution holds it
   */
  readonly reportBucket?: s3.IBucket;

  /**
   * What the names of the reports in the bucket begin with.
   *
   * @default - nothing
   */
  readonly reportPrefix?: string;

  /**
   * How long one invocation may take, from 1 to 15 minutes. A segment may take as many invocations as it needs.
   *
   * @default - 15 minutes
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default 512
   */
  readonly memorySize?: number;
}

/** A child execution has 25,000 events of its own, and each of its outputs counts to the 256 KB of the parent's. */
const MAX_SEGMENTS = 256;

/**
 * Goes over a table of any size and gives each item the shard that a writer would give it, on Step Functions: to adopt an
 * index on a table that has items, to drain shards before a count shrinks, and to look for strays on a schedule.
 *
 * Start an execution of `stateMachine` with `{}` to move strays, or with `{ "mode": "audit" }` to count them. It may run
 * beside any writer and more than once: an item is changed only while it has the value and the shard that were read. The
 * segments of the table are a Distributed Map, and each goes on where its last invocation stopped.
 *
 * The function may scan the table, and get and update its items, and nothing else.
 *
 * Throws an error with the code `INVALID_ARGUMENT` if a budget is not greater than 0, if a number is out of its bounds, or if
 * the table is known to be in another account or region.
 */
export class IndexResharding extends Construct implements ec2.IConnectable {
  /** The function that works on a segment. */
  public readonly function: lambda.Function;

  /** The state machine: to start executions, and to grant their start. */
  public readonly stateMachine: sfn.StateMachine;

  private readonly index: IShardedIndex;

  /**
   * A function and a state machine, with roles and log groups of their own.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param props the index, and how fast to work on its table
   */
  constructor(scope: Construct, id: string, props: IndexReshardingProps) {
    super(scope, id);
    const { index, segments = 8, maxConcurrency = segments, toleratedFailureCount = 0 } = props;
    this.index = index;
    refuseToken(constructField(this, 'segments'), segments, `a whole number from 1 to ${MAX_SEGMENTS}`);
    this.checkWholeNumber('segments', segments, 1, MAX_SEGMENTS);
    this.checkWholeNumber('maxConcurrency', maxConcurrency, 1);
    this.checkWholeNumber('toleratedFailureCount', toleratedFailureCount, 0);
    for (const field of ['readUnitsPerSecond', 'writeUnitsPerSecond'] as const) this.checkBudget(field, props[field]);
    checkIndexEnvironment(constructField(this, 'index'), 'an index', index, Stack.of(this));
    const environment = {
      [INDEX]: index.toConfigJson(),
      [READ_UNITS_PER_SECOND]: Tokenization.stringifyNumber(props.readUnitsPerSecond),
      [WRITE_UNITS_PER_SECOND]: Tokenization.stringifyNumber(props.writeUnitsPerSecond),
      [SEGMENTS_AT_ONCE]: Tokenization.stringifyNumber(maxConcurrency),
    };
    checkEnvironmentSize(this, constructField(this, 'index'), environment, 'give fewer values counts of their own');
    this.function = addBundledFunction(
      this,
      {
        bundle: 'index-resharder',
        description: 'Gives the items of a table their shards of an index',
        environment,
        timeout: Duration.minutes(15),
        memorySize: 512,
      },
      props,
    );
    index.grants.reshard(this.function);
    this.stateMachine = new sfn.StateMachine(this, 'StateMachine', {
      comment: 'Gives the items of a table their shards of an index, segment by segment',
      definitionBody: sfn.DefinitionBody.fromChainable(
        this.segmentsMap(props, segments, maxConcurrency, toleratedFailureCount),
      ),
      tracingEnabled: true,
      // The input of a state holds a table key. It belongs in no log.
      logs: {
        destination: addLogGroup(this, 'StateMachineLogGroup'),
        level: sfn.LogLevel.ALL,
        includeExecutionData: false,
      },
    });
    acknowledgeStateMachine(this);
    if (props.auditSchedule === undefined) return;
    new events.Rule(this, 'AuditSchedule', {
      description: 'Counts the items of a table that are in wrong shards of an index',
      schedule: props.auditSchedule,
      targets: [
        new SfnStateMachine(this.stateMachine, { input: events.RuleTargetInput.fromObject({ mode: 'audit' }) }),
      ],
    });
  }

  /** The network connections of the function, if it runs in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }

  /**
   * Allows to start executions.
   *
   * @param grantee the role, function or other principal that starts them
   */
  public grantStartExecution(grantee: iam.IGrantable): iam.Grant {
    return this.stateMachine.grantStartExecution(grantee);
  }

  /**
   * Strays that no query finds, as executions come upon them.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricHiddenStrays(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.hiddenStrays, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Strays of all kinds, as executions come upon them.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricStrays(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.strays, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Items that got their shard.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricMovedItems(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.movedItems, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Strays that could not be moved, because DynamoDB refused the item or its value fits no key.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricRefusedItems(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.refusedItems, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Items that were looked at.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricItemsScanned(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.itemsScanned, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Any metric of the index that executions write, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `HiddenStrays`
   * @param props statistic, period and looks
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const { table, indexName } = this.index;
    return new cloudwatch.Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { [TABLE_NAME_DIMENSION]: table.tableName, [INDEX_NAME_DIMENSION]: indexName },
      period: Duration.minutes(5),
      ...props,
    }).attachTo(this);
  }

  /** CDK's feature flag of the second writer decides which of them counts. The first one is deprecated in newer versions. */
  private resultWriter(props: { bucket: s3.IBucket; prefix?: string }): Partial<sfn.DistributedMapProps> {
    const isSecond = FeatureFlags.of(this).isEnabled(STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2);
    return isSecond ? { resultWriterV2: new sfn.ResultWriterV2(props) } : { resultWriter: new sfn.ResultWriter(props) };
  }

  /** A segment is a loop: the answer of the function is its next input, until it has no point to go on from. */
  private segmentsMap(
    { reportBucket, reportPrefix }: IndexReshardingProps,
    segments: number,
    maxConcurrency: number,
    toleratedFailureCount: number,
  ): sfn.IChainable {
    const work = new LambdaInvoke(this, 'WorkOnSegment', {
      lambdaFunction: this.function,
      payloadResponseOnly: true,
      retryOnServiceExceptions: false,
    });
    work.addRetry({
      errors: [sfn.Errors.ALL],
      interval: Duration.seconds(5),
      backoffRate: 3,
      maxAttempts: 5,
      maxDelay: Duration.minutes(5),
      jitterStrategy: sfn.JitterType.FULL,
    });
    const complete = new sfn.Succeed(this, 'SegmentIsComplete', { outputPath: '$.totals' });
    const loop = new sfn.Choice(this, 'IsTimeUp')
      .when(sfn.Condition.isPresent('$.resumePoint'), work)
      .otherwise(complete);
    const map = new sfn.DistributedMap(this, 'Segments', {
      maxConcurrency,
      toleratedFailureCount,
      itemSelector: {
        segment: sfn.JsonPath.numberAt('$$.Map.Item.Value'),
        totalSegments: segments,
        request: sfn.JsonPath.objectAt('$$.Execution.Input'),
      },
      ...(reportBucket && this.resultWriter({ bucket: reportBucket, ...(reportPrefix && { prefix: reportPrefix }) })),
    });
    map.itemProcessor(work.next(loop), {
      mode: sfn.ProcessorMode.DISTRIBUTED,
      executionType: sfn.ProcessorType.STANDARD,
    });
    const numbers = Array.from({ length: segments }, (_, segment) => segment);
    return new sfn.Pass(this, 'ListSegments', { result: sfn.Result.fromArray(numbers) }).next(map);
  }

  private checkWholeNumber(field: string, value: number, least: number, most?: number): void {
    if (Token.isUnresolved(value)) return;
    if (Number.isInteger(value) && value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER)) return;
    const allowed = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(constructField(this, field), value, `a whole number ${allowed}`);
  }

  private checkBudget(field: string, value: number): void {
    if (Token.isUnresolved(value) || (Number.isFinite(value) && value > 0)) return;
    throw new InvalidArgumentError(constructField(this, field), value, 'a number of units a second greater than 0');
  }
}

/**
 * What cdk-nag would find in the role that CDK gives the state machine. It still finds that a Distributed Map describes, stops
 * and redrives any execution of its own state machine: CDK takes no id of a finding that has an ARN.
 */
function acknowledgeStateMachine(scope: IndexResharding): void {
  const functionId = Stack.of(scope).getLogicalId(scope.function.node.defaultChild as CfnElement);
  Validations.of(scope).acknowledge(
    {
      id: `AwsSolutions-IAM5[Resource::<${functionId}.Arn>:*]`,
      reason: 'a task of Step Functions may invoke any version of its function',
    },
    {
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'the delivery of logs of Step Functions and X-Ray know no resources',
    },
  );
}

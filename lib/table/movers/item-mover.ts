import { type CfnElement, Duration, FeatureFlags, Stack, Tokenization } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
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
import { acknowledgeFindings } from '../../construct/acknowledge-findings';
import { grantOnKey } from '../../construct/grant-on-key';
import { warnIfWithoutEffect } from '../../construct/grant-without-effect';
import { Props } from '../../construct/props';
import {
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  WRITE_UNITS_PER_SECOND,
} from '../../core/contract/function-environment';
import { RESHARDING_METRICS } from '../../core/contract/function-metrics';
import { addBundledFunction, addLogGroup, type BundledFunctionOptions } from '../../function/bundled-function';

/** Options of `IndexItemMover` and `TableItemMover`. */
export interface ItemMoverOptions extends BundledFunctionOptions {
  /** The maximum number of read units a second that all segments together consume: a number greater than 0. */
  readonly readUnitsPerSecond: number;

  /**
   * The maximum number of write units a second that all segments together consume, in the table and all of its indexes: a number
   * greater than 0.
   */
  readonly writeUnitsPerSecond: number;

  /**
   * The number of segments of the table: an integer from 1 to 256 that is known at synthesis. The budgets are divided among the
   * segments. Each segment has its own child execution, which invokes the function until the segment is complete. A segment fails
   * when its invocation fails six times without progress. Then the execution fails, and stops the other segments.
   *
   * @default 8
   */
  readonly segments?: number;

  /**
   * The schedule on which executions count strays, without moving them. Add an alarm on `metricHiddenStrays`.
   *
   * @default - strays are counted only when you start an execution
   */
  readonly auditSchedule?: events.Schedule;

  /**
   * The bucket for the report of each segment, as JSON. Step Functions writes the reports. If the bucket has a
   * customer-managed key, import the bucket with its `encryptionKey`, so that the state machine may use the key.
   *
   * @default - the output of the execution contains the reports
   */
  readonly reportBucket?: s3.IBucket;

  /**
   * How long one invocation may take, from 1 to 15 minutes. A segment may take as many invocations as it needs.
   *
   * @default - 15 minutes
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default 512
   */
  readonly memorySize?: number;
}

/**
 * The base class of the state machines that move the items of a table to their shards. It has the metrics, and the
 * grant to start executions.
 *
 * @internal
 */
export abstract class ItemMoverBase extends Construct implements ec2.IConnectable {
  /** The function that processes a segment. */
  public abstract readonly function: lambda.Function;

  /** The state machine. Use it to start executions, or to allow a principal to start executions. */
  public abstract readonly stateMachine: sfn.StateMachine;

  /** The network connections of the function, if it runs in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }

  /**
   * Allows a principal to start executions.
   *
   * @param grantee the role, function or other principal that starts executions
   */
  public grantStartExecution(grantee: iam.IGrantable): iam.Grant {
    const grant = this.stateMachine.grantStartExecution(grantee);
    const [actions, name] = [['states:StartExecution'], 'the state machine'];
    return warnIfWithoutEffect(this.stateMachine, grant, { grantee, actions, construct: 'ItemMover', name });
  }

  /**
   * Strays that executions found and that queries cannot find.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricHiddenStrays(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.hiddenStrays, props);
  }

  /**
   * A metric that executions write. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `HiddenStrays`
   * @param props the statistic, period, label and color of the metric
   */
  public abstract metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** The parts of a mover that differ between an index and a table. */
interface MovedItems {
  /** The property that holds the index or the table. */
  readonly property: string;
  /** The description of the function and the state machine, without a full stop. */
  readonly description: string;
  /** The description of the audit schedule, without a full stop. */
  readonly audit: string;
  /** The variables that describe the index or the table to the function. */
  readonly environment: Record<string, string>;
}

/** The resources of a mover. */
interface ItemMover {
  readonly function: lambda.Function;
  readonly stateMachine: sfn.StateMachine;
}

/** The checked properties of a mover, with defaults. The budgets may be tokens. */
interface MoverSettings {
  readonly segments: number;
  readonly readUnitsPerSecond: number;
  readonly writeUnitsPerSecond: number;
}

/**
 * The maximum number of segments. Each segment has a child execution. The outputs of all child executions must together fit
 * into the 256 KB of the parent execution, and each child execution may have only 25,000 events.
 */
const MAX_SEGMENTS = 256;

/**
 * The actions on the key of a bucket that Step Functions needs to write reports, also in several parts. CDK grants only the actions on
 * the bucket. Source: the Amazon S3 user guide, "Multipart upload API and permissions".
 */
const REPORT_KEY_ACTIONS = ['kms:Decrypt', 'kms:GenerateDataKey'];

/**
 * An invocation stops 15 seconds before its timeout. With a shorter timeout, an invocation would make no progress in its segment.
 */
const MIN_TIMEOUT = { min: Duration.minutes(1), because: 'an invocation stops 15 seconds before its timeout' };

function moverSettings(scope: Construct, options: ItemMoverOptions): MoverSettings {
  const props = Props.of(scope, options, { segments: 8 });
  return {
    segments: props.whole('segments', { min: 1, max: MAX_SEGMENTS, resolved: true }),
    readUnitsPerSecond: props.number('readUnitsPerSecond', { above: 0 }),
    writeUnitsPerSecond: props.number('writeUnitsPerSecond', { above: 0 }),
  };
}

/** Adds a function that processes segments of a table, and a state machine that invokes it until each segment is complete. */
export function addItemMover(scope: Construct, options: ItemMoverOptions, moved: MovedItems): ItemMover {
  const settings = moverSettings(scope, options);
  const environment = {
    ...moved.environment,
    [READ_UNITS_PER_SECOND]: Tokenization.stringifyNumber(settings.readUnitsPerSecond),
    [WRITE_UNITS_PER_SECOND]: Tokenization.stringifyNumber(settings.writeUnitsPerSecond),
    [SEGMENTS_AT_ONCE]: Tokenization.stringifyNumber(settings.segments),
  };
  const largest = { property: moved.property, remedy: 'set shard counts for fewer values' };
  const { description, audit } = moved;
  const { auditSchedule } = options;
  const timeout = Duration.minutes(15);
  const bundled = {
    bundle: 'item-mover',
    description,
    environment,
    timeout,
    minTimeout: MIN_TIMEOUT,
    memorySize: 512,
    largest,
  };
  const added = addBundledFunction(scope, bundled, options);
  const stateMachine = new sfn.StateMachine(scope, 'StateMachine', {
    comment: `${description}, segment by segment`,
    definitionBody: sfn.DefinitionBody.fromChainable(segmentsMap(scope, added, settings, options.reportBucket)),
    tracingEnabled: true,
    // The input of a state contains a table key, which must not be logged.
    logs: {
      destination: addLogGroup(scope, 'StateMachineLogGroup'),
      level: sfn.LogLevel.ALL,
      includeExecutionData: false,
    },
  });
  const reportKey = options.reportBucket?.encryptionKey;
  if (reportKey) grantOnKey(reportKey, stateMachine, REPORT_KEY_ACTIONS, 'ItemMover');
  acknowledgeStateMachine(scope, added);
  if (auditSchedule !== undefined) {
    new events.Rule(scope, 'AuditSchedule', {
      description: audit,
      schedule: auditSchedule,
      targets: [new SfnStateMachine(stateMachine, { input: events.RuleTargetInput.fromObject({ mode: 'audit' }) })],
    });
  }
  return { function: added, stateMachine };
}

/**
 * The state machine processes each segment in a loop: the response of the function is the next input, until the
 * response has no resume point.
 */
function segmentsMap(
  scope: Construct,
  lambdaFunction: lambda.Function,
  { segments }: MoverSettings,
  reportBucket: s3.IBucket | undefined,
): sfn.IChainable {
  const work = new LambdaInvoke(scope, 'WorkOnSegment', {
    lambdaFunction,
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
  const complete = new sfn.Succeed(scope, 'SegmentIsComplete', { outputPath: '$.totals' });
  const loop = new sfn.Choice(scope, 'IsTimeUp')
    .when(sfn.Condition.isPresent('$.resumePoint'), work)
    .otherwise(complete);
  const map = new sfn.DistributedMap(scope, 'Segments', {
    maxConcurrency: segments,
    itemSelector: {
      segment: sfn.JsonPath.numberAt('$$.Map.Item.Value'),
      totalSegments: segments,
      request: sfn.JsonPath.objectAt('$$.Execution.Input'),
    },
    ...(reportBucket && resultWriter(scope, reportBucket)),
  });
  map.itemProcessor(work.next(loop));
  const numbers = Array.from({ length: segments }, (_, segment) => segment);
  return new sfn.Pass(scope, 'ListSegments', { result: sfn.Result.fromArray(numbers) }).next(map);
}

/**
 * A feature flag of CDK decides whether `resultWriter` or `resultWriterV2` takes effect. Newer versions of CDK deprecate
 * `resultWriter`.
 */
function resultWriter(scope: Construct, bucket: s3.IBucket): Partial<sfn.DistributedMapProps> {
  const isSecond = FeatureFlags.of(scope).isEnabled(STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2);
  return isSecond
    ? { resultWriterV2: new sfn.ResultWriterV2({ bucket }) }
    : { resultWriter: new sfn.ResultWriter({ bucket }) };
}

/**
 * Acknowledges the findings of cdk-nag in the role that CDK creates for the state machine. One finding remains: a
 * Distributed Map needs permission to describe, stop and redrive any execution of its own state machine. The id of that
 * finding contains an ARN, and CDK does not accept such an id.
 */
function acknowledgeStateMachine(scope: Construct, { node }: lambda.Function): void {
  const functionId = Stack.of(scope).getLogicalId(node.defaultChild as CfnElement);
  acknowledgeFindings(
    scope,
    {
      id: `AwsSolutions-IAM5[Resource::<${functionId}.Arn>:*]`,
      reason: 'a task of Step Functions may invoke any version of its function',
    },
    {
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'the actions for log delivery and X-Ray support no resources',
    },
  );
}

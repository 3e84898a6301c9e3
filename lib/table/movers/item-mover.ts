import { type CfnElement, Duration, FeatureFlags, Stack, Tokenization, Validations } from 'aws-cdk-lib';
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
import { constructField, Props } from '../../construct/props';
import {
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  WRITE_UNITS_PER_SECOND,
} from '../../core/contract/function-environment';
import { RESHARDING_METRICS } from '../../core/contract/function-metrics';
import { addBundledFunction, addLogGroup, type BundledFunctionOptions } from '../../function/bundled-function';
import { checkEnvironmentSize } from '../../function/environment-size';

/** What an `IndexItemMover` and a `TableItemMover` are given alike. */
export interface ItemMoverOptions extends BundledFunctionOptions {
  /** The most read units to consume a second, in all segments together: a number greater than 0. */
  readonly readUnitsPerSecond: number;

  /**
   * The most write units to consume a second, in all segments together and those of all indexes of the table included: a
   * number greater than 0.
   */
  readonly writeUnitsPerSecond: number;

  /**
   * Into how many segments the table is divided: a whole number from 1 to 256, known at synthesis. The budgets are divided among
   * them. Each segment is an execution of its own, which invokes the function until the segment is complete. A segment fails
   * when its invocation fails six times without progress. Then the execution fails, and stops the other segments.
   *
   * @default 8
   */
  readonly segments?: number;

  /**
   * When to count strays, without moving them. Put an alarm on `metricHiddenStrays`.
   *
   * @default - strays are counted only when you start an execution
   */
  readonly auditSchedule?: events.Schedule;

  /**
   * Where Step Functions writes what each segment has found and done, as JSON.
   *
   * @default - the output of the execution holds the report
   */
  readonly reportBucket?: s3.IBucket;

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

/**
 * What each state machine has that goes over a table and moves its items to their shards: metrics, and a grant of its start.
 *
 * @internal
 */
export abstract class ItemMoverBase extends Construct implements ec2.IConnectable {
  /** The function that works on a segment. */
  public abstract readonly function: lambda.Function;

  /** The state machine: to start executions, and to grant their start. */
  public abstract readonly stateMachine: sfn.StateMachine;

  /** The network connections of the function, if it runs in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }

  /**
   * Allows the start of executions.
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
   * @param props its statistic, period, label and color
   */
  public metricHiddenStrays(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.hiddenStrays, props);
  }

  /**
   * Any metric that executions write, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `HiddenStrays`
   * @param props its statistic, period, label and color
   */
  public abstract metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** What a construct says of the items that are moved. */
interface MovedItems {
  /** The property that holds the index or the table. */
  readonly property: string;
  /** What happens to the items, for the descriptions of the function and the state machine: a sentence without its end. */
  readonly description: string;
  /** What the audit looks for, in the same way. */
  readonly audit: string;
  /** The variables that describe the index or the table to the function. */
  readonly environment: Record<string, string>;
}

/** What goes over a table. */
interface ItemMover {
  readonly function: lambda.Function;
  readonly stateMachine: sfn.StateMachine;
}

/** What a mover is built from: its properties, checked, and with their defaults. The budgets may be tokens. */
interface MoverSettings {
  readonly segments: number;
  readonly readUnitsPerSecond: number;
  readonly writeUnitsPerSecond: number;
}

/** A child execution has 25,000 events of its own, and each of its outputs counts to the 256 KB of the parent's. */
const MAX_SEGMENTS = 256;

/** An invocation stops 15 seconds before its timeout. With a shorter timeout, it would never get on with its segment. */
const LEAST_TIMEOUT = { min: Duration.minutes(1), because: 'an invocation has to get on with its segment' };

function moverSettings(scope: Construct, options: ItemMoverOptions): MoverSettings {
  const props = Props.of(scope, options, { segments: 8 });
  props.duration('timeout', LEAST_TIMEOUT);
  return {
    segments: props.whole('segments', { min: 1, max: MAX_SEGMENTS, resolved: true }),
    readUnitsPerSecond: props.number('readUnitsPerSecond', { above: 0 }),
    writeUnitsPerSecond: props.number('writeUnitsPerSecond', { above: 0 }),
  };
}

/** Adds a function that works on segments of a table, and a state machine that invokes it until each of them is complete. */
export function addItemMover(scope: Construct, options: ItemMoverOptions, moved: MovedItems): ItemMover {
  const settings = moverSettings(scope, options);
  const environment = {
    ...moved.environment,
    [READ_UNITS_PER_SECOND]: Tokenization.stringifyNumber(settings.readUnitsPerSecond),
    [WRITE_UNITS_PER_SECOND]: Tokenization.stringifyNumber(settings.writeUnitsPerSecond),
    [SEGMENTS_AT_ONCE]: Tokenization.stringifyNumber(settings.segments),
  };
  const field = constructField(scope, moved.property);
  checkEnvironmentSize(
    scope,
    field,
    environment,
    'give fewer values counts of their own, or count shards for fewer values',
  );
  const { description, audit } = moved;
  const { auditSchedule } = options;
  const timeout = Duration.minutes(15);
  const bundled = { bundle: 'item-mover', description, environment, timeout, memorySize: 512 };
  const added = addBundledFunction(scope, bundled, options);
  const stateMachine = new sfn.StateMachine(scope, 'StateMachine', {
    comment: `${description}, segment by segment`,
    definitionBody: sfn.DefinitionBody.fromChainable(segmentsMap(scope, added, settings, options.reportBucket)),
    tracingEnabled: true,
    // The input of a state holds a table key. It belongs in no log.
    logs: {
      destination: addLogGroup(scope, 'StateMachineLogGroup'),
      level: sfn.LogLevel.ALL,
      includeExecutionData: false,
    },
  });
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

/** A segment is a loop: the answer of the function is its next input, until it has no point to go on from. */
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

/** CDK's feature flag of the second writer decides which of them counts. The first one is deprecated in newer versions. */
function resultWriter(scope: Construct, bucket: s3.IBucket): Partial<sfn.DistributedMapProps> {
  const isSecond = FeatureFlags.of(scope).isEnabled(STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2);
  return isSecond
    ? { resultWriterV2: new sfn.ResultWriterV2({ bucket }) }
    : { resultWriter: new sfn.ResultWriter({ bucket }) };
}

/**
 * What cdk-nag would find in the role that CDK gives the state machine. It still finds that a Distributed Map describes, stops
 * and redrives any execution of its own state machine: CDK takes no id of a finding that has an ARN.
 */
function acknowledgeStateMachine(scope: Construct, { node }: lambda.Function): void {
  const functionId = Stack.of(scope).getLogicalId(node.defaultChild as CfnElement);
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

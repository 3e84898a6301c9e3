import { type CfnElement, Duration, FeatureFlags, Stack, Token, Tokenization, Validations } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2 } from 'aws-cdk-lib/cx-api';
import type { Construct } from 'constructs';
import { constructField } from '../../construct/construct-field';
import { refuseToken } from '../../construct/refuse-token';
import { InvalidArgumentError } from '../../core/foundation/errors';
import {
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  WRITE_UNITS_PER_SECOND,
} from '../../core/foundation/function-environment';
import { addBundledFunction, addLogGroup, checkLeastTimeout } from '../../function/bundled-function';
import { checkEnvironmentSize } from '../../function/environment-size';
import type { ReshardingOptions } from './resharding-options';

/** What a construct says of its items. */
interface Resharded {
  /** The property that holds the index or the table. */
  readonly property: string;
  /** What becomes of the items, for whoever looks at the function and the state machine: a sentence without its end. */
  readonly description: string;
  /** What the audit looks for, in the same way. */
  readonly audit: string;
  /** What the function is told of the index or the table. */
  readonly environment: Record<string, string>;
}

/** What goes over a table. */
interface ReshardingMachine {
  readonly function: lambda.Function;
  readonly stateMachine: sfn.StateMachine;
}

/** A child execution has 25,000 events of its own, and each of its outputs counts to the 256 KB of the parent's. */
const MAX_SEGMENTS = 256;

const LEAST_TIMEOUT = Duration.minutes(1);

/** Adds a function that works on segments of a table, and a state machine that invokes it until each of them is complete. */
export function addReshardingMachine(
  scope: Construct,
  options: ReshardingOptions,
  resharded: Resharded,
): ReshardingMachine {
  const { segments = 8, maxConcurrency = segments, toleratedFailureCount = 0, auditSchedule } = options;
  refuseToken(constructField(scope, 'segments'), segments, `a whole number from 1 to ${MAX_SEGMENTS}`);
  checkWholeNumber(scope, 'segments', segments, 1, MAX_SEGMENTS);
  checkWholeNumber(scope, 'maxConcurrency', maxConcurrency, 1);
  checkWholeNumber(scope, 'toleratedFailureCount', toleratedFailureCount, 0);
  for (const field of ['readUnitsPerSecond', 'writeUnitsPerSecond'] as const) checkBudget(scope, field, options[field]);
  // An invocation keeps its last 15 seconds: in less time, segments would be looked at for ever, and get nowhere.
  checkLeastTimeout(scope, options.timeout, LEAST_TIMEOUT, 'an invocation has to get on with its segment');
  if (options.reportPrefix !== undefined && options.reportBucket === undefined) {
    const allowed = 'absent without a reportBucket, in which it names the reports';
    throw new InvalidArgumentError(constructField(scope, 'reportPrefix'), options.reportPrefix, allowed);
  }
  const environment = {
    ...resharded.environment,
    [READ_UNITS_PER_SECOND]: Tokenization.stringifyNumber(options.readUnitsPerSecond),
    [WRITE_UNITS_PER_SECOND]: Tokenization.stringifyNumber(options.writeUnitsPerSecond),
    [SEGMENTS_AT_ONCE]: Tokenization.stringifyNumber(maxConcurrency),
  };
  const field = constructField(scope, resharded.property);
  checkEnvironmentSize(scope, field, environment, 'give fewer values counts of their own');
  const { description } = resharded;
  const timeout = Duration.minutes(15);
  const resharder = { bundle: 'item-resharder', description, environment, timeout, memorySize: 512 };
  const added = addBundledFunction(scope, resharder, options);
  const stateMachine = new sfn.StateMachine(scope, 'StateMachine', {
    comment: `${description}, segment by segment`,
    definitionBody: sfn.DefinitionBody.fromChainable(
      segmentsMap(scope, added, options, { segments, maxConcurrency, toleratedFailureCount }),
    ),
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
      description: resharded.audit,
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
  { reportBucket, reportPrefix }: ReshardingOptions,
  { segments, ...limits }: { segments: number; maxConcurrency: number; toleratedFailureCount: number },
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
    ...limits,
    itemSelector: {
      segment: sfn.JsonPath.numberAt('$$.Map.Item.Value'),
      totalSegments: segments,
      request: sfn.JsonPath.objectAt('$$.Execution.Input'),
    },
    ...(reportBucket && resultWriter(scope, { bucket: reportBucket, ...(reportPrefix && { prefix: reportPrefix }) })),
  });
  map.itemProcessor(work.next(loop));
  const numbers = Array.from({ length: segments }, (_, segment) => segment);
  return new sfn.Pass(scope, 'ListSegments', { result: sfn.Result.fromArray(numbers) }).next(map);
}

/** CDK's feature flag of the second writer decides which of them counts. The first one is deprecated in newer versions. */
function resultWriter(
  scope: Construct,
  props: { bucket: s3.IBucket; prefix?: string },
): Partial<sfn.DistributedMapProps> {
  const isSecond = FeatureFlags.of(scope).isEnabled(STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2);
  return isSecond ? { resultWriterV2: new sfn.ResultWriterV2(props) } : { resultWriter: new sfn.ResultWriter(props) };
}

function checkWholeNumber(scope: Construct, field: string, value: number, least: number, most?: number): void {
  if (Token.isUnresolved(value)) return;
  if (Number.isInteger(value) && value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER)) return;
  const allowed = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new InvalidArgumentError(constructField(scope, field), value, `a whole number ${allowed}`);
}

function checkBudget(scope: Construct, field: string, value: number): void {
  if (Token.isUnresolved(value) || (Number.isFinite(value) && value > 0)) return;
  throw new InvalidArgumentError(constructField(scope, field), value, 'a number of units a second greater than 0');
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

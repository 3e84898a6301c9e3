import { Duration, Names, Stack, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { constructField } from '../../construct/construct-field';
import { given } from '../../construct/given';
import { problemsOf } from '../../construct/problems';
import { refuseToken } from '../../construct/refuse-token';
import { InvalidArgumentError } from '../../core/foundation/errors';
import type { ProducerTableStreamOptions } from './producer-table-stream-options';

/** Source: the Lambda developer guide, Lambda parameters for DynamoDB event source mappings. */
const MAX_BATCH_SIZE = 10_000;
const MAX_PARALLELIZATION_FACTOR = 10;
const MAX_BATCHING_WINDOW = Duration.minutes(5);

/** The least that Lambda takes. Source: the Lambda API reference, CreateEventSourceMapping. */
const MIN_RECORD_AGE = Duration.minutes(1);

/** What a table's stream keeps. Source: the DynamoDB developer guide, Change data capture for DynamoDB Streams. */
const MAX_RECORD_AGE = Duration.hours(24);

/**
 * Has a function follow a table's stream, errors named for the construct that the function is of. Batches are not bisected:
 * the function says which change failed, and Lambda goes on from there.
 */
export function followTableStream(
  owner: IConstruct,
  target: lambda.Function,
  options: ProducerTableStreamOptions,
): lambda.EventSourceMapping {
  const { table, batchSize = 100, parallelizationFactor, maxBatchingWindow } = options;
  if (table.tableStreamArn === undefined) throw streamIsOff(owner, table);
  owner.node.addValidation({ validate: () => problemsOf(() => checkStreamIsOn(owner, table)) });
  checkWhole(constructField(owner, 'batchSize'), batchSize, MAX_BATCH_SIZE);
  checkWhole(constructField(owner, 'parallelizationFactor'), parallelizationFactor, MAX_PARALLELIZATION_FACTOR);
  checkWithin(constructField(owner, 'maxBatchingWindow'), maxBatchingWindow, Duration.seconds(0), MAX_BATCHING_WINDOW);
  const mapping = target.addEventSourceMapping(
    `DynamoDBEventSource:${Names.nodeUniqueId(table.node)}`,
    given({
      eventSourceArn: table.tableStreamArn,
      startingPosition: options.startingPosition ?? lambda.StartingPosition.TRIM_HORIZON,
      batchSize,
      parallelizationFactor,
      maxBatchingWindow,
      filters: options.filters,
      filterEncryption: options.filterEncryption,
      enabled: options.enabled,
      reportBatchItemFailures: true,
      maxRecordAge: maxRecordAge(owner, options),
      onFailure: options.onFailure,
      supportS3OnFailureDestination: true,
    }),
  );
  table.grantStreamRead(target);
  return mapping;
}

/** `TableV2` has an ARN for its stream in any case, and turns it on by itself when it gets a replica. */
function checkStreamIsOn(owner: IConstruct, table: dynamodb.ITable): void {
  const resource = table.node.defaultChild;
  if (!(resource instanceof dynamodb.CfnGlobalTable)) return;
  if (Stack.of(resource).resolve(resource.streamSpecification) === undefined) throw streamIsOff(owner, table);
}

function streamIsOff(owner: IConstruct, table: dynamodb.ITable): InvalidArgumentError {
  return new InvalidArgumentError(constructField(owner, 'table'), table.node.path, 'a table whose stream is on');
}

function maxRecordAge(owner: IConstruct, { onFailure, maxRecordAge: age }: ProducerTableStreamOptions) {
  if (age === undefined) return onFailure && Duration.hours(12);
  const field = constructField(owner, 'maxRecordAge');
  if (onFailure === undefined) throw new InvalidArgumentError(field, age.toString(), 'absent without an onFailure');
  refuseToken(field, age, '1 minute to 24 hours');
  checkWithin(field, age, MIN_RECORD_AGE, MAX_RECORD_AGE);
  return age;
}

function checkWhole(field: string, value: number | undefined, most: number): void {
  if (value === undefined || Token.isUnresolved(value)) return;
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new InvalidArgumentError(field, value, `a whole number from 1 to ${most}`);
}

function checkWithin(field: string, duration: Duration | undefined, least: Duration, most: Duration): void {
  if (duration === undefined || duration.isUnresolved()) return;
  const [seconds, from, to] = [duration, least, most].map((each) => each.toMilliseconds() / 1000);
  if (seconds! >= from! && seconds! <= to!) return;
  throw new InvalidArgumentError(field, `${seconds} s`, `from ${from} s to ${to} s`);
}

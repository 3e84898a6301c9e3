import { Duration, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { IConstruct } from 'constructs';
import { constructField } from '../construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';
import { problemsOf } from '../problems';
import type { ProducerTableStreamOptions } from './producer-table-stream-options';

/** The least that Lambda takes. Source: the Lambda API reference, CreateEventSourceMapping. */
const MIN_RECORD_AGE = Duration.minutes(1);

/** What a table's stream keeps. Source: the DynamoDB developer guide, Change data capture for DynamoDB Streams. */
const MAX_RECORD_AGE = Duration.hours(24);

/**
 * A table's stream as an event source, its errors named for the construct that it is added to. Batches are not bisected:
 * the function says which change failed, and Lambda goes on from there.
 */
export function tableStreamSource(owner: IConstruct, props: ProducerTableStreamOptions): DynamoEventSource {
  const { table, onFailure } = props;
  if (table.tableStreamArn === undefined) throw streamIsOff(owner, table);
  owner.node.addValidation({ validate: () => problemsOf(() => checkStreamIsOn(owner, table)) });
  return new DynamoEventSource(table, {
    startingPosition: props.startingPosition ?? lambda.StartingPosition.TRIM_HORIZON,
    batchSize: props.batchSize ?? 100,
    reportBatchItemFailures: true,
    maxRecordAge: maxRecordAge(owner, props),
    onFailure,
  });
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
  if (age.isUnresolved()) return age;
  const [seconds, least, most] = [age, MIN_RECORD_AGE, MAX_RECORD_AGE].map((each) => each.toSeconds());
  if (seconds! >= least! && seconds! <= most!) return age;
  throw new InvalidArgumentError(field, `${seconds} s`, `from ${least} s to ${most} s`);
}

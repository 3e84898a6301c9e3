import { Duration, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { IConstruct } from 'constructs';
import { constructField } from '../construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';

/** The table that an `OrderedProducerFunction` follows, and how. */
export interface ProducerTableStreamProps {
  /** The table, of this app or imported with the ARN of its stream. Its stream must be on. */
  readonly table: dynamodb.ITable;

  /**
   * Where to begin in the table's stream.
   *
   * @default - `TRIM_HORIZON`: the oldest change that it still has
   */
  readonly startingPosition?: lambda.StartingPosition;

  /**
   * How many changes the function gets at a time: 1 to 1,000. When a change is given up, so are those behind it in its
   * batch.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * Where to put what is given up, such as an `S3OnFailureDestination`, which keeps the changes themselves; an `SqsDlq`
   * gets their sequence numbers.
   *
   * @default - nothing is given up: Lambda tries until the table's stream has the change no more
   */
  readonly onFailure?: lambda.IEventSourceDlq;

  /**
   * How old a change that fails may become before it is given up: 1 minute to 24 hours, after which the table's stream
   * has it no more. Until then it holds up its shard of the table's stream, so that order is kept. It takes an
   * `onFailure`.
   *
   * @default - 12 hours with an `onFailure`: what is held up behind the change can then be read for as long again
   */
  readonly maxRecordAge?: Duration;
}

/** What a table's stream keeps. Source: the DynamoDB developer guide, Change data capture for DynamoDB Streams. */
const RETENTION = Duration.hours(24);

/**
 * A table's stream as an event source, its errors named for the construct that it is added to. Batches are not bisected:
 * the function says which change failed, and Lambda goes on from there.
 */
export function tableStreamSource(owner: IConstruct, props: ProducerTableStreamProps): DynamoEventSource {
  const { table, onFailure } = props;
  if (table.tableStreamArn === undefined) throw streamIsOff(owner, table);
  owner.node.addValidation({ validate: () => checkStreamIsOn(owner, table) });
  return new DynamoEventSource(table, {
    startingPosition: props.startingPosition ?? lambda.StartingPosition.TRIM_HORIZON,
    batchSize: props.batchSize ?? 100,
    reportBatchItemFailures: true,
    maxRecordAge: maxRecordAge(owner, props),
    onFailure,
  });
}

/** `TableV2` has an ARN for its stream in any case, and turns it on by itself when it gets a replica. */
function checkStreamIsOn(owner: IConstruct, table: dynamodb.ITable): string[] {
  const resource = table.node.defaultChild;
  if (!(resource instanceof dynamodb.CfnGlobalTable)) return [];
  if (Stack.of(resource).resolve(resource.streamSpecification) === undefined) throw streamIsOff(owner, table);
  return [];
}

function streamIsOff(owner: IConstruct, table: dynamodb.ITable): InvalidArgumentError {
  return new InvalidArgumentError(constructField(owner, 'table'), table.node.path, 'a table whose stream is on');
}

function maxRecordAge(owner: IConstruct, { onFailure, maxRecordAge: age }: ProducerTableStreamProps) {
  if (age === undefined) return onFailure && Duration.hours(12);
  const field = constructField(owner, 'maxRecordAge');
  if (onFailure === undefined) throw new InvalidArgumentError(field, age.toString(), 'absent without an onFailure');
  if (age.isUnresolved()) return age;
  const [seconds, least, most] = [age, Duration.minutes(1), RETENTION].map((each) => each.toSeconds());
  if (seconds! >= least! && seconds! <= most!) return age;
  throw new InvalidArgumentError(field, `${seconds} s`, `from ${least} s to ${most} s`);
}

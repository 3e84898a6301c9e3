import { Duration, Names, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { given } from '../../construct/blueprint';
import { constructField, Props, problemsOf } from '../../construct/props';
import { InvalidArgumentError } from '../../core/kernel/errors';

/** The table that an `OrderedProducerFunction` follows, and how. */
export interface ProducerTableStreamOptions {
  /** The table, of this app or imported with the ARN of its stream. Its stream must be on. */
  readonly table: dynamodb.ITable;

  /**
   * Where to begin in the table's stream.
   *
   * @default - `TRIM_HORIZON`: the oldest change that it still has
   */
  readonly startingPosition?: lambda.StartingPosition;

  /**
   * The most changes that the function gets at a time: 1 to 10,000, and 6 MB in any case. When Lambda gives up a change, it
   * also gives up those behind it in its batch.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How long Lambda gathers changes before it invokes the function: 0 to 5 minutes. It invokes the function earlier once
   * the batch is full. A table's stream needs no batching window, whatever the batch size.
   *
   * @default - the function gets changes as soon as there are any
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * How many batches of a shard of the table's stream the function handles at the same time: 1 to 10. The changes of an item
   * keep their order, for Lambda gives all of them to the same one of these batches at a time. The changes of two items have
   * no order between them, as they have none between two shards. A change that fails holds up the items that share its
   * batches, and no others.
   *
   * @default 1
   * @see https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html
   */
  readonly parallelizationFactor?: number;

  /**
   * Which changes become records, such as
   * `[lambda.FilterCriteria.filter({ eventName: lambda.FilterRule.isEqual('INSERT') })]`: those that match one of up to five
   * filters. The others are gone for the function, and the rest keep their order.
   *
   * @default - all changes
   * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
   */
  // biome-ignore lint/suspicious/noExplicitAny: the type that lambda.FilterCriteria.filter returns
  readonly filters?: { [key: string]: any }[];

  /**
   * Whether the function follows the table now. Switched off, Lambda keeps its position in the stream, for as long as the table's stream keeps
   * the changes: 24 hours.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * Where Lambda puts changes that it gives up. An `S3OnFailureDestination` keeps the changes themselves; an `SqsDlq` gets
   * only their sequence numbers.
   *
   * @default - Lambda tries until the table's stream no longer has the change
   */
  readonly onFailure?: lambda.IEventSourceDlq;

  /**
   * The age at which Lambda gives up a change that fails: 1 minute to 24 hours, known at synthesis. The table's stream
   * keeps no change longer. Until then the change holds up its shard of the table's stream, so that order is kept. Give an
   * `onFailure` with it.
   *
   * @default - 12 hours with an `onFailure`: the changes behind it are then in the table's stream for 12 hours more
   */
  readonly maxRecordAge?: Duration;
}

/** Source: the Lambda developer guide, Lambda parameters for DynamoDB event source mappings. */
const MAX_BATCH_SIZE = 10_000;
const MAX_PARALLELIZATION_FACTOR = 10;
const MAX_BATCHING_WINDOW = Duration.minutes(5);

/**
 * Lambda takes at least a minute, and a table's stream keeps a change for 24 hours. Source: the Lambda API reference,
 * CreateEventSourceMapping; the DynamoDB developer guide, "Change data capture for DynamoDB Streams".
 */
const RECORD_AGES = { min: Duration.minutes(1), max: Duration.hours(24) };

/**
 * Has a function follow a table's stream, errors named for the construct that the function is of. Batches are not bisected:
 * the function says which change failed, and Lambda goes on from there.
 */
export function followTableStream(
  owner: IConstruct,
  target: lambda.Function,
  options: ProducerTableStreamOptions,
): lambda.EventSourceMapping {
  const { table } = options;
  if (table.tableStreamArn === undefined) throw streamIsOff(owner, table);
  owner.node.addValidation({ validate: () => problemsOf(() => checkStreamIsOn(owner, table)) });
  const props = Props.of(owner, options, {
    batchSize: 100,
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
  });
  const mapping = target.addEventSourceMapping(
    `DynamoDBEventSource:${Names.nodeUniqueId(table.node)}`,
    given({
      eventSourceArn: table.tableStreamArn,
      startingPosition: props.value('startingPosition'),
      batchSize: props.whole('batchSize', { min: 1, max: MAX_BATCH_SIZE }),
      parallelizationFactor: props.whole('parallelizationFactor', { min: 1, max: MAX_PARALLELIZATION_FACTOR }),
      maxBatchingWindow: props.duration('maxBatchingWindow', { max: MAX_BATCHING_WINDOW }),
      filters: options.filters,
      enabled: options.enabled,
      reportBatchItemFailures: true,
      maxRecordAge: maxRecordAge(props, options),
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

function maxRecordAge(
  props: Props<ProducerTableStreamOptions>,
  { onFailure, maxRecordAge }: ProducerTableStreamOptions,
) {
  if (maxRecordAge !== undefined && onFailure === undefined) {
    throw props.refusal('maxRecordAge', maxRecordAge.toString(), 'absent without an onFailure');
  }
  return props.duration('maxRecordAge', { ...RECORD_AGES, known: true }) ?? (onFailure && Duration.hours(12));
}

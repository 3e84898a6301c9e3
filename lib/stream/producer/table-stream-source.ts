import { Duration, Names } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { withoutUndefined } from '../../construct/blueprint';
import { grantOnSourceKey } from '../../construct/grant-on-key';
import { Props } from '../../construct/props';
import { requireTableStream } from '../../construct/table-stream';
import { checkFailureDestination } from '../../function/failure-destination';

/**
 * A table whose stream is an event source of an `OrderedProducerFunction`, and the settings of the event source
 * mapping.
 */
export interface ProducerTableStreamOptions {
  /** The table, defined in this app or imported with the ARN of its stream. The table must have a stream. */
  readonly table: dynamodb.ITable;

  /**
   * Where Lambda begins to read the table's stream.
   *
   * @default - `TRIM_HORIZON`: the oldest change that the stream still has
   */
  readonly startingPosition?: lambda.StartingPosition;

  /**
   * The maximum number of changes in a batch: 1 to 10,000. A batch also has at most 6 MB. When Lambda gives up a
   * change, it also gives up the later changes of the batch.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How long Lambda collects changes before it invokes the function: 0 to 5 minutes. Lambda invokes the function
   * earlier if the batch is full. A table's stream needs no batching window, even for large batches.
   *
   * @default - Lambda invokes the function as soon as there are changes
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * The number of batches that Lambda processes in parallel for each shard of the table's stream, from 1 to 10. The
   * changes of an item keep their order. Lambda never processes two batches with changes of the same item in parallel.
   * There is no order between changes of different items. A failed change blocks only the items whose changes are in
   * the same batches.
   *
   * @default 1
   * @see https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html
   */
  readonly parallelizationFactor?: number;

  /**
   * Which changes become records, such as `[lambda.FilterCriteria.filter({ eventName:
   * lambda.FilterRule.isEqual('INSERT') })]`. A change becomes a record if it matches one of up to five filters. Lambda
   * drops the other changes. The records keep their order.
   *
   * @default - all changes
   * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
   */
  // biome-ignore lint/suspicious/noExplicitAny: the type that lambda.FilterCriteria.filter returns
  readonly filters?: { [key: string]: any }[];

  /**
   * Whether the event source mapping is enabled. While the mapping is disabled, Lambda keeps the position of the
   * mapping in the table's stream. The stream keeps changes for only 24 hours.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * The on-failure destination for changes that Lambda gives up. An `S3OnFailureDestination` receives the changes
   * themselves. An `SqsDlq` receives only their sequence numbers. Lambda supports no FIFO queue and no FIFO topic.
   *
   * @default - Lambda retries until the table's stream no longer has the change
   */
  readonly onFailure?: lambda.IEventSourceDlq;

  /**
   * The age at which Lambda gives up a failed change: 1 minute to 24 hours, the retention of a table's stream. It must
   * not be a token. Until then the change blocks its shard of the table's stream, so that changes keep their order. It
   * requires `onFailure`.
   *
   * @default - 12 hours with an `onFailure`, so that the later changes stay in the table's stream for 12 more hours
   */
  readonly maxRecordAge?: Duration;
}

/** Source: the Lambda developer guide, Lambda parameters for DynamoDB event source mappings. */
const MAX_BATCH_SIZE = 10_000;
const MAX_PARALLELIZATION_FACTOR = 10;
const MAX_BATCHING_WINDOW = Duration.minutes(5);

/**
 * Lambda accepts ages of at least a minute, and a table's stream keeps a change for 24 hours. Source: the Lambda API
 * reference, CreateEventSourceMapping; the DynamoDB developer guide, "Change data capture for DynamoDB Streams".
 */
const RECORD_AGES = { min: Duration.minutes(1), max: Duration.hours(24) };

/**
 * Adds a table's stream as an event source of a function. Batches are not bisected, because the function reports the
 * failed change and Lambda continues from that change.
 *
 * @param owner the construct of the function; the errors contain its path
 */
export function followTableStream(
  owner: IConstruct,
  target: lambda.Function,
  options: ProducerTableStreamOptions,
): lambda.EventSourceMapping {
  const { table } = options;
  const eventSourceArn = requireTableStream(owner, table);
  const props = Props.of(owner, options, {
    batchSize: 100,
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
  });
  const mapping = target.addEventSourceMapping(
    `DynamoDBEventSource:${Names.nodeUniqueId(table.node)}`,
    withoutUndefined({
      eventSourceArn,
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
  checkFailureDestination(owner, mapping.node.defaultChild);
  table.grantStreamRead(target);
  grantOnSourceKey(table.encryptionKey, target, ['kms:Decrypt'], 'OrderedProducerFunction');
  return mapping;
}

function maxRecordAge(
  props: Props<ProducerTableStreamOptions>,
  { onFailure, maxRecordAge }: ProducerTableStreamOptions,
) {
  if (maxRecordAge !== undefined && onFailure === undefined) {
    throw props.refusal('maxRecordAge', maxRecordAge.toString(), 'absent without an onFailure');
  }
  return props.duration('maxRecordAge', { ...RECORD_AGES, resolved: true }) ?? (onFailure && Duration.hours(12));
}

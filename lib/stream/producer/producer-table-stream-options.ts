import type { Duration } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';

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
   * The most changes that the function gets at a time: 1 to 10,000, and 6 MB in any case. When a change is given up, so are
   * those behind it in its batch.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How long Lambda gathers changes before it invokes the function: 0 to 5 minutes. It invokes the function earlier once
   * the batch is full. A table's stream needs no window, whatever the batch size.
   *
   * @default - none: the function gets at once what is there
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
   * A customer-managed key to encrypt the filters with. Lambda must be allowed to decrypt with it.
   *
   * @default - encrypted with a key that AWS owns
   */
  readonly filterEncryption?: kms.IKey;

  /**
   * Whether the function follows the table now. Switched off, the place is kept, for as long as the table's stream keeps
   * the changes: 24 hours.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * Where to put what is given up, such as an `S3OnFailureDestination`, which keeps the changes themselves; an `SqsDlq`
   * gets their sequence numbers.
   *
   * @default - nothing is given up: Lambda tries until the table's stream has the change no more
   */
  readonly onFailure?: lambda.IEventSourceDlq;

  /**
   * How old a change that fails may become before it is given up: 1 minute to 24 hours, known at synthesis, after which the table's stream
   * has it no more. Until then it holds up its shard of the table's stream, so that order is kept. It takes an
   * `onFailure`.
   *
   * @default - 12 hours with an `onFailure`: what is held up behind the change can then be read for as long again
   */
  readonly maxRecordAge?: Duration;
}

import type { Duration } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
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

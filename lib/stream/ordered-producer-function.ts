import { Duration, type Size, Stack, Tokenization } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { constructField } from '../construct-field';
import { MAX_RECORD_BYTES, STREAM_NAME } from '../core/function-environment';
import { addBundledFunction } from '../function/bundled-function';
import type { BundledFunctionOptions } from '../function/bundled-function-options';
import { maxRecordBytes } from './max-record-size';
import { checkRecordDistribution } from './record-distribution';
import { checkStreamEnvironment } from './stream-environment';
import { StreamProduceGrants } from './stream-produce-grants';

/** Properties of an `OrderedProducerFunction`. */
export interface OrderedProducerFunctionProps extends BundledFunctionOptions {
  /**
   * The stream to write to, of this app or imported, in the function's own account and region, where it is looked up by
   * its name. Not one whose record distribution strategy is `AUTO`: it ignores partition keys and explicit hash keys, and
   * with them the order this function keeps.
   */
  readonly stream: kinesis.IStream;

  /**
   * The size limit of a record, its partition key included: 1 MiB to 10 MiB. Raise it along with the stream's own
   * (`MaxRecordSizeInKiB`); the function refuses a larger record by itself, instead of sending what Kinesis would refuse.
   *
   * @default - 1 MiB, the limit of a stream that was not given another
   * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateMaxRecordSize.html
   */
  readonly maxRecordSize?: Size;

  /**
   * How long one invocation may take. It must outlast the retries of a throttled stream; with an SQS queue as the
   * source, give the queue a visibility timeout six times as long.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default - 512, room for the largest event (6 MB) several times over: as it came, parsed, encoded and in flight
   */
  readonly memorySize?: number;
}

/**
 * A function that writes records to a Kinesis stream in bulk and, within one invocation, keeps the order of every
 * partition key through every partial failure.
 *
 * Use it as the single door to a stream for callers that should not have to know about partial failures: invoke it
 * with `{ "records": [{ "partitionKey", "data" }] }`, or make it the consumer of an SQS queue or a DynamoDB stream. It
 * comes with a role of its own that can write to this stream and to its log group, and nothing else.
 *
 * Invocations that run at the same time have no order between them. Where a key must keep its order across invocations,
 * wait for the answer of one before invoking the next, or use a FIFO queue or a DynamoDB stream, which deliver one
 * batch of a key at a time; a standard queue does not.
 *
 * Switch `reportBatchItemFailures` on for either source, so that only what failed is delivered again, and give what
 * keeps failing a place to go: a queue its own dead-letter queue; for a DynamoDB stream, the event source's
 * `retryAttempts`, `bisectBatchOnError` and an `onFailure` destination, or one change that can never be written holds up
 * its shard until it expires. A stream resumes at the lowest sequence number that failed, so the changes behind that one
 * are delivered, and those already written are written, again.
 *
 * Throws `InvalidArgumentError` if the stream's record distribution strategy is `AUTO`, when it is constructed or, if
 * that is set later, when the app is synthesized; if the stream is known to be in another account or region; and if
 * the record size limit is none that a stream can have.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 */
export class OrderedProducerFunction extends Construct {
  /** The function: to invoke it, grant its invocation, or add an event source. */
  public readonly function: lambda.Function;

  /**
   * A function with a role and a log group of its own.
   *
   * @param scope the construct to add the function to, usually `this`
   * @param id the function's name within the scope
   * @param props the stream to write to, and how to run
   */
  constructor(scope: Construct, id: string, props: OrderedProducerFunctionProps) {
    super(scope, id);
    checkStreamEnvironment(constructField(this, 'stream'), props.stream, Stack.of(this));
    const checkStream = () => checkRecordDistribution(constructField(this, 'stream'), props.stream);
    checkStream();
    this.node.addValidation({
      validate: () => {
        checkStream();
        return [];
      },
    });
    this.function = addBundledFunction(this, {
      bundle: 'producer',
      description: 'Writes records to a Kinesis stream, in order per partition key',
      environment: {
        [STREAM_NAME]: props.stream.streamName,
        ...(props.maxRecordSize && {
          [MAX_RECORD_BYTES]: Tokenization.stringifyNumber(
            maxRecordBytes(constructField(this, 'maxRecordSize'), props.maxRecordSize),
          ),
        }),
      },
      timeout: props.timeout ?? Duration.minutes(1),
      memorySize: props.memorySize ?? 512,
      runtime: props.runtime,
      logRetention: props.logRetention,
    });
    StreamProduceGrants.fromStream(props.stream).produce(this.function);
  }
}

import { Duration } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { constructField } from '../construct-field';
import { STREAM_NAME } from '../core/function-environment';
import { addBundledFunction } from '../function/bundled-function';
import type { BundledFunctionOptions } from '../function/bundled-function-options';
import { checkRecordDistribution } from './record-distribution';
import { StreamProduceGrants } from './stream-produce-grants';

/** Properties of an `OrderedProducerFunction`. */
export interface OrderedProducerFunctionProps extends BundledFunctionOptions {
  /**
   * The stream to write to, of this app or imported. Not one whose record distribution strategy is `AUTO`: it ignores
   * partition keys and explicit hash keys, and with them the order this function keeps.
   */
  readonly stream: kinesis.IStream;

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
 * A function that writes records to a Kinesis stream in bulk and keeps the order of every partition key, whatever
 * fails on the way.
 *
 * Use it as the single door to a stream for callers that should not have to know about partial failures: invoke it
 * with `{ "records": [{ "partitionKey", "data" }] }`, or make it the consumer of an SQS queue or a DynamoDB stream
 * with partial batch responses. It comes with a role of its own that can write to this stream and to its log group,
 * and nothing else.
 *
 * Throws `InvalidArgumentError` if the stream's record distribution strategy is `AUTO`, when it is constructed or, if
 * that is set later, when the app is synthesized.
 */
export class OrderedProducerFunction extends Construct {
  /** The function: to invoke it, grant its invocation, or add an event source. */
  public readonly function: lambda.Function;

  constructor(scope: Construct, id: string, props: OrderedProducerFunctionProps) {
    super(scope, id);
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
      environment: { [STREAM_NAME]: props.stream.streamName },
      timeout: props.timeout ?? Duration.minutes(1),
      memorySize: props.memorySize ?? 512,
      runtime: props.runtime,
      logRetention: props.logRetention,
    });
    StreamProduceGrants.fromStream(props.stream).produce(this.function);
  }
}

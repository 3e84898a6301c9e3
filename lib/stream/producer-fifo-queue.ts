import { Duration, Token } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { constructField } from '../construct-field';
import { InvalidArgumentError } from '../core/foundation/errors';
import { given } from '../given';

/** Properties of a FIFO queue in front of an `OrderedProducerFunction`. */
export interface ProducerFifoQueueOptions {
  /**
   * How often a message is delivered to the function before it goes to the dead-letter queue: 1 to 1,000.
   *
   * A message that failed comes again after the visibility timeout, so this is how long an outage of the stream may last
   * before messages are set aside. When one is, the later ones of its group go on without it; those that came in the same
   * batches were delivered as often, and go with it.
   *
   * @default - 10, an hour with the function's default timeout
   */
  readonly maxReceiveCount?: number;

  /**
   * How long a message that was delivered stays hidden, and with it its group, before it is delivered again: at least
   * the function's timeout, at most 12 hours. Give it where the function's timeout is known at deployment only.
   *
   * @default - six times the function's timeout
   * @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
   */
  readonly visibilityTimeout?: Duration;

  /**
   * Whether SQS takes messages of one group with the same body, within five minutes, for one. Switch it on only where
   * no two records of a key are ever alike; else give each message a deduplication id.
   *
   * @default false
   */
  readonly contentBasedDeduplication?: boolean;

  /**
   * A customer-managed key to encrypt messages with, in both queues. Who sends needs `kms:GenerateDataKey` and
   * `kms:Decrypt` on it, which `queue.grantSendMessages` gives.
   *
   * @default - encrypted with a key that SQS manages, which needs no permission
   */
  readonly encryptionKey?: kms.IKey;
}

/** Source: the Lambda developer guide, Using Lambda with Amazon SQS: room for retries when invocations are throttled. */
const VISIBILITY_FACTOR = 6;

/** Source: the Amazon SQS API reference, SetQueueAttributes. */
const MAX_VISIBILITY_TIMEOUT = Duration.hours(12);
const MAX_RETENTION_PERIOD = Duration.days(14);
const MAX_RECEIVE_COUNT = 1_000;

/** Source: the Lambda developer guide: the most that Lambda takes from a FIFO queue at a time. */
const BATCH_SIZE = 10;

/**
 * A FIFO queue whose messages an `OrderedProducerFunction` writes to its stream: made by `addFifoQueue`.
 *
 * Lambda delivers the messages of a group one batch at a time, and the function reports which failed, so a group keeps
 * its order across invocations: what failed comes again, before what is behind it. Groups go side by side. Both queues
 * are encrypted, take requests over TLS only, and keep messages for 14 days.
 */
export class ProducerFifoQueue extends Construct {
  /** @internal */
  public static _add(scope: Construct, id: string, target: lambda.Function, props: ProducerFifoQueueOptions) {
    return new ProducerFifoQueue(scope, id, target, props);
  }

  /**
   * Where to send messages; `grantSendMessages` lets others. The body is a record in JSON, as in the function's event;
   * its partition key is the message group, unless it has another.
   */
  public readonly queue: sqs.Queue;

  /**
   * Where messages go that were delivered too often, in order. When what they failed of is fixed, move them back
   * (StartMessageMoveTask): they then are behind what was written meanwhile.
   */
  public readonly deadLetterQueue: sqs.Queue;

  private constructor(scope: Construct, id: string, target: lambda.Function, props: ProducerFifoQueueOptions) {
    super(scope, id);
    const { maxReceiveCount = 10 } = props;
    this.checkMaxReceiveCount(maxReceiveCount);
    const common: sqs.QueueProps = {
      fifo: true,
      retentionPeriod: MAX_RETENTION_PERIOD,
      encryption: props.encryptionKey ? sqs.QueueEncryption.KMS : sqs.QueueEncryption.SQS_MANAGED,
      encryptionMasterKey: props.encryptionKey,
      enforceSSL: true,
    };
    this.deadLetterQueue = new sqs.Queue(this, 'DeadLetterQueue', given(common));
    this.queue = new sqs.Queue(
      this,
      'Queue',
      given({
        ...common,
        contentBasedDeduplication: props.contentBasedDeduplication,
        deduplicationScope: sqs.DeduplicationScope.MESSAGE_GROUP,
        fifoThroughputLimit: sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        visibilityTimeout: this.visibilityTimeout(target, props),
        deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount },
      }),
    );
    target.addEventSource(new SqsEventSource(this.queue, { batchSize: BATCH_SIZE, reportBatchItemFailures: true }));
  }

  private checkMaxReceiveCount(count: number): void {
    if (Token.isUnresolved(count)) return;
    if (Number.isInteger(count) && count >= 1 && count <= MAX_RECEIVE_COUNT) return;
    const allowed = `a whole number from 1 to ${MAX_RECEIVE_COUNT}`;
    throw new InvalidArgumentError(constructField(this, 'maxReceiveCount'), count, allowed);
  }

  /** CloudFormation cannot multiply: a timeout that only the deployment knows leaves nothing to compute from. */
  private visibilityTimeout({ timeout }: lambda.Function, { visibilityTimeout }: ProducerFifoQueueOptions): Duration {
    const field = constructField(this, 'visibilityTimeout');
    if (timeout === undefined || timeout.isUnresolved()) {
      if (visibilityTimeout !== undefined) return visibilityTimeout;
      throw new InvalidArgumentError(field, undefined, "given where the function's timeout is a token");
    }
    if (visibilityTimeout === undefined) return Duration.seconds(VISIBILITY_FACTOR * timeout.toSeconds());
    if (visibilityTimeout.isUnresolved()) return visibilityTimeout;
    const [seconds, least, most] = [visibilityTimeout, timeout, MAX_VISIBILITY_TIMEOUT].map((each) => each.toSeconds());
    if (seconds! >= least! && seconds! <= most!) return visibilityTimeout;
    throw new InvalidArgumentError(field, `${seconds} s`, `from the function's timeout, ${least} s, to ${most} s`);
  }
}

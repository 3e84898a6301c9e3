import { Reference, Tokenization } from 'aws-cdk-lib';
import * as sns from 'aws-cdk-lib/aws-sns';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import { constructField } from '../construct/props';
import { InvalidArgumentError } from '../core/kernel/errors';

/**
 * Checks the on-failure destination of an event source mapping or of asynchronous invocations. Lambda supports only standard
 * queues and standard topics, and a Kafka topic only for events of Kafka, but CDK accepts every destination.
 *
 * Source: the Lambda developer guide, "Retain discarded batch records" and "Capturing records of Lambda asynchronous invocations".
 *
 * @param owner the construct with the property `onFailure`
 * @param resource the L1 construct with the `destinationConfig`. Any other construct has no destination
 * @throws InvalidArgumentError if Lambda rejects the destination
 */
export function checkFailureDestination(owner: IConstruct, resource: IConstruct | undefined): void {
  const { destinationConfig } = Object(resource);
  const { destination } = Object(Object(destinationConfig).onFailure);
  if (typeof destination !== 'string') return;
  const kind = unsupportedKind(destination);
  if (kind === undefined) return;
  throw new InvalidArgumentError(
    constructField(owner, 'onFailure'),
    kind,
    'a destination that Lambda supports: no FIFO queue, FIFO topic or Kafka topic',
  );
}

function unsupportedKind(destination: string): string | undefined {
  if (destination.startsWith('kafka://')) return 'a Kafka topic';
  const { firstToken } = Tokenization.reverseString(destination);
  const target = Reference.isReference(firstToken) ? firstToken.target : undefined;
  if (target instanceof sqs.CfnQueue && target.fifoQueue === true) return 'a FIFO queue';
  if (target instanceof sns.CfnTopic && target.fifoTopic === true) return 'a FIFO topic';
  return destination.endsWith('.fifo') ? 'a FIFO queue or topic' : undefined;
}

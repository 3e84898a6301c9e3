import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Context, DynamoDBRecord, SQSBatchResponse, SQSRecord } from 'aws-lambda';
import { STREAM_NAME } from '../../lib/core/function-environment';
import { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import { InvalidEventError } from '../invalid-event-error';
import { requiredEnvironment } from '../required-environment';
import { deliverMessages, deliverRecords, type ProducerResponse } from './deliver';
import { sourceMessages } from './event-source';
import { parseRecordInput } from './record-input';

/** A direct invocation, or what Lambda delivers from SQS and DynamoDB Streams. */
export type ProducerEvent = { records: unknown[] } | { Records: (SQSRecord | DynamoDBRecord)[] };

/** Kept back from the invocation's time, to answer for what could not be sent. */
const RESPONSE_TIME_MS = 1_000;

/** A request that takes longer is given up and sent again. */
const REQUEST_TIMEOUT_MS = 6_000;

const streamName = requiredEnvironment(STREAM_NAME);

/**
 * HTTP/1.1, because the SDK's default for Kinesis, HTTP/2, needs TLS, which emulators lack; no retries in the SDK,
 * because the producer's own know about order.
 */
const kinesis = new Kinesis({
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler({ requestTimeout: REQUEST_TIMEOUT_MS, throwOnRequestTimeout: true }),
});

export async function handler(
  event: ProducerEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<ProducerResponse | SQSBatchResponse> {
  const deliver = deliveryOf(event);
  const timeLeft = Math.max(0, context.getRemainingTimeInMillis() - RESPONSE_TIME_MS);
  const producer = new OrderedProducer(kinesis, { streamName, signal: AbortSignal.timeout(timeLeft) });
  try {
    return await deliver(producer);
  } finally {
    await producer.close();
  }
}

/** Reads the whole event first, so that a malformed one is refused before anything is written. */
function deliveryOf(event: ProducerEvent): (producer: OrderedProducer) => Promise<ProducerResponse | SQSBatchResponse> {
  if ('Records' in Object(event)) {
    const { Records } = event as { Records: unknown };
    if (!Array.isArray(Records)) throw new InvalidEventError('Records', Records, 'an array');
    const messages = sourceMessages(Records);
    return (producer) => deliverMessages(producer, messages);
  }
  const inputs: unknown = Object(event).records;
  if (!Array.isArray(inputs)) throw new InvalidEventError('records', inputs, 'an array of records');
  const records = inputs.map((input, index) => parseRecordInput(`records[${index}]`, input));
  return (producer) => deliverRecords(producer, records);
}

import type { SQSBatchResponse } from 'aws-lambda';
import { EarlierRecordFailedError, EvenShardsError, RecordRejectedError } from '../../lib/core/errors';
import type { PutReceipt } from '../../lib/core/producer/lane';
import type { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import type { ProducerRecord } from '../../lib/core/producer/producer-record';
import type { SourceMessage } from './event-source';

/** What became of one record of a direct invocation. */
export type RecordResult = PutReceipt | RecordFailure;

export interface RecordFailure {
  errorCode: string;
  errorMessage: string;
  /** Present if an answer was lost, so that the record may be in the stream all the same. */
  mayHaveBeenWritten?: true;
}

export interface ProducerResponse {
  /** Index for index the records of the event. */
  records: RecordResult[];
  failedRecordCount: number;
}

/** Keeps the response to the largest event within Lambda's 6 MB, even if every record failed. */
const MAX_ERROR_MESSAGE_LENGTH = 300;

/** Puts the records of a direct invocation and reports each. */
export async function deliverRecords(
  producer: OrderedProducer,
  records: readonly ProducerRecord[],
): Promise<ProducerResponse> {
  const results = await Promise.all(records.map((record) => producer.put(record).catch(failureOf)));
  return { records: results, failedRecordCount: results.filter((result) => 'errorCode' in result).length };
}

/**
 * Puts the messages of a batch and reports those that failed, for the source to deliver again. Once a message failed,
 * the later ones of its key are not sent but reported too, so that they come again in order.
 */
export async function deliverMessages(
  producer: OrderedProducer,
  messages: readonly SourceMessage[],
): Promise<SQSBatchResponse> {
  const failedKeys = new Set<string>();
  const failures = await Promise.all(messages.map((message) => deliverMessage(producer, message, failedKeys)));
  return {
    batchItemFailures: messages
      .filter((_, index) => failures[index] !== undefined)
      .map(({ identifier }) => ({ itemIdentifier: identifier })),
  };
}

/**
 * Hands a message to the producer before it first waits, so that messages go in order. A message that cannot be read
 * blocks its keys here; a record that Kinesis refuses blocks its key in the producer.
 */
async function deliverMessage(
  producer: OrderedProducer,
  { orderingKeys, record }: SourceMessage,
  failedKeys: Set<string>,
): Promise<unknown> {
  const failedKey = orderingKeys.find((key) => failedKeys.has(key));
  const unsent = failedKey === undefined ? record : new EarlierRecordFailedError(failedKey);
  if (unsent instanceof Error) {
    for (const key of orderingKeys) failedKeys.add(key);
    return unsent;
  }
  return producer.put(unsent).then(
    () => undefined,
    (error) => error,
  );
}

function failureOf(error: unknown): RecordResult {
  if (!(error instanceof EvenShardsError)) throw error;
  const isAmbiguous = error instanceof RecordRejectedError && error.mayHaveBeenWritten;
  return {
    errorCode: error.code,
    errorMessage: error.message.slice(0, MAX_ERROR_MESSAGE_LENGTH),
    ...(isAmbiguous && { mayHaveBeenWritten: true }),
  };
}

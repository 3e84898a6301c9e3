import type { SQSBatchResponse } from 'aws-lambda';
import { EvenShardsError } from '../../lib/core/foundation/errors';
import type { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import type { PutReceipt } from '../../lib/core/producer/pending-record';
import { RecordRejectedError } from '../../lib/core/producer/producer-errors';
import type { ProducerRecord } from '../../lib/core/producer/producer-record';
import type { SourceMessage } from './event-source';

/** The result of one record of a direct invocation. */
export type RecordResult = PutReceipt | RecordFailure;

export interface RecordFailure {
  errorCode: string;
  errorMessage: string;
  /** Present if an answer was lost. The record may then be in the stream although it is reported as failed. */
  mayHaveBeenWritten?: true;
}

export interface ProducerResponse {
  /** The results of the records, in the order of the event. */
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
  const results = await putEach(producer, records);
  return { records: results, failedRecordCount: results.filter(isFailure).length };
}

/**
 * Puts the messages of a batch and reports those that failed, so that the source delivers them again. After a message
 * has failed, it does not send the later messages of its key but reports them too, so that they come again in order.
 */
export async function deliverMessages(
  producer: OrderedProducer,
  messages: readonly SourceMessage[],
): Promise<SQSBatchResponse> {
  const toSend = unblocked(messages);
  const results = await putEach(
    producer,
    toSend.map(({ record }) => record),
  );
  const delivered = new Set<SourceMessage>(toSend.filter((_, index) => !isFailure(results[index]!)));
  return {
    batchItemFailures: messages
      .filter((message) => !delivered.has(message))
      .map(({ identifier }) => ({ itemIdentifier: identifier })),
  };
}

type ReadableMessage = SourceMessage & { record: ProducerRecord };

/** The messages that hold a record, without those behind a message of the same key that does not hold one. */
function unblocked(messages: readonly SourceMessage[]): ReadableMessage[] {
  const blockedKeys = new Set<string>();
  return messages.filter((message): message is ReadableMessage => {
    const { orderingKeys, record } = message;
    if (!(record instanceof Error) && !orderingKeys.some((key) => blockedKeys.has(key))) return true;
    for (const key of orderingKeys) blockedKeys.add(key);
    return false;
  });
}

/** The results of the records, in order. If a record fails, even before it is sent, the records behind it fail too. */
async function putEach(producer: OrderedProducer, records: readonly ProducerRecord[]): Promise<RecordResult[]> {
  const results: RecordResult[] = [];
  try {
    await producer.putAll(records, {
      delivered: (index, _, receipt) => {
        results[index] = receipt;
      },
      rejected: (index, _, error) => {
        results[index] = failureOf(error);
      },
    });
  } catch (error) {
    // The producer ended before it had pulled all.
    const unsent = failureOf(error);
    for (const index of records.keys()) results[index] ??= unsent;
  }
  return results;
}

function isFailure(result: RecordResult): result is RecordFailure {
  return 'errorCode' in result;
}

function failureOf(error: unknown): RecordFailure {
  if (!(error instanceof EvenShardsError)) throw error;
  const isAmbiguous = error instanceof RecordRejectedError && error.mayHaveBeenWritten;
  return {
    errorCode: error.code,
    errorMessage: error.message.slice(0, MAX_ERROR_MESSAGE_LENGTH),
    ...(isAmbiguous && { mayHaveBeenWritten: true }),
  };
}

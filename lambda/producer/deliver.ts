import type { SQSBatchResponse } from 'aws-lambda';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import type { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import type { PutReceipt } from '../../lib/core/producer/pending-record';
import { EarlierRecordFailedError, RecordRejectedError } from '../../lib/core/producer/producer-errors';
import type { ProducerRecord } from '../../lib/core/producer/producer-record';
import type { SourceMessage } from './event-source';
import { type FailureTally, OUT_OF_TIME, reasonOf } from './failure-tally';
import { OwnerKeyError } from './owner-key-error';
import type { OwnedRecord } from './record-input';

/** The result of one record of a direct invocation. */
type RecordResult = PutReceipt | RecordFailure;

interface RecordFailure {
  errorCode: string;
  errorMessage: string;
  /**
   * Present if the response of Kinesis was lost. The record may then be in the stream although it is reported as
   * failed.
   */
  mayHaveBeenWritten?: true;
  /**
   * Whether another attempt may succeed. Present only if the registry did not return the hash key of the record's
   * owner.
   */
  isRetryable?: boolean;
}

export interface ProducerResponse {
  /** The results of the records, in the order of the event. */
  records: RecordResult[];
  failedRecordCount: number;
}

/**
 * The maximum length of an error message. It keeps the response to the largest event below Lambda's limit of 6 MB, even
 * if every record failed.
 */
const MAX_ERROR_MESSAGE_LENGTH = 300;

/** Puts the records of a direct invocation and returns a result for each record. */
export async function deliverRecords(
  producer: OrderedProducer,
  records: readonly OwnedRecord[],
  failures: FailureTally,
): Promise<ProducerResponse> {
  const results = await putEach(producer, records, failures);
  return { records: results, failedRecordCount: results.filter(isFailure).length };
}

/**
 * Puts the messages of a batch and reports failed messages, so that the source delivers them again. After a failure,
 * the later messages of the same key or group are not sent. They are reported as failed too, so that the source
 * delivers them again in order.
 */
export async function deliverMessages(
  producer: OrderedProducer,
  messages: readonly SourceMessage[],
  failures: FailureTally,
): Promise<SQSBatchResponse> {
  const delivered = new Set<SourceMessage>();
  const blockedKeys = new Set<string>();
  for (const round of rounds(messages)) {
    const toSend = unblocked(round, blockedKeys, failures);
    const results = await putEach(
      producer,
      toSend.map(({ record }) => record),
      failures,
    );
    for (const [index, message] of toSend.entries()) {
      if (isFailure(results[index]!)) block(blockedKeys, message);
      else delivered.add(message);
    }
  }
  return {
    batchItemFailures: messages
      .filter((message) => !delivered.has(message))
      .map(({ identifier }) => ({ itemIdentifier: identifier })),
  };
}

type ReadableMessage = SourceMessage & { record: ProducerRecord };

/**
 * Divides messages into rounds. The function sends a round after it has the results of the previous round. The producer
 * keeps the order of a partition key, so consecutive records of a key are in one round. If a message group has several
 * partition keys, a message with another key is in a later round: it must wait for the acknowledgement of the earlier
 * messages.
 */
function rounds(messages: readonly SourceMessage[]): SourceMessage[][] {
  const found: SourceMessage[][] = [];
  const lastOf = new Map<string, { round: number; partitionKey?: string }>();
  for (const message of messages) {
    const partitionKey = message.record instanceof Error ? undefined : message.record.partitionKey;
    const earliest = message.orderingKeys.map((key) => {
      const last = lastOf.get(key);
      if (last === undefined) return 0;
      return last.partitionKey === partitionKey ? last.round : last.round + 1;
    });
    const round = Math.max(0, ...earliest);
    for (const key of message.orderingKeys) lastOf.set(key, { round, partitionKey });
    found[round] ??= [];
    found[round].push(message);
  }
  return found;
}

/** The messages that may be sent: they contain a valid record, and no earlier message of their key or group has failed. */
function unblocked(
  messages: readonly SourceMessage[],
  blockedKeys: Set<string>,
  failures: FailureTally,
): ReadableMessage[] {
  return messages.filter((message): message is ReadableMessage => {
    const { orderingKeys, record } = message;
    const isUnreadable = record instanceof Error;
    if (!isUnreadable && !orderingKeys.some((key) => blockedKeys.has(key))) return true;
    failures.add(isUnreadable ? record : new EarlierRecordFailedError(record.partitionKey));
    block(blockedKeys, message);
    return false;
  });
}

function block(blockedKeys: Set<string>, { orderingKeys }: SourceMessage): void {
  for (const key of orderingKeys) blockedKeys.add(key);
}

/**
 * Puts records and returns their results in order. If a record fails, even before it is sent, the later records of its
 * key fail too.
 */
async function putEach(
  producer: OrderedProducer,
  records: readonly OwnedRecord[],
  failures: FailureTally,
): Promise<RecordResult[]> {
  const results: RecordResult[] = [];
  const fail = (index: number, error: unknown): void => {
    results[index] = failureOf(error);
    failures.add(error as EvenShardsError);
  };
  const toSend: number[] = [];
  const heldKeys = new Set<string>();
  records.forEach(({ partitionKey, ownerKeyError }, index) => {
    if (ownerKeyError === undefined && !heldKeys.has(partitionKey)) {
      toSend.push(index);
      return;
    }
    heldKeys.add(partitionKey);
    fail(index, ownerKeyError ?? new EarlierRecordFailedError(partitionKey));
  });
  try {
    await producer.putAll(
      toSend.map((index) => records[index]!),
      {
        delivered: (position, _, receipt) => {
          results[toSend[position]!] = receipt;
        },
        rejected: (position, _, error) => fail(toSend[position]!, error),
      },
    );
  } catch (error) {
    // The producer failed before it read all records.
    for (const index of toSend) if (results[index] === undefined) fail(index, error);
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
    errorCode: reasonOf(error),
    errorMessage: messageOf(error).slice(0, MAX_ERROR_MESSAGE_LENGTH),
    ...(isAmbiguous && { mayHaveBeenWritten: true }),
    ...(error instanceof OwnerKeyError && { isRetryable: error.isRetryable }),
  };
}

function messageOf(error: EvenShardsError): string {
  if (reasonOf(error) !== OUT_OF_TIME) return error.message;
  return `[${OUT_OF_TIME}] not sent: the invocation was about to end; put the record again`;
}

import { errorText, type InvocationResult } from '../functions/function-process';
import type { Delivery } from './event-source-worker';

/**
 * Interprets the response of a function to a batch.
 *
 * Lambda continues at the lowest sequence number of a partial batch response. An empty list is a success. If a sequence
 * number is not in the batch, the whole batch fails. Source: the AWS Lambda developer guide, "Configuring partial batch
 * response with Kinesis Data Streams and Lambda".
 */
export function deliveryOf(
  result: InvocationResult,
  sequenceNumbers: readonly string[],
  reportsFailures: boolean,
): Delivery {
  if (result.functionError !== undefined) return { done: 0, problem: errorText(result) };
  const answer = JSON.parse(result.payload);
  const failures = Object(answer).batchItemFailures ?? [];
  if (!reportsFailures || (Array.isArray(failures) && failures.length === 0)) return { done: sequenceNumbers.length };
  const positions = Array.isArray(failures)
    ? failures.map((failure) => sequenceNumbers.indexOf(Object(failure).itemIdentifier))
    : [-1];
  if (positions.includes(-1)) {
    return { done: 0, problem: 'batchItemFailures has a value that is not a sequence number of the batch' };
  }
  const done = Math.min(...positions);
  return { done, problem: `it reported record ${sequenceNumbers[done]}, and the next batch starts at this record` };
}

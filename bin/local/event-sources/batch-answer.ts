import type { InvocationResult } from '../functions/function-thread';
import type { Delivery } from './event-source-worker';

/**
 * What a function's answer to a batch means.
 *
 * Source: the AWS Lambda developer guide, "Configuring partial batch response with Kinesis Data Streams and Lambda": Lambda
 * goes on at the lowest number that is reported, an empty list is a success, and a number of no record of the batch makes
 * the whole batch fail.
 */
export function deliveryOf(
  { payload, functionError }: InvocationResult,
  sequenceNumbers: readonly string[],
  reportsFailures: boolean,
): Delivery {
  const answer = JSON.parse(payload);
  if (functionError !== undefined) {
    const [firstLine] = String(answer.errorMessage).split('\n');
    return { done: 0, problem: `${answer.errorType}: ${firstLine}` };
  }
  const failures = Object(answer).batchItemFailures ?? [];
  if (!reportsFailures || (Array.isArray(failures) && failures.length === 0)) return { done: sequenceNumbers.length };
  const positions = Array.isArray(failures)
    ? failures.map((failure) => sequenceNumbers.indexOf(Object(failure).itemIdentifier))
    : [-1];
  if (positions.includes(-1)) {
    return { done: 0, problem: 'batchItemFailures names what is no sequence number of a record of the batch' };
  }
  const done = Math.min(...positions);
  return { done, problem: `it reported the record ${sequenceNumbers[done]}, with which it goes on` };
}

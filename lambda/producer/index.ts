import type { DynamoDBRecord, SQSBatchResponse, SQSRecord } from 'aws-lambda';
import {
  AGGREGATION,
  ALLOCATE_HASH_KEYS,
  HASH_BUCKETS,
  LINGER_MS,
  MAX_RECORD_BYTES,
  REGISTRY_FUNCTION_NAME,
  REQUEST_TIMEOUT_MS,
  SEQUENCE,
  STREAM_NAME,
} from '../../lib/core/contract/function-environment';
import { RESERVED_MS } from '../../lib/core/contract/reserved-time';
import { callWithin } from '../../lib/core/kernel/call-within';
import { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import { DEFAULT_MAX_RECORD_BYTES } from '../../lib/core/producer/producer-record';
import type { PutRecordsClient } from '../../lib/core/producer/put-records-client';
import { functionMetrics } from '../embedded-metrics';
import { type TimedInvocation, timeLeft } from '../in-time';
import { InvalidEventError } from '../invalid-event-error';
import { loggable } from '../loggable';
import { putClient } from '../put-client';
import { requiredEnvironment } from '../required-environment';
import { deliverMessages, deliverRecords, type ProducerResponse } from './deliver';
import { type SourceMessage, sourceMessages } from './event-source';
import { FailureTally } from './failure-tally';
import { HashKeyOwners } from './hash-key-owners';
import { addProducerMetrics, publishFailures } from './producer-metrics';
import { type OwnedRecord, parseRecordInput } from './record-input';
import { lambdaClient, requestKeysFrom } from './registry-keys';

/** The event of a direct invocation, or a batch that Lambda delivers from SQS or DynamoDB Streams. */
type ProducerEvent = { records: unknown[] } | { Records: (SQSRecord | DynamoDBRecord)[] };

/**
 * The maximum number of records in an event. The response has one result for each record, so more records could exceed
 * Lambda's limit of 6 MB.
 */
const MAX_RECORDS_PER_EVENT = 10_000;

/**
 * Every request ends at least this long before the end of the invocation, so that the function can return its response.
 */
const LAST_ANSWER_MS = 500;

/** The timeout of a request, including its response. The producer then sends the request again. */
const DEFAULT_REQUEST_TIMEOUT_MS = 6_000;

/** Puts the records of an event and counts failed records. After the signal aborts, it sends no more records. */
type Delivery = (
  producer: OrderedProducer,
  signal: AbortSignal,
  failures: FailureTally,
) => Promise<ProducerResponse | SQSBatchResponse>;

const options = {
  streamName: requiredEnvironment(STREAM_NAME),
  maxRecordBytes: Number(process.env[MAX_RECORD_BYTES] ?? DEFAULT_MAX_RECORD_BYTES),
  aggregation: aggregationIn(process.env[AGGREGATION]),
  hashBuckets: numberIn(process.env[HASH_BUCKETS]),
  lingerMs: numberIn(process.env[LINGER_MS]),
  sequence: process.env[SEQUENCE] === 'true',
  requestTimeoutMs: numberIn(process.env[REQUEST_TIMEOUT_MS]) ?? DEFAULT_REQUEST_TIMEOUT_MS,
};
const metrics = functionMetrics();
const registryName = process.env[REGISTRY_FUNCTION_NAME];
const hashKeyOwners =
  registryName === undefined
    ? undefined
    : new HashKeyOwners(
        requestKeysFrom(lambdaClient(), registryName, process.env[ALLOCATE_HASH_KEYS] === 'true' ? 'allocate' : 'get'),
      );
const inputOptions = { ...options, hasRegistry: hashKeyOwners !== undefined };

const kinesis = putClient();

export const handler = loggable(handle);

async function handle(event: ProducerEvent, context: TimedInvocation): Promise<ProducerResponse | SQSBatchResponse> {
  const deliver = deliveryOf(event);
  const signal = AbortSignal.timeout(timeLeft(context, RESERVED_MS.producer));
  const producer = new OrderedProducer(clientWithin(context), { ...options, signal });
  const failures = new FailureTally();
  try {
    return await deliver(producer, signal, failures);
  } finally {
    await producer.close();
    failures.log();
    addProducerMetrics(metrics, producer.statistics(), failures.total);
    metrics.publishStoredMetrics();
    publishFailures(failures.counts);
  }
}

/** Parses the whole event first, so that a malformed event is rejected before any record is written. */
function deliveryOf(event: ProducerEvent): Delivery {
  if ('Records' in Object(event)) {
    const { Records } = event as { Records: unknown };
    if (!Array.isArray(Records)) throw new InvalidEventError('Records', Records, 'an array');
    const messages = sourceMessages(Records, inputOptions);
    return async (producer, signal, failures) =>
      deliverMessages(producer, await messagesWithKeys(messages, signal), failures);
  }
  const inputs: unknown = Object(event).records;
  if (!Array.isArray(inputs)) throw new InvalidEventError('records', inputs, 'an array of records');
  if (inputs.length > MAX_RECORDS_PER_EVENT) {
    throw new InvalidEventError('records', inputs.length, `at most ${MAX_RECORDS_PER_EVENT} records`);
  }
  const records = inputs.map((input, index) => parseRecordInput(`records[${index}]`, input, inputOptions));
  return async (producer, signal, failures) =>
    deliverRecords(producer, await recordsWithKeys(records, signal), failures);
}

/** @throws an error if an owner is not in the registry, before any record is written */
async function recordsWithKeys(records: readonly OwnedRecord[], signal: AbortSignal): Promise<readonly OwnedRecord[]> {
  await hashKeyOwners?.resolve(records, signal);
  records.forEach((record, index) => {
    if (lacksKey(record)) throw unknownOwner(`records[${index}]`, record);
  });
  return records;
}

async function messagesWithKeys(messages: readonly SourceMessage[], signal: AbortSignal): Promise<SourceMessage[]> {
  const records = messages.flatMap(({ record }) => (record instanceof Error ? [] : record));
  await hashKeyOwners?.resolve(records, signal);
  return messages.map((message) => {
    const { record } = message;
    if (record instanceof Error) return message;
    if (record.ownerKeyError !== undefined) return { ...message, record: record.ownerKeyError };
    if (!lacksKey(record)) return message;
    return { ...message, record: unknownOwner('body', record) };
  });
}

function lacksKey({ hashKeyOwner, explicitHashKey, ownerKeyError }: OwnedRecord): boolean {
  return hashKeyOwner !== undefined && explicitHashKey === undefined && ownerKeyError === undefined;
}

function unknownOwner(field: string, { hashKeyOwner }: OwnedRecord): InvalidEventError {
  return new InvalidEventError(`${field}.hashKeyOwner`, hashKeyOwner, 'an owner with a key in the registry');
}

/** A client whose requests end before the invocation ends. */
function clientWithin(context: TimedInvocation): PutRecordsClient {
  const leftMs = (): number => timeLeft(context, LAST_ANSWER_MS);
  return {
    putRecords: (input, options) =>
      callWithin({ ms: leftMs(), signal: options?.abortSignal }, (within) => kinesis.putRecords(input, within)),
    listShards: (input, options) =>
      callWithin({ ms: leftMs(), signal: options?.abortSignal }, (within) => kinesis.listShards(input, within)),
  };
}

function aggregationIn(text: string | undefined): boolean | 'packed' {
  return text === 'packed' ? text : text === 'true';
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

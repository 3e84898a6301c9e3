import { type CallLimit, callWithin } from '../kernel/call-within';
import { isText } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { RecentMap } from '../kernel/recent-map';
import type { ProducerSettings } from './producer-options';
import { DEFAULT_MAX_RECORD_BYTES } from './producer-record';
import type {
  PutRecordsClient,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  StreamIdentity,
} from './put-records-client';
import { isInvalidInput, isRetryableEntryError, isRetryableRequestError, mayHaveBeenApplied } from './retry';

export type Outcome = Delivery | Failure;

export interface Delivery {
  ok: true;
  shardId: string;
  sequenceNumber: string;
}

export interface Failure {
  ok: false;
  code: string;
  message: string;
  retryable: boolean;
  /** Whether the record may have been stored: there was no response, or the response does not show whether it was stored. */
  isAmbiguous: boolean;
  /**
   * The Kinesis record that Kinesis may have rejected as invalid: this one, or any of the request. Undefined if the error is not
   * about a record, such as a missing permission.
   */
  rejected?: 'this record' | 'any record';
  cause?: unknown;
}

/** Sends entries, and returns the outcome of each entry, in the order of the entries. Never throws. */
export type PutTransport = (entries: PutRecordsRequestEntry[]) => Promise<Outcome[]>;

/**
 * Creates the transport of a producer.
 *
 * @throws InvalidArgumentError if the client has no `putRecord` for sequential puts
 */
export function putTransport(client: PutRecordsClient, settings: ProducerSettings): PutTransport {
  const { stream, requestTimeoutMs, clock, sequentialPuts: isSequential } = settings;
  if (isSequential && client.putRecord === undefined) {
    throw new InvalidArgumentError('sequentialPuts', true, 'absent for a client without putRecord');
  }
  return (isSequential ? sequentialPuts : bulkPuts)(client, stream, { ms: requestTimeoutMs, clock });
}

function bulkPuts(client: PutRecordsClient, stream: StreamIdentity, limit: CallLimit): PutTransport {
  return async (entries) => {
    const response = await settled(
      callWithin(limit, (options) => client.putRecords({ ...stream, Records: entries }, options)),
    );
    if ('failure' in response) return failuresOfRequest(response.failure, entries);
    const results: unknown = response.value?.Records;
    if (Array.isArray(results) && results.length === entries.length) return results.map(entryOutcome);
    const got = Array.isArray(results) ? results.length : 'none';
    const failure = malformed(`expected ${entries.length} results, got ${got}`);
    return entries.map(() => failure);
  };
}

/**
 * The failure of each entry of a failed request. A request that is rejected as invalid names no entry. The producer checks every
 * limit of a record except the size limit of the stream, so only an entry above the default limit can be the cause. The other
 * entries can succeed in another request.
 */
function failuresOfRequest(failure: Failure, entries: readonly PutRecordsRequestEntry[]): Failure[] {
  const mayBeTooLarge = entries.map((entry) => entryBytes(entry) > DEFAULT_MAX_RECORD_BYTES);
  if (!isInvalidInput(failure.code) || !mayBeTooLarge.includes(true)) return entries.map(() => failure);
  const rejected = entries.length > 1 ? 'any record' : 'this record';
  return mayBeTooLarge.map((isSuspect) => (isSuspect ? { ...failure, rejected } : { ...failure, retryable: true }));
}

function entryBytes({ Data, PartitionKey }: PutRecordsRequestEntry): number {
  return Data.byteLength + Buffer.byteLength(PartitionKey);
}

/** The number of keys whose latest sequence number is remembered. */
const MAX_REMEMBERED_KEYS = 10_000;

/** Sends single entries with PutRecord, each with the sequence number of the previous record of its key. */
function sequentialPuts(client: PutRecordsClient, stream: StreamIdentity, limit: CallLimit): PutTransport {
  const lastSequenceNumbers = new RecentMap<string, string>(MAX_REMEMBERED_KEYS);
  return async ([entry]) => {
    const { PartitionKey: key } = entry!;
    const last = lastSequenceNumbers.get(key);
    const input = { ...stream, ...entry!, ...(last !== undefined && { SequenceNumberForOrdering: last }) };
    const response = await settled(callWithin(limit, (options) => client.putRecord!(input, options)));
    if ('failure' in response) return [response.failure];
    const outcome = entryOutcome(response.value);
    if (outcome.ok) lastSequenceNumbers.set(key, outcome.sequenceNumber);
    return [outcome];
  };
}

async function settled<T>(request: Promise<T>): Promise<{ value: T | undefined } | { failure: Failure }> {
  try {
    return { value: await request };
  } catch (error) {
    return { failure: requestFailure(error) };
  }
}

/**
 * An entry is stored if its result has a shard and a sequence number, and not stored if it has an error. Otherwise the outcome is
 * not known.
 */
function entryOutcome(result: PutRecordsResultEntry | null | undefined): Outcome {
  const { ShardId, SequenceNumber, ErrorCode, ErrorMessage } = result ?? {};
  if (isText(ErrorCode) && SequenceNumber == null) {
    const failure: Failure = {
      ok: false,
      code: ErrorCode,
      message: ErrorMessage ?? '',
      retryable: isRetryableEntryError(ErrorCode),
      isAmbiguous: false,
    };
    if (isInvalidInput(ErrorCode)) failure.rejected = 'this record';
    return failure;
  }
  if (ErrorCode == null && isText(ShardId) && isText(SequenceNumber)) {
    return { ok: true, shardId: ShardId, sequenceNumber: SequenceNumber };
  }
  return malformed('expected a shard id and a sequence number, or an error code');
}

/** The outcome of a response that does not show whether the record was stored. */
function malformed(message: string): Failure {
  return { ok: false, code: 'MalformedAnswer', message, retryable: true, isAmbiguous: true };
}

function requestFailure(error: unknown): Failure {
  const { name = 'Error', message = String(error) }: Partial<Error> = Object(error);
  const retryable = isRetryableRequestError(error);
  return { ok: false, code: name, message, retryable, isAmbiguous: mayHaveBeenApplied(error), cause: error };
}

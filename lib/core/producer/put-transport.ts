import { type CallLimit, callWithin } from '../kernel/call-within';
import type {
  PutRecordsClient,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  StreamIdentity,
} from './put-records-client';
import { isRetryableEntryError, isRetryableRequestError, mayHaveBeenApplied } from './retry';

/** How one entry of a request ended. */
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
  /** There was no answer, or none that says what became of the record, so it may have been stored. */
  isAmbiguous: boolean;
  cause?: unknown;
}

/** Sends entries and returns the outcome of each, index for index. Never throws. */
export type PutTransport = (entries: PutRecordsRequestEntry[]) => Promise<Outcome[]>;

/** Sends entries by PutRecords. */
export function bulkPuts(client: PutRecordsClient, stream: StreamIdentity, limit: CallLimit): PutTransport {
  return async (entries) => {
    const answer = await settled(
      callWithin(limit, (options) => client.putRecords({ ...stream, Records: entries }, options)),
    );
    if ('failure' in answer) return entries.map(() => answer.failure);
    const results: unknown = answer.value?.Records;
    if (Array.isArray(results) && results.length === entries.length) return results.map(entryOutcome);
    const got = Array.isArray(results) ? results.length : 'none';
    const failure = malformed(`expected ${entries.length} results, got ${got}`);
    return entries.map(() => failure);
  };
}

/** How many keys keep their last sequence number while none of their records is in flight. */
const MAX_REMEMBERED_KEYS = 10_000;

/** Sends single entries by PutRecord, each with the sequence number of the record before it of its key. */
export function sequentialPuts(client: PutRecordsClient, stream: StreamIdentity, limit: CallLimit): PutTransport {
  const lastSequenceNumbers = new Map<string, string>();
  return async ([entry]) => {
    const { PartitionKey: key } = entry!;
    const last = lastSequenceNumbers.get(key);
    const input = { ...stream, ...entry!, ...(last !== undefined && { SequenceNumberForOrdering: last }) };
    const answer = await settled(callWithin(limit, (options) => client.putRecord!(input, options)));
    if ('failure' in answer) return [answer.failure];
    const outcome = entryOutcome(answer.value);
    if (outcome.ok) remember(lastSequenceNumbers, key, outcome.sequenceNumber);
    return [outcome];
  };
}

/** A key that is written again becomes the youngest; the oldest is forgotten. */
function remember(sequenceNumbers: Map<string, string>, key: string, sequenceNumber: string): void {
  sequenceNumbers.delete(key);
  sequenceNumbers.set(key, sequenceNumber);
  if (sequenceNumbers.size > MAX_REMEMBERED_KEYS) sequenceNumbers.delete(sequenceNumbers.keys().next().value!);
}

/** What became of a request: its answer, whatever that is, or how it failed. */
async function settled<T>(request: Promise<T>): Promise<{ value: T | undefined } | { failure: Failure }> {
  try {
    return { value: await request };
  } catch (error) {
    return { failure: requestFailure(error) };
  }
}

/** An entry is stored if its result has a shard and a sequence number, and not if it has an error; or nobody knows. */
function entryOutcome(result: PutRecordsResultEntry | null | undefined): Outcome {
  const { ShardId, SequenceNumber, ErrorCode, ErrorMessage } = result ?? {};
  if (isText(ErrorCode) && SequenceNumber == null) {
    const retryable = isRetryableEntryError(ErrorCode);
    return { ok: false, code: ErrorCode, message: ErrorMessage ?? '', retryable, isAmbiguous: false };
  }
  if (ErrorCode == null && isText(ShardId) && isText(SequenceNumber)) {
    return { ok: true, shardId: ShardId, sequenceNumber: SequenceNumber };
  }
  return malformed('expected a shard id and a sequence number, or an error code');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** An answer that does not say what became of a record. The record may be stored. */
function malformed(message: string): Failure {
  return { ok: false, code: 'MalformedAnswer', message, retryable: true, isAmbiguous: true };
}

function requestFailure(error: unknown): Failure {
  const { name = 'Error', message = String(error) }: Partial<Error> = Object(error);
  const [retryable, isAmbiguous] = [isRetryableRequestError(error), mayHaveBeenApplied(error)];
  return { ok: false, code: name, message, retryable, isAmbiguous, cause: error };
}

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
  /** There was no answer, so the record may have been stored. */
  isAmbiguous: boolean;
  cause?: unknown;
}

/** Sends entries and returns the outcome of each, index for index. Never throws. */
export type PutTransport = (entries: PutRecordsRequestEntry[]) => Promise<Outcome[]>;

/** Sends entries by PutRecords. */
export function bulkPuts(client: PutRecordsClient, stream: StreamIdentity): PutTransport {
  return async (entries) => {
    try {
      const { Records } = await client.putRecords({ ...stream, Records: entries });
      if (Records?.length !== entries.length) {
        throw new Error(`expected ${entries.length} results, got ${Records?.length ?? 'none'}`);
      }
      return Records.map(entryOutcome);
    } catch (error) {
      const outcome = requestFailure(error);
      return entries.map(() => outcome);
    }
  };
}

/** How many keys keep their last sequence number while none of their records is in flight. */
const MAX_REMEMBERED_KEYS = 10_000;

/** Sends single entries by PutRecord, each with the sequence number of the record before it of its key. */
export function sequentialPuts(client: PutRecordsClient, stream: StreamIdentity): PutTransport {
  const lastSequenceNumbers = new Map<string, string>();
  return async ([entry]) => {
    const { PartitionKey: key } = entry!;
    const last = lastSequenceNumbers.get(key);
    try {
      const input = { ...stream, ...entry!, ...(last !== undefined && { SequenceNumberForOrdering: last }) };
      const { ShardId, SequenceNumber } = await client.putRecord!(input);
      if (SequenceNumber === undefined) throw new Error('expected a sequence number, got none');
      remember(lastSequenceNumbers, key, SequenceNumber);
      return [{ ok: true, shardId: ShardId ?? '', sequenceNumber: SequenceNumber }];
    } catch (error) {
      return [requestFailure(error)];
    }
  };
}

/** A key that is written again becomes the youngest; the oldest is forgotten. */
function remember(sequenceNumbers: Map<string, string>, key: string, sequenceNumber: string): void {
  sequenceNumbers.delete(key);
  sequenceNumbers.set(key, sequenceNumber);
  if (sequenceNumbers.size > MAX_REMEMBERED_KEYS) sequenceNumbers.delete(sequenceNumbers.keys().next().value!);
}

function entryOutcome({ ShardId, SequenceNumber, ErrorCode, ErrorMessage }: PutRecordsResultEntry): Outcome {
  if (ErrorCode == null) return { ok: true, shardId: ShardId ?? '', sequenceNumber: SequenceNumber ?? '' };
  const retryable = isRetryableEntryError(ErrorCode);
  return { ok: false, code: ErrorCode, message: ErrorMessage ?? '', retryable, isAmbiguous: false };
}

function requestFailure(error: unknown): Failure {
  const { name = 'Error', message = String(error) }: Partial<Error> = Object(error);
  const [retryable, isAmbiguous] = [isRetryableRequestError(error), mayHaveBeenApplied(error)];
  return { ok: false, code: name, message, retryable, isAmbiguous, cause: error };
}

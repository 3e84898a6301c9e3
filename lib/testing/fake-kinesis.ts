import type {
  PutRecordInput,
  PutRecordOutput,
  PutRecordsInput,
  PutRecordsOutput,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  RequestOptions,
} from '../core/producer';
import { HASH_KEY_SPACE } from '../core/stream-format/hash-key-space';
import { attempt } from './attempt';
import { FakeControlPlane, type FakeControlPlaneOptions } from './fake-control-plane';
import { type FakeShard, recordsAlongLineage, type StoredRecord } from './fake-shard';
import { responseLost, serviceError } from './service-error';

/** The result of one entry of a request. */
export type EntryFate = 'stored' | 'throttled' | 'failed' | 'refused';

/**
 * A response that does not contain the results of a put:
 *
 * - `nothing`: no response object
 * - `no results`, `too few results`, `too many results`: a response without results, or with a wrong number of results
 * - `null results`, `empty results`: each result is null, or has neither an id nor an error
 * - `no sequence number`, `no shard id`: each result lacks this property
 */
export type MalformedAnswer =
  | 'nothing'
  | 'no results'
  | 'too few results'
  | 'too many results'
  | 'null results'
  | 'empty results'
  | 'no sequence number'
  | 'no shard id';

/**
 * The result of a put request:
 *
 * - `answer lost`: applies the request, then throws an error
 * - `appliedLateByMs`: throws an error, and applies the request after this delay, so other requests can be applied
 *   first
 * - `silent`: applies the request and never returns a response, until the caller aborts
 * - `swallowed`: neither applies the request nor returns a response, until the caller aborts
 * - `malformed`: applies the request and returns a malformed response
 */
export type RequestFate =
  | 'answered'
  | 'failed'
  | 'denied'
  | 'answer lost'
  | 'silent'
  | 'swallowed'
  | { appliedLateByMs: number }
  | { malformed: MalformedAnswer };

/** The stream that a `FakeKinesis` starts with, and the results of its requests and records. */
export interface FakeKinesisOptions extends FakeControlPlaneOptions {
  /** Called for each entry in order, before the limits of the shard are checked. @default stored, if the limits of the shard allow it */
  entryFate?(entry: PutRecordsRequestEntry): EntryFate;
  /** @default answered */
  requestFate?(input: PutRecordsInput): RequestFate;
  /**
   * Which other entries fail when an entry fails: no other entry, or all later entries of the same shard in the request. Both
   * cases happen in real streams.
   * @default 'nothing'
   */
  failsWithIt?: 'nothing' | 'rest of the shard';
  /** Selects the shard of a record with AUTO distribution. @default the first shard */
  random?: () => number;
  /** Whether to keep stored records and requests, so that tests can read them. @default true */
  keepRecords?: boolean;
}

/** The limits of one PutRecords request. Source: the Kinesis API reference, PutRecords. */
const MAX_REQUEST_RECORDS = 500;
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

/**
 * A deterministic stream in memory with the interface of the SDK's `Kinesis` client. The options determine which records the
 * stream stores, throttles or rejects, and which responses it loses or delays. The fake splits and merges shards as Kinesis
 * does.
 */
export class FakeKinesis extends FakeControlPlane {
  readonly requests: PutRecordsInput[] = [];
  mostInFlight = 0;
  /** The number of entries with each result. */
  readonly entries: Record<EntryFate, number> = { stored: 0, throttled: 0, failed: 0, refused: 0 };
  private inFlight = 0;

  constructor(private readonly options: FakeKinesisOptions) {
    super(options);
  }

  /** All stored records, in an order in which a KCL consumer may read them. */
  records(): StoredRecord[] {
    return recordsAlongLineage(this.shards);
  }

  /** The data that a consumer reads for a key, in order, as text. */
  dataOf(partitionKey: string): string[] {
    return textsOf(this.records().filter((record) => record.partitionKey === partitionKey));
  }

  /** The data of all stored records, as text. */
  allData(): string[] {
    return textsOf(this.records());
  }

  /** The shard that stores the records of a key now. */
  shardIdOf(partitionKey: string): string {
    return this.shardMap.shardOf(partitionKey).shardId;
  }

  putRecords(input: PutRecordsInput, options?: RequestOptions): Promise<PutRecordsOutput> {
    if (this.options.keepRecords ?? true) this.requests.push(input);
    return this.put(input, options, () => this.applyAll(input.Records), malformedResults);
  }

  putRecord(
    { SequenceNumberForOrdering, ...stream }: PutRecordInput,
    options?: RequestOptions,
  ): Promise<PutRecordOutput> {
    const entry = stream as PutRecordsRequestEntry;
    const after = SequenceNumberForOrdering === undefined ? undefined : BigInt(SequenceNumberForOrdering);
    const apply = (): PutRecordOutput => {
      const { ErrorCode, ErrorMessage, ShardId, SequenceNumber } = this.apply(entry, after);
      if (ErrorCode !== undefined)
        throw serviceError(ErrorCode, ErrorMessage, ErrorCode === 'InternalFailure' ? 500 : 400);
      return { ShardId, SequenceNumber };
    };
    return this.put({ ...stream, Records: [entry] }, options, apply, malformedResult);
  }

  private async put<T extends object>(
    input: PutRecordsInput,
    options: RequestOptions | undefined,
    apply: () => T,
    malform: (result: T, how: MalformedAnswer) => unknown,
  ): Promise<T> {
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      return await this.roundTrip(input, options, apply, malform);
    } finally {
      this.inFlight -= 1;
    }
  }

  private async roundTrip<T extends object>(
    input: PutRecordsInput,
    options: RequestOptions | undefined,
    apply: () => T,
    malform: (result: T, how: MalformedAnswer) => unknown,
  ): Promise<T> {
    const fate = this.options.requestFate?.(input) ?? 'answered';
    const roundTripMs = this.roundTripMs();
    await this.delay(roundTripMs / 2);
    if (fate === 'failed') throw serviceError('InternalFailure', 'InternalFailure', 500);
    if (fate === 'denied') throw serviceError('AccessDeniedException');
    this.checkRequest(input);
    if (fate === 'swallowed') return untilAborted(options?.abortSignal);
    const isLate = typeof fate === 'object' && 'appliedLateByMs' in fate;
    if (isLate) this.clock.schedule(() => attempt(apply), roundTripMs / 2 + fate.appliedLateByMs);
    const result = isLate ? undefined : attempt(apply);
    if (fate === 'silent') return untilAborted(options?.abortSignal);
    await this.delay(roundTripMs / 2);
    if (typeof fate === 'object' && 'malformed' in fate) return malform(result!(), fate.malformed) as T;
    if (fate !== 'answered') throw responseLost();
    return result!();
  }

  private checkRequest(input: PutRecordsInput): void {
    this.checkStream(input);
    const { Records: entries } = input;
    if (entries.some(({ PartitionKey }) => PartitionKey === '')) {
      throw serviceError('ValidationException', 'PartitionKey must have at least 1 character');
    }
    const sizes = entries.map(entryBytes);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (entries.length < 1 || entries.length > MAX_REQUEST_RECORDS || bytes > MAX_REQUEST_BYTES) {
      throw serviceError('ValidationException', `a request of ${entries.length} records and ${bytes} bytes`);
    }
    if (sizes.some((size) => size > this.maxRecordKiB * 1024)) {
      throw serviceError('ValidationException', `a record of more than ${this.maxRecordKiB} KiB`);
    }
    const beyond = entries.find(({ ExplicitHashKey: key }) => key !== undefined && BigInt(key) >= HASH_KEY_SPACE);
    if (beyond !== undefined) {
      const range = 'ExplicitHashKey must be in the range: [0, 2^128-1]';
      throw serviceError('InvalidArgumentException', `${range}. Specified value was ${beyond.ExplicitHashKey}`);
    }
  }

  private applyAll(entries: readonly PutRecordsRequestEntry[]): PutRecordsOutput {
    const failsRest = this.options.failsWithIt === 'rest of the shard';
    const failedShards = new Map<string, PutRecordsResultEntry>();
    const results = entries.map((entry) => {
      if (!failsRest) return this.apply(entry);
      const { shardId } = this.shardMap.shardOf(entry.PartitionKey, entry.ExplicitHashKey);
      const result = failedShards.get(shardId) ?? this.apply(entry);
      if (result.ErrorCode !== undefined) failedShards.set(shardId, result);
      return result;
    });
    return { FailedRecordCount: results.filter(({ ErrorCode }) => ErrorCode).length, Records: results };
  }

  private apply(entry: PutRecordsRequestEntry, after?: bigint): PutRecordsResultEntry {
    const shard = this.shardFor(entry);
    const scripted = this.options.entryFate?.(entry) ?? 'stored';
    const isThrottled = scripted === 'stored' && shard.bucket?.take(entryBytes(entry), this.clock.now()) === false;
    const fate = isThrottled ? 'throttled' : scripted;
    this.entries[fate] += 1;
    if (fate === 'throttled') {
      const ErrorMessage = `Rate exceeded for shard ${shard.shardId} in stream Events under account 123456789012.`;
      return { ErrorCode: 'ProvisionedThroughputExceededException', ErrorMessage };
    }
    if (fate === 'failed') return { ErrorCode: 'InternalFailure', ErrorMessage: 'Internal service failure.' };
    if (fate === 'refused') return { ErrorCode: 'InvalidArgumentException', ErrorMessage: 'refused' };
    const sequenceNumber = shard.takeSequenceNumber(after);
    if (this.options.keepRecords ?? true) {
      shard.records.push({
        shardId: shard.shardId,
        sequenceNumber,
        partitionKey: entry.PartitionKey,
        ...(entry.ExplicitHashKey !== undefined && { explicitHashKey: entry.ExplicitHashKey }),
        data: Uint8Array.from(entry.Data),
        arrivedAtMs: this.clock.now(),
      });
    }
    return { ShardId: shard.shardId, SequenceNumber: sequenceNumber };
  }

  private shardFor({ PartitionKey, ExplicitHashKey }: PutRecordsRequestEntry): FakeShard {
    if (this.distribution === 'USER_PARTITION_KEY') return this.shardMap.shardOf(PartitionKey, ExplicitHashKey);
    const random = this.options.random?.() ?? 0;
    return this.openShards[Math.floor(random * this.openShards.length)]!;
  }
}

function textsOf(records: readonly StoredRecord[]): string[] {
  return records.map(({ data }) => Buffer.from(data).toString());
}

/** A promise that never resolves, like the response of a hanging server, and rejects only when the caller aborts. */
function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }));
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function malformedResults(output: PutRecordsOutput, how: MalformedAnswer): unknown {
  const results = output.Records!;
  if (how === 'nothing') return undefined;
  if (how === 'no results') return {};
  if (how === 'too few results') return { ...output, Records: results.slice(1) };
  if (how === 'too many results') return { ...output, Records: [...results, ...results] };
  return { ...output, Records: results.map((result) => malformedResult(result, how)) };
}

function malformedResult(result: PutRecordsResultEntry, how: MalformedAnswer): unknown {
  if (how === 'no sequence number') return { ...result, SequenceNumber: undefined };
  if (how === 'no shard id') return { ...result, ShardId: undefined };
  if (how === 'nothing') return undefined;
  return how === 'null results' ? null : {};
}

function entryBytes({ Data, PartitionKey }: PutRecordsRequestEntry): number {
  return Data.byteLength + Buffer.byteLength(PartitionKey);
}

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
import { answerLost, serviceError } from './service-error';

/** What happens to one entry of a request. */
export type EntryFate = 'stored' | 'throttled' | 'failed' | 'refused';

/**
 * An answer that says nothing of what became of a put: no answer object at all, an answer without results, one result
 * too few or too many, null in place of each result, or results that have neither an id nor an error. `no sequence
 * number` and `no shard id` leave out the one of each result.
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
 * What happens to a put as a whole. `answer lost` applies it in time, then fails it; `appliedLateByMs` fails it, and
 * applies it this much later, so perhaps after requests that were sent after it. `silent` applies it and never answers,
 * `swallowed` does neither: such a put ends only when its caller aborts it. A malformed answer follows a put that was
 * applied.
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

/** The stream that a `FakeKinesis` starts with, and what happens to requests and records. */
export interface FakeKinesisOptions extends FakeControlPlaneOptions {
  /** Asked for every entry in turn, before the shard's limits are. @default stored, if the shard's limits allow */
  entryFate?(entry: PutRecordsRequestEntry): EntryFate;
  /** @default answered */
  requestFate?(input: PutRecordsInput): RequestFate;
  /**
   * What else fails with an entry: nothing, or all later entries of its shard in the request. Real streams do both.
   * @default 'nothing'
   */
  failsWithIt?: 'nothing' | 'rest of the shard';
  /** Where AUTO distribution sends a record. @default the first shard */
  random?: () => number;
  /** Keep what is stored, to be read. @default true */
  keepRecords?: boolean;
}

/** Limits of one PutRecords request. Source: the Kinesis API reference, PutRecords. */
const MAX_REQUEST_RECORDS = 500;
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

/**
 * A deterministic stream in process, shaped as the SDK's `Kinesis` client: it stores, throttles, refuses, loses answers
 * and holds requests back as its script says, and reshards as the service does.
 */
export class FakeKinesis extends FakeControlPlane {
  readonly requests: PutRecordsInput[] = [];
  mostInFlight = 0;
  /** How many entries had each fate. */
  readonly entries: Record<EntryFate, number> = { stored: 0, throttled: 0, failed: 0, refused: 0 };
  private inFlight = 0;

  constructor(private readonly options: FakeKinesisOptions) {
    super(options);
  }

  /** Everything stored, in an order a KCL consumer may see. */
  records(): StoredRecord[] {
    return recordsAlongLineage(this.shards);
  }

  /** Everything a key's consumer sees, in order, as text. */
  dataOf(partitionKey: string): string[] {
    return textsOf(this.records().filter((record) => record.partitionKey === partitionKey));
  }

  /** Everything stored, as text. */
  allData(): string[] {
    return textsOf(this.records());
  }

  /** Where a key's records go now. */
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
    await this.travel(roundTripMs / 2);
    if (fate === 'failed') throw serviceError('InternalFailure', 'InternalFailure', 500);
    if (fate === 'denied') throw serviceError('AccessDeniedException');
    this.checkRequest(input.Records);
    if (fate === 'swallowed') return untilAborted(options?.abortSignal);
    const isLate = typeof fate === 'object' && 'appliedLateByMs' in fate;
    if (isLate) this.clock.schedule(() => attempt(apply), roundTripMs / 2 + fate.appliedLateByMs);
    const result = isLate ? undefined : attempt(apply);
    if (fate === 'silent') return untilAborted(options?.abortSignal);
    await this.travel(roundTripMs / 2);
    if (typeof fate === 'object' && 'malformed' in fate) return malform(result!(), fate.malformed) as T;
    if (fate !== 'answered') throw answerLost();
    return result!();
  }

  private checkRequest(entries: readonly PutRecordsRequestEntry[]): void {
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

/** Never answers, as a server that fell silent: the caller must give up by itself. */
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

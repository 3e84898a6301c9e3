import {
  EarlierRecordFailedError,
  type EvenShardsError,
  InvalidArgumentError,
  ProducerAbortedError,
  ProducerClosedError,
  RecordRejectedError,
} from '../errors';
import { type Clock, systemClock } from './clock';
import { Fifo } from './fifo';
import {
  checkProducerRecord,
  DEFAULT_MAX_RECORD_BYTES,
  HIGHEST_MAX_RECORD_BYTES,
  type ProducerRecord,
  recordBytes,
} from './producer-record';
import type { PutRecordsClient, PutRecordsRequestEntry, PutRecordsResultEntry } from './put-records-client';
import { backoffMs, isRetryableEntryError, isRetryableRequestError } from './retry';

/** Limits of one PutRecords request. Source: the Kinesis API reference, PutRecords. */
const MAX_REQUEST_RECORDS = 500;
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

export interface OrderedProducerOptions {
  /** The stream's name. Exactly one of `streamName` and `streamArn` must be given. */
  streamName?: string;
  /** The stream's ARN. Exactly one of `streamName` and `streamArn` must be given. */
  streamArn?: string;
  /**
   * The stream's record size limit in bytes, 1 to 10,485,760.
   * @default 1048576, the limit of a stream that was not given another
   */
  maxRecordBytes?: number;
  /**
   * How many requests may be under way at once. Their partition keys are always disjoint.
   * @default 8
   */
  maxRequestsInFlight?: number;
  /**
   * How many records `putAll` holds at most that are neither acknowledged nor rejected.
   * @default 10000
   */
  maxBufferedRecords?: number;
  /**
   * How many bytes `putAll` holds at most that are neither acknowledged nor rejected; one record is always let in.
   * @default 67108864 (64 MiB)
   */
  maxBufferedBytes?: number;
  /**
   * How often a record is sent before it is rejected.
   * @default 20
   */
  maxAttempts?: number;
  /**
   * Upper bound of the first back-off of a record, in milliseconds; it doubles with every attempt, with full jitter.
   * @default 50
   */
  backoffBaseMs?: number;
  /**
   * Upper bound of every back-off, in milliseconds.
   * @default 5000
   */
  backoffCapMs?: number;
  /**
   * Ends the producer early: what waits is rejected with `ProducerAbortedError`, what is under way keeps its answer.
   * @default the producer runs until it is closed
   */
  signal?: AbortSignal;
  /** @default Math.random */
  random?: () => number;
  /** @default the system's timers */
  clock?: Clock;
}

/** Where a record landed. */
export interface PutReceipt {
  shardId: string;
  sequenceNumber: string;
  /** How often the record was sent. */
  attempts: number;
}

/** How a `putAll` went. */
export interface PutSummary {
  /** Records with a receipt. */
  delivered: number;
  /** Records that were refused, or not sent because an earlier record of their key was. */
  rejected: number;
  /** The first rejection, with the record's position in the source. */
  firstRejection?: { index: number; error: Error };
}

/** A record between `put` and its receipt or rejection. */
interface Pending {
  entry: PutRecordsRequestEntry;
  bytes: number;
  attempts: number;
  resolve(receipt: PutReceipt): void;
  reject(error: Error): void;
}

/** The records of one partition key, in order. Only the first may be under way. */
interface Lane {
  partitionKey: string;
  pending: Fifo<Pending>;
  inFlight: boolean;
  cancelBackoff?: () => void;
}

/** What became of one entry of a request. */
type Outcome =
  | { ok: true; shardId: string; sequenceNumber: string }
  | { ok: false; code: string; message: string; retryable: boolean; cause?: unknown };

/**
 * Writes records to a Kinesis stream in bulk and keeps the order of every partition key, whatever fails.
 *
 * PutRecords goes on after a failed record, so sending the failed ones again reorders them. This producer keeps at most
 * one unacknowledged record of each partition key: the records of a key form a lane, a request takes the first record
 * of many lanes, and a lane moves on only when its record is acknowledged. Requests over disjoint lanes run side by
 * side; none waits for another.
 *
 * A record that fails is sent again with exponential back-off. When it is rejected for good, the records of its key
 * that wait behind it are rejected too (`EarlierRecordFailedError`); other keys go on. A record of that key that is put
 * afterwards starts anew.
 *
 * A request whose answer is lost may have been applied: its records are then sent again, and a consumer can see the
 * earlier copy, too.
 */
export class OrderedProducer {
  private readonly lanes = new Map<string, Lane>();
  private readonly ready = new Fifo<Lane>();
  private readonly outstanding = new Set<Promise<PutReceipt>>();
  private readonly options: Required<Omit<OrderedProducerOptions, 'streamName' | 'streamArn' | 'signal'>>;
  private readonly stream: { StreamName: string } | { StreamARN: string };
  private readonly signal: AbortSignal | undefined;
  private readonly waitingForCapacity = new Fifo<() => void>();
  private bufferedRecords = 0;
  private bufferedBytes = 0;
  private requestsInFlight = 0;
  private closed = false;

  /** @throws InvalidArgumentError if an option is out of bounds */
  constructor(
    private readonly client: PutRecordsClient,
    options: OrderedProducerOptions,
  ) {
    const { streamName, streamArn, signal, ...rest } = options;
    this.stream = streamOf(streamName, streamArn);
    this.options = {
      maxRecordBytes: DEFAULT_MAX_RECORD_BYTES,
      maxRequestsInFlight: 8,
      maxBufferedRecords: 10_000,
      maxBufferedBytes: 64 * 1024 * 1024,
      maxAttempts: 20,
      backoffBaseMs: 50,
      backoffCapMs: 5_000,
      random: Math.random,
      clock: systemClock,
      ...definedOf(rest),
    };
    checkWhole('maxRecordBytes', this.options.maxRecordBytes, HIGHEST_MAX_RECORD_BYTES);
    for (const field of ['maxRequestsInFlight', 'maxBufferedRecords', 'maxBufferedBytes', 'maxAttempts'] as const) {
      checkWhole(field, this.options[field]);
    }
    for (const field of ['backoffBaseMs', 'backoffCapMs'] as const) checkDelay(field, this.options[field]);
    this.signal = signal;
    signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  /**
   * Puts one record behind the earlier records of its partition key, in the order of the calls.
   *
   * @returns the receipt, once Kinesis has acknowledged the record
   * @throws (as a rejection) a typed error before anything is sent if the record is invalid; `RecordRejectedError`,
   *   `EarlierRecordFailedError`, `ProducerClosedError` or `ProducerAbortedError` if it will not be delivered
   */
  put(record: ProducerRecord): Promise<PutReceipt> {
    try {
      this.checkOpen();
      checkProducerRecord(record, this.options);
    } catch (error) {
      return Promise.reject(error);
    }
    const receipt = new Promise<PutReceipt>((resolve, reject) => this.enqueue(record, resolve, reject));
    const ended = (): boolean => this.outstanding.delete(receipt);
    this.outstanding.add(receipt);
    receipt.then(ended, ended);
    return receipt;
  }

  /**
   * Puts every record of a source, in order, and pulls from it only as fast as the stream and the buffer allow.
   * After a rejection the later records of that partition key are not sent; the other keys go on.
   *
   * @param observer is told of every record's end, with its position in the source
   * @throws what the source throws, or `ProducerAbortedError` or `ProducerClosedError` if the producer ends before the
   *   source does; in each case after the records pulled so far have ended
   */
  async putAll<R extends ProducerRecord>(
    records: Iterable<R> | AsyncIterable<R>,
    observer: {
      delivered?(index: number, record: R, receipt: PutReceipt): void;
      rejected?(index: number, record: R, error: Error): void;
    } = {},
  ): Promise<PutSummary> {
    const summary: PutSummary = { delivered: 0, rejected: 0 };
    const failedKeys = new Set<string>();
    const ends: Set<Promise<void>> = new Set();
    const rejected = (index: number, record: R, error: Error): void => {
      failedKeys.add(record.partitionKey);
      summary.rejected += 1;
      if (summary.firstRejection === undefined || index < summary.firstRejection.index) {
        summary.firstRejection = { index, error };
      }
      observer.rejected?.(index, record, error);
    };
    const delivered = (index: number, record: R, receipt: PutReceipt): void => {
      summary.delivered += 1;
      observer.delivered?.(index, record, receipt);
    };
    let index = 0;
    try {
      for await (const record of records) {
        this.checkOpen();
        const position = index++;
        if (failedKeys.has(record.partitionKey)) {
          rejected(position, record, new EarlierRecordFailedError(record.partitionKey));
          continue;
        }
        const end = this.put(record).then(
          (receipt) => delivered(position, record, receipt),
          (error) => rejected(position, record, error),
        );
        ends.add(end);
        end.finally(() => ends.delete(end));
        await this.capacity();
      }
    } finally {
      await Promise.all(ends);
    }
    return summary;
  }

  /** Waits until every record put so far has its receipt or rejection. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.outstanding);
  }

  /** Takes no more records, and waits until every record put so far has its receipt or rejection. */
  async close(): Promise<void> {
    this.closed = true;
    await this.flush();
    this.signal?.removeEventListener('abort', this.onAbort);
  }

  private checkOpen(): void {
    if (this.closed) throw new ProducerClosedError();
    if (this.signal?.aborted) throw new ProducerAbortedError({ cause: this.signal.reason });
  }

  private enqueue(record: ProducerRecord, resolve: Pending['resolve'], reject: Pending['reject']): void {
    const { partitionKey, data, explicitHashKey } = record;
    let lane = this.lanes.get(partitionKey);
    if (lane === undefined) {
      lane = { partitionKey, pending: new Fifo(), inFlight: false };
      this.lanes.set(partitionKey, lane);
    }
    const entry: PutRecordsRequestEntry = { Data: data, PartitionKey: partitionKey };
    if (explicitHashKey !== undefined) entry.ExplicitHashKey = explicitHashKey.toString();
    const pending = { entry, bytes: recordBytes(record), attempts: 0, resolve, reject };
    this.bufferedRecords += 1;
    this.bufferedBytes += pending.bytes;
    lane.pending.push(pending);
    if (lane.pending.length === 1) this.makeReady(lane);
  }

  /** Queues a lane for the next request. Requests form in a microtask, so that records put together go together. */
  private makeReady(lane: Lane): void {
    lane.cancelBackoff = undefined;
    this.ready.push(lane);
    if (this.ready.length === 1) queueMicrotask(() => this.sendReady());
  }

  private sendReady(): void {
    while (this.requestsInFlight < this.options.maxRequestsInFlight && this.ready.length > 0) {
      void this.send(this.takeBatch());
    }
  }

  private takeBatch(): Lane[] {
    const batch: Lane[] = [];
    let bytes = 0;
    while (this.ready.length > 0 && batch.length < MAX_REQUEST_RECORDS) {
      const next = this.ready.head!;
      bytes += next.pending.head!.bytes;
      if (bytes > MAX_REQUEST_BYTES) break;
      next.inFlight = true;
      batch.push(next);
      this.ready.shift();
    }
    return batch;
  }

  private async send(batch: Lane[]): Promise<void> {
    this.requestsInFlight += 1;
    const outcomes = await this.request(batch.map((lane) => lane.pending.head!.entry));
    this.requestsInFlight -= 1;
    batch.forEach((lane, index) => {
      this.settle(lane, outcomes[index]!);
    });
    this.sendReady();
  }

  private async request(entries: PutRecordsRequestEntry[]): Promise<Outcome[]> {
    try {
      const { Records } = await this.client.putRecords({ ...this.stream, Records: entries });
      if (Records?.length !== entries.length) {
        throw new Error(`expected ${entries.length} results, got ${Records?.length ?? 'none'}`);
      }
      return Records.map(outcomeOf);
    } catch (error) {
      const { name = 'Error', message = String(error) } = error as Partial<Error>;
      const outcome: Outcome = {
        ok: false,
        code: name,
        message,
        retryable: isRetryableRequestError(error),
        cause: error,
      };
      return entries.map(() => outcome);
    }
  }

  private settle(lane: Lane, outcome: Outcome): void {
    const pending = lane.pending.head!;
    lane.inFlight = false;
    pending.attempts += 1;
    if (outcome.ok) this.acknowledge(lane, outcome);
    else this.fail(lane, outcome, pending.attempts);
  }

  private acknowledge(lane: Lane, { shardId, sequenceNumber }: Outcome & { ok: true }): void {
    const { resolve, attempts } = this.leave(lane);
    resolve({ shardId, sequenceNumber, attempts });
    if (this.signal?.aborted) this.rejectLane(lane, () => this.abortedError());
    else if (lane.pending.length > 0) this.makeReady(lane);
  }

  private fail(lane: Lane, { code, message, retryable, cause }: Outcome & { ok: false }, attempts: number): void {
    const rejection = new RecordRejectedError(code, message, attempts, { cause });
    if (this.signal?.aborted) {
      this.leave(lane).reject(new ProducerAbortedError({ cause: rejection }));
      this.rejectLane(lane, () => this.abortedError());
    } else if (retryable && attempts < this.options.maxAttempts) {
      const { backoffBaseMs: baseMs, backoffCapMs: capMs, random, clock } = this.options;
      const delayMs = backoffMs(attempts, { baseMs, capMs, random });
      lane.cancelBackoff = clock.schedule(() => this.makeReady(lane), delayMs);
    } else {
      this.leave(lane).reject(rejection);
      this.rejectLane(lane, () => new EarlierRecordFailedError(lane.partitionKey, { cause: rejection }));
    }
  }

  private rejectLane(lane: Lane, error: () => EvenShardsError): void {
    lane.cancelBackoff?.();
    while (lane.pending.length > 0) this.leave(lane).reject(error());
  }

  /** Takes the lane's first record out of the producer's books. */
  private leave(lane: Lane): Pending {
    const pending = lane.pending.shift()!;
    if (lane.pending.length === 0) this.lanes.delete(lane.partitionKey);
    this.bufferedRecords -= 1;
    this.bufferedBytes -= pending.bytes;
    while (this.hasCapacity() && this.waitingForCapacity.length > 0) this.waitingForCapacity.shift()!();
    return pending;
  }

  private hasCapacity(): boolean {
    const { maxBufferedRecords, maxBufferedBytes } = this.options;
    return this.bufferedRecords < maxBufferedRecords && this.bufferedBytes < maxBufferedBytes;
  }

  private async capacity(): Promise<void> {
    while (!this.hasCapacity()) await new Promise<void>((resolve) => this.waitingForCapacity.push(resolve));
  }

  private abortedError(): ProducerAbortedError {
    return new ProducerAbortedError({ cause: this.signal?.reason });
  }

  private readonly onAbort = (): void => {
    while (this.ready.shift() !== undefined);
    for (const lane of [...this.lanes.values()]) {
      if (!lane.inFlight) this.rejectLane(lane, () => this.abortedError());
    }
  };
}

function outcomeOf({ ShardId, SequenceNumber, ErrorCode, ErrorMessage }: PutRecordsResultEntry): Outcome {
  if (ErrorCode !== undefined) {
    return { ok: false, code: ErrorCode, message: ErrorMessage ?? '', retryable: isRetryableEntryError(ErrorCode) };
  }
  return { ok: true, shardId: ShardId ?? '', sequenceNumber: SequenceNumber ?? '' };
}

function streamOf(name: string | undefined, arn: string | undefined): { StreamName: string } | { StreamARN: string } {
  if (name !== undefined && arn !== undefined) {
    throw new InvalidArgumentError('streamArn', arn, 'absent when streamName is given');
  }
  if (typeof name === 'string' && name !== '') return { StreamName: name };
  if (typeof arn === 'string' && arn !== '') return { StreamARN: arn };
  throw new InvalidArgumentError('streamName', name, 'a non-empty string, or absent with a streamArn in its place');
}

function checkWhole(field: string, value: number, max: number = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new InvalidArgumentError(field, value, `a whole number from 1 to ${max}`);
  }
}

function checkDelay(field: string, value: number): void {
  if (!Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError(field, value, 'a number of milliseconds from 0');
  }
}

/** The options that were given: an explicit `undefined` counts as absent. */
function definedOf<T extends object>(options: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<{
    [K in keyof T]: Exclude<T[K], undefined>;
  }>;
}

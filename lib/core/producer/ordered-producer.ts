import { setMaxListeners } from 'node:events';
import {
  EarlierRecordFailedError,
  type EvenShardsError,
  ProducerAbortedError,
  ProducerClosedError,
  RecordRejectedError,
} from '../errors';
import { Fifo } from './fifo';
import { Lane, type PendingRecord, type PutReceipt, pendingRecord, type RecordEnd, takeBatch } from './lane';
import { type OrderedProducerOptions, type ProducerSettings, producerSettings } from './producer-options';
import { checkProducerRecord, type ProducerRecord } from './producer-record';
import { type PutObserver, type PutSummary, putAll } from './put-all';
import type { PutRecordsClient, PutRecordsRequestEntry, PutRecordsResultEntry } from './put-records-client';
import { backoffMs, isRetryableEntryError, isRetryableRequestError } from './retry';

/** What became of one entry of a request. */
type Outcome =
  | { ok: true; shardId: string; sequenceNumber: string }
  | { ok: false; code: string; message: string; retryable: boolean; cause?: unknown };

/**
 * Writes records to a Kinesis stream in bulk and keeps the order of every partition key through every partial failure.
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
 * earlier copy, too; one that the network held back may even come after later records of its key.
 */
export class OrderedProducer {
  private readonly settings: ProducerSettings;
  private readonly lanes = new Map<string, Lane>();
  private readonly ready = new Fifo<Lane>();
  private readonly ending = new AbortController();
  private waitingForCapacity: (() => void)[] = [];
  private bufferedRecords = 0;
  private bufferedBytes = 0;
  private requestsInFlight = 0;

  /** @throws InvalidArgumentError if an option is out of bounds */
  constructor(
    private readonly client: PutRecordsClient,
    options: OrderedProducerOptions,
  ) {
    this.settings = producerSettings(options);
    // One listener for each putAll that waits for its source: any number of them is right.
    setMaxListeners(0, this.ending.signal);
    this.settings.signal?.addEventListener('abort', this.onAbort, { once: true });
    if (this.settings.signal?.aborted) this.onAbort();
  }

  /**
   * Puts one record behind the earlier records of its partition key, in the order of the calls.
   *
   * Always look at what it returns: a rejection that nobody handles is reported by Node.js as such.
   *
   * @returns the receipt, once Kinesis has acknowledged the record
   * @throws (as a rejection) a typed error before anything is sent if the record is invalid; `RecordRejectedError`,
   *   `EarlierRecordFailedError`, `ProducerClosedError` or `ProducerAbortedError` if it will not be delivered
   */
  put(record: ProducerRecord): Promise<PutReceipt> {
    return new Promise((delivered, rejected) => {
      this.ending.signal.throwIfAborted();
      this.accept(record, { delivered, rejected });
    });
  }

  /**
   * Puts every record of a source, in order, and pulls from it only as fast as the stream and the buffer allow.
   * After a rejection the later records of that partition key are not sent; the other keys go on.
   *
   * @param observer is told of every record's end, with its position in the source
   * @throws what the source or the observer throws, or `ProducerAbortedError` or `ProducerClosedError` if the producer
   *   ends before the source does; in each case after the records pulled so far have ended
   */
  putAll<R extends ProducerRecord>(
    records: Iterable<R> | AsyncIterable<R>,
    observer: PutObserver<R> = {},
  ): Promise<PutSummary> {
    const sink = {
      ended: this.ending.signal,
      accept: (record: R, end: RecordEnd) => this.accept(record, end),
      capacity: () => this.capacity(),
    };
    return putAll(sink, records, observer);
  }

  /** Waits until every record put so far has its receipt or rejection. Rejections go to whoever put the records. */
  async flush(): Promise<void> {
    await Promise.all([...this.lanes.values()].map(({ pending }) => flushed(pending.tail!)));
  }

  /** Takes no more records, and waits until every record put so far has its receipt or rejection. */
  async close(): Promise<void> {
    this.ending.abort(new ProducerClosedError());
    await this.flush();
    this.settings.signal?.removeEventListener('abort', this.onAbort);
  }

  private accept(record: ProducerRecord, end: RecordEnd): void {
    try {
      checkProducerRecord(record, this.settings);
    } catch (error) {
      end.rejected(error as Error);
      return;
    }
    const pending = pendingRecord(record, end);
    this.bufferedRecords += 1;
    this.bufferedBytes += pending.bytes;
    const lane = this.laneOf(record.partitionKey);
    lane.pending.push(pending);
    if (lane.pending.length === 1) this.makeReady(lane);
  }

  private laneOf(partitionKey: string): Lane {
    let lane = this.lanes.get(partitionKey);
    if (lane === undefined) {
      lane = new Lane(partitionKey);
      this.lanes.set(partitionKey, lane);
    }
    return lane;
  }

  /** Queues a lane for the next request. Requests form in a microtask, so that records put together go together. */
  private makeReady(lane: Lane): void {
    lane.cancelBackoff = undefined;
    this.ready.push(lane);
    if (this.ready.length === 1) queueMicrotask(() => this.sendReady());
  }

  private sendReady(): void {
    while (this.requestsInFlight < this.settings.maxRequestsInFlight && this.ready.length > 0) {
      void this.send(takeBatch(this.ready));
    }
  }

  private async send(batch: Lane[]): Promise<void> {
    this.requestsInFlight += 1;
    for (const lane of batch) lane.inFlight = true;
    const outcomes = await this.request(batch.map(({ head }) => head.entry));
    this.requestsInFlight -= 1;
    batch.forEach((lane, index) => {
      this.settle(lane, outcomes[index]!);
    });
    this.sendReady();
  }

  private async request(entries: PutRecordsRequestEntry[]): Promise<Outcome[]> {
    try {
      const { Records } = await this.client.putRecords({ ...this.settings.stream, Records: entries });
      if (Records?.length !== entries.length) {
        throw new Error(`expected ${entries.length} results, got ${Records?.length ?? 'none'}`);
      }
      return Records.map(entryOutcome);
    } catch (error) {
      const outcome = requestOutcome(error);
      return entries.map(() => outcome);
    }
  }

  private settle(lane: Lane, outcome: Outcome): void {
    lane.inFlight = false;
    lane.head.attempts += 1;
    if (outcome.ok) this.acknowledge(lane, outcome);
    else this.fail(lane, outcome);
    if (this.settings.signal?.aborted) this.rejectWaiting(lane, () => this.abortedError());
    else if (outcome.ok && lane.pending.length > 0) this.makeReady(lane);
  }

  private acknowledge(lane: Lane, { shardId, sequenceNumber }: Outcome & { ok: true }): void {
    const { attempts } = lane.head;
    this.finish(lane, ({ delivered }) => delivered({ shardId, sequenceNumber, attempts }));
  }

  private fail(lane: Lane, { code, message, retryable, cause }: Outcome & { ok: false }): void {
    const { head } = lane;
    const failure = new RecordRejectedError(code, message, head.attempts, { cause });
    head.failure = failure;
    if (retryable && head.attempts < this.settings.maxAttempts && !this.settings.signal?.aborted) {
      const delayMs = backoffMs(head.attempts, this.settings);
      lane.cancelBackoff = this.settings.clock.schedule(() => this.makeReady(lane), delayMs);
    } else {
      // Out of the books first: who hears of the rejection and puts the record again puts it into a new lane.
      this.lanes.delete(lane.partitionKey);
      this.finish(lane, ({ rejected }) => rejected(failure));
      this.rejectWaiting(lane, () => new EarlierRecordFailedError(lane.partitionKey, { cause: failure }));
    }
  }

  /** Rejects all records of a lane that are not under way; one that was sent before, with what it failed of. */
  private rejectWaiting(lane: Lane, error: () => EvenShardsError): void {
    lane.cancelBackoff?.();
    while (lane.pending.length > 0) {
      const { failure } = lane.head;
      this.finish(lane, ({ rejected }) => rejected(failure ?? error()));
    }
  }

  /** Takes the lane's first record out of the producer's books, then tells its end. */
  private finish(lane: Lane, tell: (end: RecordEnd) => void): void {
    const { bytes, end, flushed } = lane.pending.shift() as PendingRecord;
    if (lane.pending.length === 0 && this.lanes.get(lane.partitionKey) === lane) this.lanes.delete(lane.partitionKey);
    this.bufferedRecords -= 1;
    this.bufferedBytes -= bytes;
    tell(end);
    for (const resolve of flushed ?? []) resolve();
    if (this.waitingForCapacity.length > 0 && this.hasCapacity()) {
      for (const resolve of this.waitingForCapacity.splice(0)) resolve();
    }
  }

  private hasCapacity(): boolean {
    const { maxBufferedRecords, maxBufferedBytes } = this.settings;
    return this.bufferedRecords < maxBufferedRecords && this.bufferedBytes < maxBufferedBytes;
  }

  private capacity(): Promise<void> | undefined {
    return this.hasCapacity() ? undefined : this.nextCapacity();
  }

  private async nextCapacity(): Promise<void> {
    while (!this.hasCapacity()) await new Promise<void>((resolve) => this.waitingForCapacity.push(resolve));
  }

  private abortedError(): ProducerAbortedError {
    return new ProducerAbortedError({ cause: this.settings.signal?.reason });
  }

  private readonly onAbort = (): void => {
    this.ending.abort(this.abortedError());
    while (this.ready.shift() !== undefined);
    for (const lane of [...this.lanes.values()]) {
      if (!lane.inFlight) this.rejectWaiting(lane, () => this.abortedError());
    }
  };
}

/** Resolves when a record has ended: the last of a lane, and with it the lane. */
function flushed(record: PendingRecord): Promise<void> {
  return new Promise((resolve) => {
    record.flushed = [...(record.flushed ?? []), resolve];
  });
}

function entryOutcome({ ShardId, SequenceNumber, ErrorCode, ErrorMessage }: PutRecordsResultEntry): Outcome {
  if (ErrorCode == null) return { ok: true, shardId: ShardId ?? '', sequenceNumber: SequenceNumber ?? '' };
  return { ok: false, code: ErrorCode, message: ErrorMessage ?? '', retryable: isRetryableEntryError(ErrorCode) };
}

function requestOutcome(error: unknown): Outcome {
  const { name = 'Error', message = String(error) }: Partial<Error> = Object(error);
  return { ok: false, code: name, message, retryable: isRetryableRequestError(error), cause: error };
}

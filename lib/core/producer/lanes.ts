import { setMaxListeners } from 'node:events';
import { backoffMs } from '../kernel/backoff';
import { SHORTEST_TIMER_MS } from '../kernel/clock';
import { deferred } from '../kernel/deferred';
import type { EvenShardsError } from '../kernel/errors';
import type { Backlog } from './backlog';
import type { Dispatcher } from './dispatcher';
import { Lane } from './lane';
import type { PendingRecord, PutReceipt } from './pending-record';
import {
  EarlierRecordFailedError,
  RecordExpiredError,
  RecordRejectedError,
  StreamDistributionError,
} from './producer-errors';
import type { ProducerSettings } from './producer-options';
import type { Delivery, Failure } from './put-transport';
import type { RecordSizeLimit } from './record-size-limit';
import type { StatisticsCounter } from './statistics-counter';

/**
 * The lanes of a producer. This class owns the state of each key: its waiting records, its records in flight, and
 * their results. The dispatcher owns the state of each shard.
 */
export class Lanes {
  private readonly ending = new AbortController();
  /** Aborted, with the reason, when the producer accepts no more records. */
  readonly ended: AbortSignal = this.ending.signal;
  private readonly byKey = new Map<string, Lane>();
  /** Why the producer was stopped. */
  private stopped?: EvenShardsError;

  constructor(
    private readonly settings: ProducerSettings,
    private readonly sizeLimit: RecordSizeLimit,
    private readonly backlog: Backlog,
    private readonly dispatcher: Dispatcher,
    private readonly statistics: StatisticsCounter,
  ) {
    // Each `putAll` that waits for its source has a listener, and any number of `putAll` calls may wait.
    setMaxListeners(0, this.ended);
  }

  /** Appends a record to the lane of its key. If the record is the only record of the lane, queues the lane for a request. */
  append(pending: PendingRecord): void {
    const { maxRecordAgeMs, clock } = this.settings;
    // Reads the clock only if needed, because reading the clock takes as long as finding the lane.
    if (maxRecordAgeMs !== undefined) pending.putAtMs = clock.now();
    const lane = this.laneOf(pending.record.partitionKey);
    lane.append(pending);
    if (lane.length === 1) {
      this.prepareHead(lane);
      return;
    }
    this.watchAge(lane);
    if (lane.state === 'ready') this.dispatcher.countAppended(lane, pending.bytes);
  }

  /** Waits until there is room for a record of this key. Returns undefined if there is room now. */
  room(partitionKey: string): Promise<void> | undefined {
    return this.backlog.room(this.byKey.get(partitionKey));
  }

  /**
   * Waits until every record that was put so far has its result. With a partition key, waits only for the records of that key.
   */
  async flush(partitionKey?: string): Promise<void> {
    const lanes = partitionKey === undefined ? [...this.byKey.values()] : [this.byKey.get(partitionKey)];
    await Promise.all(lanes.map((lane) => lane && flushed(lane.tail)));
  }

  /** Accepts no more records, for the given reason. Records that were already put are still sent. */
  close(reason: EvenShardsError): void {
    this.ending.abort(reason);
  }

  /** Stops the producer: rejects all waiting records immediately. Records in flight still get their results. */
  stop(reason: EvenShardsError): void {
    this.stopped = reason;
    this.close(reason);
    for (const lane of [...this.byKey.values()]) {
      if (lane.state === 'waiting' || lane.state === 'ready') this.rejectWaiting(lane, reason);
      else if (lane.state === 'in flight') this.rejectBehindEntry(lane, lane.length, () => reason);
    }
  }

  /** Gives the records of the lane's entry their receipts, and continues with the next record of the lane. */
  acknowledge(lane: Lane, { shardId, sequenceNumber }: Delivery): void {
    const entry = lane.entry!;
    const { records, attempts, position } = entry;
    lane.beginSettling();
    this.statistics.retried(entry);
    for (let index = 0; index < records; index++) {
      const receipt: PutReceipt = { shardId, sequenceNumber, attempts };
      if (position !== undefined) receipt.subSequenceNumber = position + index;
      const first = this.removeFirst(lane);
      this.statistics.delivered(first.record);
      first.delivered(receipt);
      first.flushed?.resolve();
    }
    if (lane.hasEnded) return;
    lane.moveOn();
    this.prepareHead(lane);
  }

  /**
   * Sends the lane's entry again after a back-off, or rejects its records if another attempt cannot succeed.
   *
   * @param isShared whether the entry was in an aggregate with entries of other lanes. If Kinesis rejected the aggregate, another
   *   entry may be the cause
   */
  fail(lane: Lane, failure: Failure, isShared: boolean): void {
    const { code, message, retryable, isAmbiguous, rejected, cause } = failure;
    const entry = lane.entry!;
    const mayHaveBeenWritten = isAmbiguous || entry.failure?.mayHaveBeenWritten;
    entry.failure = new RecordRejectedError(code, message, entry.attempts, { cause, mayHaveBeenWritten });
    const isOver = this.stopped !== undefined || this.hasExpired(lane.head);
    const mayBeInnocent = rejected === 'any record' || (rejected === 'this record' && isShared);
    entry.mustBeSentAlone ||= mayBeInnocent;
    const mayTryAgain = retryable ? entry.attempts < this.settings.maxAttempts : mayBeInnocent;
    if (mayTryAgain && !isOver) {
      const delayMs = backoffMs(entry.attempts, this.settings);
      lane.backOff(this.settings.clock.schedule(() => this.dispatcher.enqueue(lane), delayMs));
    } else {
      this.rejectFirst(lane, entry.records, entry.failure);
      this.prepareHead(lane);
    }
  }

  private laneOf(partitionKey: string): Lane {
    let lane = this.byKey.get(partitionKey);
    if (lane === undefined) {
      lane = new Lane(partitionKey);
      this.byKey.set(partitionKey, lane);
    }
    return lane;
  }

  /** Queues a waiting lane for a request, unless its records cannot be sent any more or the producer was stopped. */
  private prepareHead(lane: Lane): void {
    // A loop instead of a recursion, because any number of records can expire, or be too large, together.
    while (!lane.hasEnded && this.stopped === undefined) {
      const tooLarge = this.sizeLimit.errorOf(lane.head);
      if (this.hasExpired(lane.head)) this.expire(lane);
      else if (tooLarge !== undefined) this.rejectFirst(lane, 1, tooLarge);
      else break;
    }
    if (lane.hasEnded) return;
    if (this.stopped !== undefined) this.rejectWaiting(lane, this.stopped);
    else {
      this.watchAge(lane);
      if (this.sizeLimit.isUnknownFor(lane.head)) void this.enqueueIfStreamAccepts(lane);
      else this.dispatcher.enqueue(lane);
    }
  }

  /** Requests the stream's record size limit before it queues a lane with a large first record. */
  private async enqueueIfStreamAccepts(lane: Lane): Promise<void> {
    const { head } = lane;
    let rejection: EvenShardsError | undefined;
    try {
      await this.sizeLimit.checkWithStream(head.record);
    } catch (error) {
      rejection = error as EvenShardsError;
    }
    if (rejection instanceof StreamDistributionError) this.stop(rejection);
    else if (lane.head !== head) return;
    else if (rejection === undefined) this.dispatcher.enqueue(lane);
    else {
      this.rejectFirst(lane, 1, rejection);
      this.prepareHead(lane);
    }
  }

  /** Rejects the first records of a lane. Unless `skipRejected` is set, also rejects the later records of the lane. */
  private rejectFirst(lane: Lane, records: number, error: EvenShardsError): void {
    lane.beginSettling();
    // End the lane first: a caller may put the record again when it gets the rejection, and that record needs a new lane.
    if (!this.settings.skipRejected) this.end(lane);
    for (let index = 0; index < records; index++) this.reject(lane, error);
    if (!lane.hasEnded) lane.moveOn();
    else this.rejectAll(lane, new EarlierRecordFailedError(lane.partitionKey, { cause: error }));
  }

  /** Rejects all records of a lane that is not in flight. A record that was already sent gets the error of its last attempt. */
  private rejectWaiting(lane: Lane, error: EvenShardsError): void {
    const { records = 0, failure = error } = lane.entry ?? {};
    this.end(lane);
    for (let index = 0; index < records; index++) this.reject(lane, failure);
    this.rejectAll(lane, error);
  }

  private rejectAll(lane: Lane, error: EvenShardsError): void {
    while (lane.length > 0) this.reject(lane, error);
  }

  /**
   * Rejects up to `count` records behind the entry in flight. The lane stays, because records that are put later must also wait
   * for the entry.
   */
  private rejectBehindEntry(lane: Lane, count: number, errorOf: (index: number) => EvenShardsError): void {
    const { lastInFlight } = lane;
    lane.removeWaiting(count).forEach((record, index) => {
      this.backlog.release(record);
      this.statistics.rejected();
      record.rejected(errorOf(index));
      // A flush up to this record must also wait for the entry before it.
      if (record.flushed !== undefined) void flushed(lastInFlight).then(record.flushed.resolve);
    });
  }

  private reject(lane: Lane, error: EvenShardsError): void {
    const first = this.removeFirst(lane);
    this.statistics.rejected();
    first.rejected(error);
    first.flushed?.resolve();
  }

  private removeFirst(lane: Lane): PendingRecord {
    const first = lane.removeFirst();
    if (lane.length === 0 && !lane.hasEnded) this.end(lane);
    this.backlog.release(first);
    return first;
  }

  private end(lane: Lane): void {
    lane.end();
    this.byKey.delete(lane.partitionKey);
  }

  private hasExpired({ putAtMs }: PendingRecord): boolean {
    const { maxRecordAgeMs, clock } = this.settings;
    return maxRecordAgeMs !== undefined && clock.now() - putAtMs >= maxRecordAgeMs;
  }

  private expire(lane: Lane): void {
    const { records = 1, failure = new RecordExpiredError(this.settings.maxRecordAgeMs!) } = lane.entry ?? {};
    this.rejectFirst(lane, records, failure);
  }

  private expireBehindEntry(lane: Lane): void {
    const expired = new RecordExpiredError(this.settings.maxRecordAgeMs!);
    if (!this.settings.skipRejected) {
      const later = new EarlierRecordFailedError(lane.partitionKey, { cause: expired });
      this.rejectBehindEntry(lane, lane.length, (index) => (index === 0 ? expired : later));
      return;
    }
    let count = 0;
    for (let { firstWaiting: next } = lane; next !== undefined && this.hasExpired(next); next = next.next) count += 1;
    this.rejectBehindEntry(lane, count, () => expired);
  }

  /** Schedules the rejection of the next record that can expire. A lane has at most one timer. */
  private watchAge(lane: Lane): void {
    const { maxRecordAgeMs, clock } = this.settings;
    if (maxRecordAgeMs === undefined || lane.cancelExpiry !== undefined) return;
    const next = this.nextToExpire(lane);
    if (next === undefined) return;
    const leftMs = next.putAtMs + maxRecordAgeMs - clock.now();
    lane.cancelExpiry = clock.schedule(() => this.rejectExpired(lane), Math.max(SHORTEST_TIMER_MS, leftMs));
  }

  /**
   * The next record that can expire: the first record or, if it has already expired in flight, the first record behind the entry.
   */
  private nextToExpire(lane: Lane): PendingRecord | undefined {
    return lane.state === 'in flight' && this.hasExpired(lane.head) ? lane.firstWaiting : lane.head;
  }

  private rejectExpired(lane: Lane): void {
    lane.cancelExpiry = undefined;
    const next = this.nextToExpire(lane);
    if (next === undefined) return;
    if (!this.hasExpired(next)) this.watchAge(lane);
    else if (lane.state === 'in flight') {
      this.expireBehindEntry(lane);
      this.watchAge(lane);
    } else this.prepareHead(lane);
  }
}

/** Resolves when a record and all records before it have their results. */
function flushed(record: PendingRecord): Promise<void> {
  record.flushed ??= deferred();
  return record.flushed.promise;
}

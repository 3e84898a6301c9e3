import { setMaxListeners } from 'node:events';
import { backoffMs } from '../kernel/backoff';
import type { EvenShardsError } from '../kernel/errors';
import { Backlog } from './backlog';
import { Dispatcher, type DispatchListener } from './dispatcher';
import { Lane } from './lane';
import type { PendingRecord, PutReceipt } from './pending-record';
import { Placement } from './placement';
import {
  EarlierRecordFailedError,
  RecordExpiredError,
  RecordRejectedError,
  StreamDistributionError,
} from './producer-errors';
import type { ProducerSettings } from './producer-options';
import { checkProducerRecord, type ProducerRecord } from './producer-record';
import type { PutSink } from './put-all';
import type { PutRecordsClient } from './put-records-client';
import type { Delivery, Failure, Outcome } from './put-transport';
import { RecordSizeLimit } from './record-size-limit';
import type { StatisticsCounter } from './statistics-counter';
import { UnitFormer } from './unit-former';

/** What rounding leaves of a time must not become a timer of its own, over and over. */
const MIN_TIMER_MS = 1;

/** A producer's lanes, from the moment a record is put to the moment its end is told. */
export class Lanes implements PutSink, DispatchListener {
  readonly skipsRejected: boolean;
  private readonly ending = new AbortController();
  readonly ended: AbortSignal = this.ending.signal;
  private readonly byKey = new Map<string, Lane>();
  private readonly units: UnitFormer;
  private readonly sizeLimit: RecordSizeLimit;
  private readonly backlog: Backlog;
  private readonly dispatcher: Dispatcher;
  /** Why nothing more is sent. */
  private stopped?: EvenShardsError;

  constructor(
    client: PutRecordsClient,
    private readonly settings: ProducerSettings,
    private readonly statistics: StatisticsCounter,
  ) {
    this.skipsRejected = settings.skipRejected;
    const placement = new Placement(settings);
    this.units = new UnitFormer(settings, placement);
    const { maxRecordBytes, stream, requestTimeoutMs, clock } = settings;
    this.sizeLimit = new RecordSizeLimit(maxRecordBytes, client, stream, { ms: requestTimeoutMs, clock });
    this.backlog = new Backlog(settings);
    this.dispatcher = new Dispatcher(client, settings, this.units, placement, statistics, this);
    // Each putAll that waits for its source has one listener, so any number of them is right.
    setMaxListeners(0, this.ended);
  }

  accept(pending: PendingRecord): void {
    const { record } = pending;
    try {
      pending.bytes = this.check(record, this.sizeLimit.highest);
    } catch (error) {
      pending.rejected(error as Error);
      return;
    }
    const { maxRecordAgeMs, clock } = this.settings;
    // To read the clock for each record would cost as much as to find its lane.
    if (maxRecordAgeMs !== undefined) pending.putAtMs = clock.now();
    this.statistics.received();
    this.backlog.add(pending);
    const lane = this.laneOf(record.partitionKey);
    lane.add(pending);
    if (lane.length === 1) {
      this.bringUp(lane);
      return;
    }
    this.watchAge(lane);
    if (lane.state === 'ready') this.dispatcher.grow(lane, pending.bytes);
  }

  room(partitionKey: string): Promise<void> | undefined {
    return this.backlog.room(this.byKey.get(partitionKey));
  }

  /** Waits until every record put so far has ended, or every record of one key. */
  async flush(partitionKey?: string): Promise<void> {
    const lanes = partitionKey === undefined ? [...this.byKey.values()] : [this.byKey.get(partitionKey)];
    await Promise.all(lanes.map((lane) => lane && flushed(lane.tail)));
  }

  /** Takes no more records, for the reason given; those that were put before go on. */
  close(reason: EvenShardsError): void {
    this.ending.abort(reason);
  }

  /** Sends nothing more: rejects the records that wait, at once, and lets those in flight keep their answer. */
  stop(reason: EvenShardsError): void {
    this.stopped = reason;
    this.close(reason);
    for (const lane of [...this.byKey.values()]) {
      if (lane.state === 'waiting' || lane.state === 'ready') this.rejectWaiting(lane, reason);
      else if (lane.state === 'in flight') this.rejectBehindUnit(lane, lane.length, () => reason);
    }
  }

  settle(lane: Lane, outcome: Outcome, hadCompany: boolean): void {
    if (outcome.ok) this.acknowledge(lane, outcome);
    else this.fail(lane, outcome, hadCompany);
  }

  /** Returns what the record counts. */
  private check(record: ProducerRecord, maxRecordBytes: number): number {
    const bytes = checkProducerRecord(record, { maxRecordBytes });
    this.units.checkSize(record, bytes, maxRecordBytes);
    return bytes;
  }

  private laneOf(partitionKey: string): Lane {
    let lane = this.byKey.get(partitionKey);
    if (lane === undefined) {
      lane = new Lane(partitionKey);
      this.byKey.set(partitionKey, lane);
    }
    return lane;
  }

  /** Brings up the first record of a lane that waits, unless that ended. */
  private bringUp(lane: Lane): void {
    // This is a loop, not a call from each record to the next, because any number of them can expire together.
    while (!lane.hasEnded && this.stopped === undefined && this.hasExpired(lane.head)) this.expire(lane);
    if (lane.hasEnded) return;
    if (this.stopped !== undefined) this.rejectWaiting(lane, this.stopped);
    else {
      this.watchAge(lane);
      if (this.sizeLimit.isOpenFor(this.units.maxBytesAlone(lane.head))) void this.askSizeLimit(lane);
      else this.dispatcher.push(lane);
    }
  }

  private acknowledge(lane: Lane, { shardId, sequenceNumber }: Delivery): void {
    const unit = lane.unit!;
    const { records, attempts, position } = unit;
    lane.settle();
    this.statistics.retried(unit);
    for (let index = 0; index < records; index++) {
      const receipt: PutReceipt = { shardId, sequenceNumber, attempts };
      if (position !== undefined) receipt.subSequenceNumber = position + index;
      const first = this.takeFirst(lane);
      this.statistics.delivered(first.record);
      first.delivered(receipt);
      first.flushed?.resolve();
    }
    if (lane.hasEnded) return;
    lane.goOn();
    this.bringUp(lane);
  }

  private fail(lane: Lane, { code, message, retryable, isAmbiguous, cause }: Failure, hadCompany: boolean): void {
    const unit = lane.unit!;
    const mayHaveBeenWritten = isAmbiguous || unit.failure?.mayHaveBeenWritten;
    unit.failure = new RecordRejectedError(code, message, unit.attempts, { cause, mayHaveBeenWritten });
    const isOver = this.stopped !== undefined || this.hasExpired(lane.head);
    // What was refused may be another unit of the pack.
    unit.mustGoAlone ||= !retryable && hadCompany;
    const mayTryAgain = retryable ? unit.attempts < this.settings.maxAttempts : hadCompany;
    if (mayTryAgain && !isOver) {
      const delayMs = backoffMs(unit.attempts, this.settings);
      lane.backOff(this.settings.clock.schedule(() => this.dispatcher.push(lane), delayMs));
    } else {
      this.rejectFirst(lane, unit.records, unit.failure);
      this.bringUp(lane);
    }
  }

  /** Rejects the first records of a lane for good, and with them the later ones unless these are to go on. */
  private rejectFirst(lane: Lane, records: number, error: EvenShardsError): void {
    lane.settle();
    // The lane ends first, so that whoever hears of the rejection and puts the record again puts it into a new lane.
    if (!this.skipsRejected) this.end(lane);
    for (let index = 0; index < records; index++) this.reject(lane, error);
    if (!lane.hasEnded) lane.goOn();
    else this.rejectAll(lane, new EarlierRecordFailedError(lane.partitionKey, { cause: error }));
  }

  /** Rejects all records of a lane that is not in flight. Those that were sent before are rejected with what they failed of. */
  private rejectWaiting(lane: Lane, error: EvenShardsError): void {
    const { records = 0, failure = error } = lane.unit ?? {};
    this.end(lane);
    for (let index = 0; index < records; index++) this.reject(lane, failure);
    this.rejectAll(lane, error);
  }

  private rejectAll(lane: Lane, error: EvenShardsError): void {
    while (lane.length > 0) this.reject(lane, error);
  }

  /**
   * Rejects up to `count` records that wait behind the unit in flight. The lane stays: a record that is put afterwards
   * waits for the unit as well.
   */
  private rejectBehindUnit(lane: Lane, count: number, errorOf: (index: number) => EvenShardsError): void {
    const { lastInFlight } = lane;
    lane.takeBehindUnit(count).forEach((record, index) => {
      this.backlog.remove(record);
      this.statistics.rejected();
      record.rejected(errorOf(index));
      // Whoever waits for all records up to this one waits for the unit, too.
      if (record.flushed !== undefined) void flushed(lastInFlight).then(record.flushed.resolve);
    });
  }

  private reject(lane: Lane, error: EvenShardsError): void {
    const first = this.takeFirst(lane);
    this.statistics.rejected();
    first.rejected(error);
    first.flushed?.resolve();
  }

  /** Takes the lane's first record out of the books, before its end is told. */
  private takeFirst(lane: Lane): PendingRecord {
    const first = lane.shift();
    if (lane.length === 0 && !lane.hasEnded) this.end(lane);
    this.backlog.remove(first);
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
    const { records = 1, failure = new RecordExpiredError(this.settings.maxRecordAgeMs!) } = lane.unit ?? {};
    this.rejectFirst(lane, records, failure);
  }

  private expireBehindUnit(lane: Lane): void {
    const expired = new RecordExpiredError(this.settings.maxRecordAgeMs!);
    if (!this.skipsRejected) {
      const later = new EarlierRecordFailedError(lane.partitionKey, { cause: expired });
      this.rejectBehindUnit(lane, lane.length, (index) => (index === 0 ? expired : later));
      return;
    }
    let count = 0;
    for (let { firstWaiting: next } = lane; next !== undefined && this.hasExpired(next); next = next.next) count += 1;
    this.rejectBehindUnit(lane, count, () => expired);
  }

  /** Sees to it that records are rejected when their time is over and they are not in flight. A lane has one timer. */
  private watchAge(lane: Lane): void {
    const { maxRecordAgeMs, clock } = this.settings;
    if (maxRecordAgeMs === undefined || lane.cancelExpiry !== undefined) return;
    const next = this.nextToExpire(lane);
    if (next === undefined) return;
    const leftMs = next.putAtMs + maxRecordAgeMs - clock.now();
    lane.cancelExpiry = clock.schedule(() => this.heedAge(lane), Math.max(MIN_TIMER_MS, leftMs));
  }

  /** The oldest record, unless that is in flight and has only its answer to wait for. */
  private nextToExpire(lane: Lane): PendingRecord | undefined {
    return lane.state === 'in flight' && this.hasExpired(lane.head) ? lane.firstWaiting : lane.head;
  }

  private heedAge(lane: Lane): void {
    lane.cancelExpiry = undefined;
    const next = this.nextToExpire(lane);
    if (next === undefined) return;
    if (!this.hasExpired(next)) this.watchAge(lane);
    else if (lane.state === 'in flight') {
      this.expireBehindUnit(lane);
      this.watchAge(lane);
    } else this.bringUp(lane);
  }

  /** Waits with a record for the stream's answer whether it takes one so large. */
  private async askSizeLimit(lane: Lane): Promise<void> {
    const { head } = lane;
    let refusal: EvenShardsError | undefined;
    try {
      this.check(head.record, await this.sizeLimit.ask());
    } catch (error) {
      refusal = error as EvenShardsError;
    }
    if (refusal instanceof StreamDistributionError) this.stop(refusal);
    else if (lane.head !== head) return;
    else if (refusal === undefined) this.dispatcher.push(lane);
    else {
      this.rejectFirst(lane, 1, refusal);
      this.bringUp(lane);
    }
  }
}

/** Resolves when a record has ended, and with it all that were put before it. However many wait, they share a promise. */
function flushed(record: PendingRecord): Promise<void> {
  if (record.flushed === undefined) {
    let resolve!: () => void;
    const promise = new Promise<void>((resolved) => {
      resolve = resolved;
    });
    record.flushed = { promise, resolve };
  }
  return record.flushed.promise;
}

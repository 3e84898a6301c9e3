import { setMaxListeners } from 'node:events';
import { backoffMs } from '../foundation/backoff';
import { type EvenShardsError, InvalidArgumentError } from '../foundation/errors';
import { hashPartitionKey } from '../foundation/hash-key-space';
import { Backlog } from './backlog';
import { Lane, type PendingRecord, type PutReceipt, type RecordEnd } from './lane';
import {
  EarlierRecordFailedError,
  ProducerAbortedError,
  ProducerClosedError,
  RecordExpiredError,
  RecordRejectedError,
  StreamDistributionError,
} from './producer-errors';
import { type OrderedProducerOptions, type ProducerSettings, producerSettings } from './producer-options';
import { checkProducerRecord, type ProducerRecord, recordBytes } from './producer-record';
import { noStatistics, type ProducerStatistics } from './producer-statistics';
import { type PutObserver, type PutSummary, putAll } from './put-all';
import type { PutRecordsClient } from './put-records-client';
import {
  bulkPuts,
  type Delivery,
  type Failure,
  type Outcome,
  type PutTransport,
  sequentialPuts,
} from './put-transport';
import { ReadyLanes } from './ready-lanes';
import { RecordSizeLimit } from './record-size-limit';
import { isShardThrottle } from './retry';
import { StreamShards } from './stream-shards';
import { UnitFormer } from './unit';

/** What rounding leaves of a time must not become a timer of its own, over and over. */
const SHORTEST_TIMER_MS = 1;

/** How long a shard that has had its share waits at least, in milliseconds, so that its next records go together. */
const PACE_MS = 20;

/**
 * Writes records to a Kinesis stream in bulk and keeps the order of every partition key through every partial failure.
 *
 * PutRecords goes on after a failed record, so sending the failed ones again reorders them. This producer keeps at most
 * one unacknowledged unit of each partition key, a record or an aggregate of several: the records of a key form a lane,
 * a request takes the first unit of many lanes, and a lane moves on only when its unit is acknowledged. Requests over
 * disjoint lanes run side by side; none waits for another.
 *
 * A unit that fails is sent again with exponential back-off. When it is rejected for good, the records of its key that
 * wait behind it are rejected too (`EarlierRecordFailedError`), unless `skipRejected` is set; other keys go on. A record
 * of that key that is put afterwards starts anew.
 *
 * To each shard it sends no more than the shard takes, less where others write too: a shard at its limit does not slow
 * the others.
 *
 * A request whose answer is lost may have been applied: its records are then sent again, and a consumer can see the
 * earlier copy, too; one that the network held back may even come after later records of its key. With `sequence` a
 * consumer can tell.
 */
export class OrderedProducer {
  private readonly settings: ProducerSettings;
  private readonly transport: PutTransport;
  private readonly units: UnitFormer;
  private readonly shards: StreamShards;
  private readonly sizeLimit: RecordSizeLimit;
  private readonly lanes = new Map<string, Lane>();
  private readonly ready: ReadyLanes;
  private readonly backlog: Backlog;
  private readonly counts = noStatistics();
  private readonly ending = new AbortController();
  /** Why nothing more is sent. */
  private stopped?: EvenShardsError;
  private requestsInFlight = 0;
  private isSendScheduled = false;
  private isPacing = false;

  /** @throws InvalidArgumentError if an option is out of bounds */
  constructor(client: PutRecordsClient, options: OrderedProducerOptions) {
    const settings = producerSettings(options);
    if (settings.sequentialPuts && client.putRecord === undefined) {
      throw new InvalidArgumentError('sequentialPuts', true, 'absent for a client without putRecord');
    }
    this.settings = settings;
    this.transport = (settings.sequentialPuts ? sequentialPuts : bulkPuts)(client, settings.stream);
    this.units = new UnitFormer(settings);
    this.ready = new ReadyLanes(this.units);
    this.shards = new StreamShards(client, settings.stream, settings.clock);
    this.sizeLimit = new RecordSizeLimit(settings.maxRecordBytes, client, settings.stream);
    this.backlog = new Backlog(settings);
    // One listener for each putAll that waits for its source: any number of them is right.
    setMaxListeners(0, this.ending.signal);
    settings.signal?.addEventListener('abort', this.onAbort, { once: true });
    if (settings.signal?.aborted) this.onAbort();
  }

  /**
   * Puts one record behind the earlier records of its partition key, in the order of the calls.
   *
   * Always look at what it returns: a rejection that nobody handles is reported by Node.js as such.
   *
   * @returns the receipt, once Kinesis has acknowledged the record
   * @throws (as a rejection) a typed error before anything is sent if the record is invalid; `RecordRejectedError`,
   *   `EarlierRecordFailedError`, `RecordExpiredError`, `StreamDistributionError`, `ProducerClosedError` or
   *   `ProducerAbortedError` if it will not be delivered. Only a `RecordRejectedError` with `mayHaveBeenWritten` leaves
   *   open whether the record is in the stream
   */
  put(record: ProducerRecord): Promise<PutReceipt> {
    return new Promise((delivered, rejected) => {
      this.ending.signal.throwIfAborted();
      this.accept(record, { delivered, rejected });
    });
  }

  /**
   * Puts every record of a source, in order, and pulls from it only as fast as the stream and the buffer allow.
   * After a rejection the later records of that partition key are not sent, unless `skipRejected` is set; the other keys
   * go on.
   *
   * @param observer is told of every record's end, with its position in the source
   * @throws what the source or the observer throws, or `ProducerAbortedError`, `ProducerClosedError` or
   *   `StreamDistributionError` if the producer ends before the source does; in each case after the records pulled so
   *   far have ended
   */
  putAll<R extends ProducerRecord>(
    records: Iterable<R> | AsyncIterable<R>,
    observer: PutObserver<R> = {},
  ): Promise<PutSummary> {
    const sink = {
      ended: this.ending.signal,
      skipsRejected: this.settings.skipRejected,
      accept: (record: R, end: RecordEnd) => this.accept(record, end),
      room: (partitionKey: string) => this.backlog.room(this.lanes.get(partitionKey)),
    };
    return putAll(sink, records, observer);
  }

  /**
   * Waits until every record put so far has its receipt or rejection, or every record of one key: its lane is then
   * drained, and its next record may go elsewhere. Rejections go to whoever put the records.
   */
  async flush(partitionKey?: string): Promise<void> {
    const lanes = partitionKey === undefined ? [...this.lanes.values()] : [this.lanes.get(partitionKey)];
    await Promise.all(lanes.map((lane) => lane && flushed(lane.pending.tail!)));
  }

  /** Takes no more records, and waits until every record put so far has its receipt or rejection. */
  async close(): Promise<void> {
    this.ending.abort(new ProducerClosedError());
    await this.flush();
    this.settings.signal?.removeEventListener('abort', this.onAbort);
  }

  /** What the producer has done so far. */
  statistics(): ProducerStatistics {
    return { ...this.counts, errorsByCode: { ...this.counts.errorsByCode } };
  }

  private accept(record: ProducerRecord, end: RecordEnd): void {
    try {
      this.check(record, this.sizeLimit.highest);
    } catch (error) {
      end.rejected(error as Error);
      return;
    }
    const pending: PendingRecord = { record, bytes: recordBytes(record), end, putAtMs: this.settings.clock.now() };
    this.counts.userRecordsReceived += 1;
    this.backlog.add(pending);
    const lane = this.laneOf(record.partitionKey);
    lane.pending.push(pending);
    lane.bytes += pending.bytes;
    if (lane.pending.length === 1) this.goOn(lane);
  }

  private check(record: ProducerRecord, maxRecordBytes: number): void {
    checkProducerRecord(record, { maxRecordBytes });
    this.units.checkSize(record, maxRecordBytes);
  }

  private laneOf(partitionKey: string): Lane {
    let lane = this.lanes.get(partitionKey);
    if (lane === undefined) {
      lane = new Lane(partitionKey);
      this.lanes.set(partitionKey, lane);
    }
    return lane;
  }

  /** Brings up the lane's first record. */
  private goOn(lane: Lane): void {
    lane.state = 'waiting';
    if (lane.pending.length === 0) return;
    if (this.stopped !== undefined) this.rejectWaiting(lane, this.stopped);
    else if (this.hasExpired(lane)) this.expire(lane);
    else {
      this.watchAge(lane);
      if (this.sizeLimit.isOpenFor(this.units.mostBytesAlone(lane.head))) void this.askSizeLimit(lane);
      else this.makeReady(lane);
    }
  }

  /** Queues a lane for the next request. Requests form in a microtask, so that records put together go together. */
  private makeReady(lane: Lane): void {
    this.ready.push(lane);
    if (this.isSendScheduled) return;
    this.isSendScheduled = true;
    queueMicrotask(() => {
      this.isSendScheduled = false;
      this.sendReady();
    });
  }

  private sendReady(): void {
    while (this.ready.hasTurns && this.mayStartRequest()) {
      const batch = this.ready.takeBatch(this.settings.maxRequestRecords, this.settings.clock.now());
      if (batch.length > 0) void this.send(batch);
    }
    if (this.ready.hasParked) this.pace();
  }

  /** With the second request the shards begin to matter: until they are known, requests go one at a time. */
  private mayStartRequest(): boolean {
    const { map } = this.shards;
    const isFirst = this.counts.requests + this.requestsInFlight === 0;
    if (map === undefined && !isFirst) void this.readShards();
    const mostInFlight = map === undefined && this.shards.isLoading ? 1 : this.settings.maxRequestsInFlight;
    return this.requestsInFlight < mostInFlight;
  }

  private pace(): void {
    if (this.isPacing) return;
    this.isPacing = true;
    this.settings.clock.schedule(() => {
      this.isPacing = false;
      this.ready.unpark();
      this.sendReady();
    }, PACE_MS);
  }

  private async send(batch: Lane[]): Promise<void> {
    const sentAtMs = this.settings.clock.now();
    this.requestsInFlight += 1;
    const outcomes = await this.transport(batch.map(({ unit }) => unit!.entry));
    this.requestsInFlight -= 1;
    this.counts.requests += 1;
    this.counts.requestRecords += batch.length;
    this.counts.requestTimeMs += this.settings.clock.now() - sentAtMs;
    batch.forEach((lane, index) => {
      this.settle(lane, outcomes[index]!, sentAtMs);
    });
    this.sendReady();
  }

  private settle(lane: Lane, outcome: Outcome, sentAtMs: number): void {
    lane.unit!.attempts += 1;
    if (outcome.ok) this.acknowledge(lane, outcome);
    else this.fail(lane, outcome, sentAtMs);
  }

  private acknowledge(lane: Lane, { shardId, sequenceNumber }: Delivery): void {
    const { records, entry, attempts, isAggregate } = lane.unit!;
    const { shardId: expected } = lane.place?.queue ?? {};
    if (expected !== undefined && expected !== shardId) void this.checkShard(lane, shardId);
    this.counts.kinesisRecordsPut += 1;
    this.counts.kinesisRecordsDataPut += entry.Data.byteLength;
    this.counts.retries += records * (attempts - 1);
    lane.unit = undefined;
    for (let index = 0; index < records; index++) {
      const receipt: PutReceipt = { shardId, sequenceNumber, attempts };
      if (isAggregate) receipt.subSequenceNumber = index;
      this.finish(lane, ({ record, end }) => {
        this.counts.userRecordsPut += 1;
        this.counts.userRecordsDataPut += record.data.byteLength;
        end.delivered(receipt);
      });
    }
    this.goOn(lane);
  }

  private fail(lane: Lane, failure: Failure, sentAtMs: number): void {
    const { code, message, retryable, isAmbiguous, cause } = failure;
    const unit = lane.unit!;
    const mayHaveBeenWritten = isAmbiguous || unit.failure?.mayHaveBeenWritten;
    unit.failure = new RecordRejectedError(code, message, unit.attempts, { cause, mayHaveBeenWritten });
    this.counts.allErrors += 1;
    this.counts.errorsByCode[code] = (this.counts.errorsByCode[code] ?? 0) + 1;
    if (isShardThrottle(code)) lane.place?.queue.limiter?.throttled(sentAtMs, this.settings.clock.now());
    const isLast = unit.attempts >= this.settings.maxAttempts || this.stopped !== undefined || this.hasExpired(lane);
    if (retryable && !isLast) this.backOff(lane, backoffMs(unit.attempts, this.settings));
    else this.rejectFirst(lane, unit.records, unit.failure);
  }

  private backOff(lane: Lane, delayMs: number): void {
    lane.state = 'waiting';
    lane.cancelBackoff = this.settings.clock.schedule(() => this.makeReady(lane), delayMs);
    this.watchAge(lane);
  }

  /** Rejects the first records of a lane for good, and what waits behind them unless it is to go on. */
  private rejectFirst(lane: Lane, records: number, error: EvenShardsError): void {
    lane.state = 'under way';
    lane.cancelBackoff?.();
    lane.unit = undefined;
    // Out of the books first: who hears of the rejection and puts the record again puts it into a new lane.
    if (!this.settings.skipRejected) this.drop(lane);
    for (let index = 0; index < records; index++) this.reject(lane, error);
    if (this.settings.skipRejected) this.goOn(lane);
    else this.rejectWaiting(lane, new EarlierRecordFailedError(lane.partitionKey, { cause: error }));
  }

  /** Rejects all records of a lane that is not under way; those that were sent before, with what they failed of. */
  private rejectWaiting(lane: Lane, error: EvenShardsError): void {
    lane.state = 'waiting';
    lane.cancelBackoff?.();
    this.drop(lane);
    const { records = 0, failure = error } = lane.unit ?? {};
    for (let index = 0; lane.pending.length > 0; index++) this.reject(lane, index < records ? failure : error);
  }

  private reject(lane: Lane, error: EvenShardsError): void {
    this.finish(lane, ({ end }) => {
      this.counts.userRecordsFailed += 1;
      end.rejected(error);
    });
  }

  /** Takes the lane's first record out of the producer's books, then tells its end. */
  private finish(lane: Lane, tell: (record: PendingRecord) => void): void {
    const record = lane.pending.shift()!;
    lane.bytes -= record.bytes;
    if (lane.pending.length === 0) this.drop(lane);
    this.backlog.remove(record);
    tell(record);
    for (const resolve of record.flushed ?? []) resolve();
  }

  private drop(lane: Lane): void {
    lane.cancelExpiry?.();
    lane.cancelExpiry = undefined;
    if (this.lanes.get(lane.partitionKey) === lane) this.lanes.delete(lane.partitionKey);
  }

  private hasExpired({ head }: Lane): boolean {
    const { maxRecordAgeMs = Number.POSITIVE_INFINITY, clock } = this.settings;
    return clock.now() - head.putAtMs >= maxRecordAgeMs;
  }

  private expire(lane: Lane): void {
    const { records = 1, failure = new RecordExpiredError(this.settings.maxRecordAgeMs!) } = lane.unit ?? {};
    this.rejectFirst(lane, records, failure);
  }

  /** Sees to it that the lane's first record is rejected when its time is over. One timer a lane. */
  private watchAge(lane: Lane): void {
    const { maxRecordAgeMs, clock } = this.settings;
    if (maxRecordAgeMs === undefined || lane.cancelExpiry !== undefined) return;
    const leftMs = lane.head.putAtMs + maxRecordAgeMs - clock.now();
    lane.cancelExpiry = clock.schedule(
      () => {
        lane.cancelExpiry = undefined;
        if (lane.state === 'under way') return;
        if (this.hasExpired(lane)) this.expire(lane);
        else this.watchAge(lane);
      },
      Math.max(SHORTEST_TIMER_MS, leftMs),
    );
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
    else if (refusal !== undefined) this.rejectFirst(lane, 1, refusal);
    else this.makeReady(lane);
  }

  /** Resolves to whether there is a new map. */
  private async readShards({ isUrgent = false } = {}): Promise<boolean> {
    const isNew = await this.shards.refresh({ isUrgent });
    if (isNew === undefined) return false;
    if (isNew) this.ready.remap(this.shards.map!, this.settings.clock.now());
    this.sendReady();
    return isNew;
  }

  /**
   * A record landed elsewhere than the shard map says: the map is old, or the stream ignores keys. Where the map
   * contradicts, a new one decides: a stream that was deleted and made again has its shard ids anew.
   */
  private async checkShard({ head, partitionKey }: Lane, shardId: string): Promise<void> {
    const hashKey = head.record.explicitHashKey ?? hashPartitionKey(partitionKey);
    const isContradicted = (): boolean => this.shards.map!.contradicts(hashKey, shardId);
    const isUrgent = isContradicted();
    const isNew = await this.readShards({ isUrgent });
    if (isUrgent && isNew && isContradicted()) this.stop(new StreamDistributionError());
  }

  /** Sends nothing more: rejects what waits, and lets what is under way keep its answer. */
  private stop(reason: EvenShardsError): void {
    if (this.stopped !== undefined) return;
    this.stopped = reason;
    this.ending.abort(reason);
    for (const lane of [...this.lanes.values()]) {
      if (lane.state !== 'under way') this.rejectWaiting(lane, reason);
    }
  }

  private readonly onAbort = (): void => {
    this.stop(new ProducerAbortedError({ cause: this.settings.signal?.reason }));
  };
}

/** Resolves when a record has ended: the last of a lane, and with it the lane. */
function flushed(record: PendingRecord): Promise<void> {
  return new Promise((resolve) => {
    record.flushed = [...(record.flushed ?? []), resolve];
  });
}

import { Backlog } from './backlog';
import { Dispatcher } from './dispatcher';
import { EntryFormer } from './entry-former';
import { warnOfHttp2 } from './http2-warning';
import type { Lane } from './lane';
import { Lanes } from './lanes';
import type { OutgoingRecord } from './outgoing-record';
import { PendingRecord, type PutReceipt } from './pending-record';
import { ProducerAbortedError, ProducerClosedError } from './producer-errors';
import { type OrderedProducerOptions, type ProducerSettings, producerSettings } from './producer-options';
import { checkPartitionKey, type ProducerRecord } from './producer-record';
import type { ProducerStatistics } from './producer-statistics';
import { type PutObserver, type PutSummary, putAll } from './put-all';
import { checkPutClient, type PutRecordsClient } from './put-records-client';
import { type Outcome, type PutTransport, putTransport } from './put-transport';
import { RecordHashKeys } from './record-hash-keys';
import { RecordSizeLimit } from './record-size-limit';
import { StatisticsCounter } from './statistics-counter';

/**
 * Writes records to a Kinesis stream in bulk and keeps the order of every partition key through every partial failure.
 *
 * PutRecords continues after a failed record, so sending the failed records again reorders them. This producer keeps at most
 * one unacknowledged Kinesis record of each partition key: a user record, or an aggregate of several user records. The records
 * of a key form a lane. A request contains the first Kinesis record of many lanes. A lane continues only after its record is
 * acknowledged. Requests with different lanes run in parallel.
 *
 * A failed Kinesis record is sent again with exponential back-off. If all attempts fail, or Kinesis rejects the record as
 * invalid, the producer rejects the record. Unless `skipRejected` is set, it also rejects the waiting records of the same key
 * (`EarlierRecordFailedError`). Other keys continue, and later `put` calls for that key are accepted again.
 *
 * The producer sends to each shard only as much as the shard accepts, and less if other producers also write to the shard. A
 * shard at its limit does not delay the other shards.
 *
 * The producer aborts a request that has no response within `requestTimeoutMs`. If the response is lost or incomplete, Kinesis
 * may have stored the records anyway. The producer sends them again, and a consumer can see duplicates. A duplicate from a
 * request that the network delayed may even come after later records of its key. With `sequence`, a consumer can recognise this
 * duplicate.
 */
export class OrderedProducer {
  private readonly settings: ProducerSettings;
  private readonly counter = new StatisticsCounter();
  private readonly sizeLimit: RecordSizeLimit;
  private readonly backlog: Backlog;
  private readonly dispatcher: Dispatcher;
  private readonly lanes: Lanes;
  private readonly transport: PutTransport;

  /** @throws InvalidArgumentError if an option is out of bounds */
  constructor(client: PutRecordsClient, options: OrderedProducerOptions) {
    checkPutClient(client);
    const settings = producerSettings(options);
    warnOfHttp2(client);
    const { stream, requestTimeoutMs, clock, maxRecordBytes, signal } = settings;
    const limit = { ms: requestTimeoutMs, clock };
    const hashKeys = new RecordHashKeys(settings);
    const former = new EntryFormer(settings, hashKeys);
    this.settings = settings;
    this.transport = putTransport(client, settings);
    this.sizeLimit = new RecordSizeLimit(maxRecordBytes, client, stream, limit, former);
    this.backlog = new Backlog(settings);
    this.dispatcher = new Dispatcher(client, settings, former, hashKeys, this.counter, {
      onTurn: () => this.sendReady(),
      onFailure: (reason) => this.lanes.stop(reason),
    });
    this.lanes = new Lanes(settings, this.sizeLimit, this.backlog, this.dispatcher, this.counter);
    signal?.addEventListener('abort', this.onAbort);
    if (signal?.aborted) this.onAbort();
  }

  /**
   * Puts one record behind the earlier records of its partition key, in the order of the calls.
   *
   * Always handle the returned promise, because Node.js reports unhandled rejections.
   *
   * @returns the receipt, once Kinesis has acknowledged the record
   * @throws (as a rejection) a typed error if the record is invalid, before anything is sent
   * @throws (as a rejection) `RecordRejectedError`, `EarlierRecordFailedError`, `RecordExpiredError`, `StreamDistributionError`,
   *   `ProducerClosedError` or `ProducerAbortedError` if the record is not delivered. The record is then not in the stream,
   *   unless the error is a `RecordRejectedError` with `mayHaveBeenWritten`
   */
  put(record: ProducerRecord): Promise<PutReceipt> {
    return new Promise((delivered, rejected) => {
      this.lanes.ended.throwIfAborted();
      this.accept(new SingleRecord(record, delivered, rejected));
    });
  }

  // The pipeline of a record, from top to bottom: accept, wait for the turn, form, send, settle.

  /** Accept: checks the record, reserves room for it in the buffer, and appends it to the lane of its key. */
  private accept(pending: PendingRecord): void {
    try {
      pending.bytes = this.sizeLimit.check(pending.record);
    } catch (error) {
      pending.rejected(error as Error);
      return;
    }
    this.counter.received();
    this.backlog.reserve(pending);
    // Wait for the turn: a lane whose first record may be sent calls `dispatcher.enqueue`, now or after a back-off.
    this.lanes.append(pending);
  }

  /** Form: for each request that may start, the dispatcher takes the next lanes and forms their Kinesis records. */
  private sendReady(): void {
    for (let batch = this.dispatcher.takeBatch(); batch !== undefined; batch = this.dispatcher.takeBatch()) {
      void this.send(batch);
    }
  }

  /** Send: one request contains the Kinesis records of many lanes. */
  private async send(batch: OutgoingRecord[]): Promise<void> {
    const sentAtMs = this.settings.clock.now();
    const outcomes = await this.transport(batch.map(({ entry }) => entry));
    this.dispatcher.handleResults(batch, outcomes, sentAtMs);
    batch.forEach(({ lanes }, index) => {
      for (const lane of lanes) this.settle(lane, outcomes[index]!, lanes.length > 1);
    });
    this.sendReady();
  }

  /**
   * Settle: the records of the lane get their receipts or rejections, or are sent again. Then the lane waits for its next turn.
   */
  private settle(lane: Lane, outcome: Outcome, isShared: boolean): void {
    if (outcome.ok) this.lanes.acknowledge(lane, outcome);
    else this.lanes.fail(lane, outcome, isShared);
  }

  /**
   * Puts every record of a source, in order, and pulls from the source only as fast as the stream and the buffer allow. After a
   * rejection, later records of that partition key are not sent, unless `skipRejected` is set. Other keys continue. `putAll`
   * remembers the 100,000 most recent keys with a rejection.
   *
   * @param observer gets the result of every record, with its position in the source; `putAll` waits for a promise that a method
   *   of the observer returns
   * @throws InvalidArgumentError if `records` is not an iterable of records, or `observer` is not an object
   * @throws the error of the source or of the observer; `ProducerAbortedError`, `ProducerClosedError` or
   *   `StreamDistributionError` if the producer ends before the source. `putAll` throws only after all pulled records have their
   *   results
   */
  putAll<R extends ProducerRecord>(
    records: Iterable<R> | AsyncIterable<R>,
    observer: PutObserver<R> = {},
  ): Promise<PutSummary> {
    const sink = {
      ended: this.lanes.ended,
      skipRejected: this.skipRejected,
      accept: (pending: PendingRecord) => this.accept(pending),
      room: (partitionKey: string) => this.lanes.room(partitionKey),
      observed: new Backlog(this.settings),
    };
    return putAll(sink, records, observer);
  }

  /**
   * Waits until all records that were put before this call have their receipts or rejections. With a partition key, it waits
   * only for the records of that key. After `flush`, the next record of the key may have another hash key. `flush` does not
   * throw rejections, because the caller of `put` gets them.
   *
   * @throws InvalidPartitionKeyError if the partition key is invalid
   */
  async flush(partitionKey?: string): Promise<void> {
    if (partitionKey !== undefined) checkPartitionKey('partitionKey', partitionKey);
    await this.lanes.flush(partitionKey);
  }

  /** Accepts no more records, and waits until all earlier records have their receipts or rejections. */
  async close(): Promise<void> {
    this.lanes.close(new ProducerClosedError());
    await this.flush();
    this.settings.signal?.removeEventListener('abort', this.onAbort);
  }

  /** The option `skipRejected`: whether a key continues after a rejected record. */
  get skipRejected(): boolean {
    return this.settings.skipRejected;
  }

  /** The counts of the producer so far. */
  statistics(): ProducerStatistics {
    return this.counter.snapshot();
  }

  private readonly onAbort = (): void => {
    this.lanes.stop(new ProducerAbortedError({ cause: this.settings.signal?.reason }));
  };
}

class SingleRecord extends PendingRecord {
  constructor(
    record: ProducerRecord,
    readonly delivered: (receipt: PutReceipt) => void,
    readonly rejected: (error: Error) => void,
  ) {
    super(record);
  }
}

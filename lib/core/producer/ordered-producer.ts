import { InvalidArgumentError } from '../kernel/errors';
import { warnOfHttp2 } from './http2-warning';
import { Lanes } from './lanes';
import { PendingRecord, type PutReceipt } from './pending-record';
import { ProducerAbortedError, ProducerClosedError } from './producer-errors';
import { type OrderedProducerOptions, producerSettings } from './producer-options';
import type { ProducerRecord } from './producer-record';
import type { ProducerStatistics } from './producer-statistics';
import { type PutObserver, type PutSummary, putAll } from './put-all';
import type { PutRecordsClient } from './put-records-client';
import { StatisticsCounter } from './statistics-counter';

/**
 * Writes records to a Kinesis stream in bulk and keeps the order of every partition key through every partial failure.
 *
 * PutRecords goes on after a failed record, so sending the failed records again reorders them. This producer keeps at
 * most one unacknowledged Kinesis record of each partition key: a user record, or an aggregate of several. The records
 * of a key form a lane, a request takes the first Kinesis record of many lanes, and a lane moves on only when that is
 * acknowledged. Requests over disjoint lanes run side by side; none waits for another.
 *
 * A Kinesis record that fails is sent again with exponential back-off. When it is rejected for good, the records of its
 * key that wait behind it are rejected too (`EarlierRecordFailedError`), unless `skipRejected` is set; other keys go on.
 * A record of that key that is put afterwards starts anew.
 *
 * The producer sends no more to each shard than the shard takes, and less where other producers write too: a shard at
 * its limit does not slow the other shards.
 *
 * A request that has no answer in `requestTimeoutMs` is given up. One whose answer is lost, or says not what became of
 * its records, may have been applied: its records are then sent again, and a consumer can see the
 * earlier copy, too; one that the network held back may even come after later records of its key. With `sequence` a
 * consumer can tell.
 */
export class OrderedProducer {
  private readonly lanes: Lanes;
  private readonly counter = new StatisticsCounter();
  private readonly signal: AbortSignal | undefined;

  /** @throws InvalidArgumentError if an option is out of bounds */
  constructor(client: PutRecordsClient, options: OrderedProducerOptions) {
    const settings = producerSettings(options);
    warnOfHttp2(client);
    if (settings.sequentialPuts && client.putRecord === undefined) {
      throw new InvalidArgumentError('sequentialPuts', true, 'absent for a client without putRecord');
    }
    this.lanes = new Lanes(client, settings, this.counter);
    this.signal = settings.signal;
    this.signal?.addEventListener('abort', this.onAbort);
    if (this.signal?.aborted) this.onAbort();
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
      this.lanes.ended.throwIfAborted();
      this.lanes.accept(new SingleRecord(record, delivered, rejected));
    });
  }

  /**
   * Puts every record of a source, in order, and pulls from it only as fast as the stream and the buffer allow.
   * After a rejection the later records of that partition key are not sent, unless `skipRejected` is set; the other keys
   * go on. That lasts to the end of the source, or, where it has no end, until 100,000 other keys have had a rejection
   * since the last one of this key: then the key is forgotten, and its next record is sent.
   *
   * @param observer is told of every record's end, with its position in the source; the call ends when what it returns has
   * @throws InvalidArgumentError if `records` is no iterable of records, or `observer` no object; what the source or the observer throws, or `ProducerAbortedError`, `ProducerClosedError` or
   *   `StreamDistributionError` if the producer ends before the source does; in each case after the records pulled so
   *   far have ended
   */
  putAll<R extends ProducerRecord>(
    records: Iterable<R> | AsyncIterable<R>,
    observer: PutObserver<R> = {},
  ): Promise<PutSummary> {
    return putAll(this.lanes, records, observer);
  }

  /**
   * Waits until every record put so far has its receipt or rejection, or every record of one key: its lane is then
   * drained, and its next record may go elsewhere. Rejections go to whoever put the records.
   */
  flush(partitionKey?: string): Promise<void> {
    return this.lanes.flush(partitionKey);
  }

  /** Takes no more records, and waits until every record put so far has its receipt or rejection. */
  async close(): Promise<void> {
    this.lanes.close(new ProducerClosedError());
    await this.flush();
    this.signal?.removeEventListener('abort', this.onAbort);
  }

  /** Whether a rejected record is left out, and its key goes on: the option `skipRejected`. */
  get skipsRejected(): boolean {
    return this.lanes.skipsRejected;
  }

  /** What the producer has done so far. */
  statistics(): ProducerStatistics {
    return this.counter.snapshot();
  }

  private readonly onAbort = (): void => {
    this.lanes.stop(new ProducerAbortedError({ cause: this.signal?.reason }));
  };
}

/** A record of a `put`, whose promise hears how it ended. */
class SingleRecord extends PendingRecord {
  constructor(
    record: ProducerRecord,
    readonly delivered: (receipt: PutReceipt) => void,
    readonly rejected: (error: Error) => void,
  ) {
    super(record);
  }
}

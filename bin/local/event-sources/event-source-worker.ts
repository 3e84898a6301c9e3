import { EMPTY_EVENT_BYTES, MAX_EVENT_BYTES } from '../../../lib/core/contract/kinesis-event';
import { type Clock, systemClock } from '../../../lib/core/kernel/clock';
import { Condition } from '../../../lib/core/kernel/condition';
import { sleepUnlessAborted } from '../../../lib/core/kernel/pause';
import type { KinesisRecord } from '../../stream-shards/shard-reader';

/** Records of one shard, in order. */
export interface ShardBatch {
  readonly shardId: string;
  readonly records: readonly KinesisRecord[];
}

/** The result of the delivery of a batch. */
export interface Delivery {
  /** The number of records at the beginning of the batch that are done. The other records are delivered again. */
  readonly done: number;
  /** The reason why the other records are not done. */
  readonly problem?: string;
  /** Whether the function was invoked. An attempt without an invocation does not count. @default true */
  readonly wasInvoked?: boolean;
}

/** The settings of an event source mapping: how a worker collects and delivers batches. */
export interface WorkerSettings {
  /** The maximum number of records in a batch. */
  readonly batchSize: number;
  /** The batching window: how long the worker collects records for a batch, in milliseconds. */
  readonly windowMs: number;
  /** The maximum number of times that a batch is delivered again. Absent if there is no limit. */
  readonly retries?: number | undefined;
  /** The maximum age of a record, in milliseconds. Absent if there is no limit. */
  readonly maxAgeMs?: number | undefined;
  /** Whether a failed batch is split in two. */
  readonly bisects: boolean;
  /** The wait before the first retry of a batch, in milliseconds. The wait doubles with each retry. @default 250 */
  readonly retryMs?: number;
  /** The longest wait before a retry, in milliseconds. @default 10,000 */
  readonly longestRetryMs?: number;
  /** @default the clock of the system */
  readonly clock?: Clock;
  /** The current time for the age of a record, in milliseconds since the epoch. @default the time of day */
  readonly timeOfDay?: () => number;
  /** Whether the mapping has an on-failure destination. @default false */
  readonly hasOnFailure?: boolean;
  /** The bytes of a record in an event. @default an estimate */
  readonly eventBytes?: (record: KinesisRecord, shardId: string) => number;
  deliver(batch: ShardBatch): Promise<Delivery>;
  /**
   * Called with records that the worker discards, because they have reached the maximum number of attempts or the
   * maximum age.
   */
  onDiscard(batch: ShardBatch): void;
  /**
   * Called once for a record that is too large for an event, with the bytes of the event. If the mapping has an
   * on-failure destination, the worker skips the record. Otherwise the record blocks the worker.
   */
  readonly onTooLarge?: (batch: ShardBatch, eventBytes: number) => void;
  /** Called with the reason when a batch will be delivered again, or when a read of the stream failed. */
  onProblem(problem: string): void;
}

/** The typical bytes of a record in an event, except its partition key and its data. */
const TYPICAL_OTHER_BYTES = 570;

function typicalEventBytes({ PartitionKey = '', Data }: KinesisRecord): number {
  return TYPICAL_OTHER_BYTES + Buffer.byteLength(PartitionKey) + 4 * Math.ceil((Data?.byteLength ?? 0) / 3);
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

/** Delivers the records of a shard, or of some of its partition keys, one batch at a time. */
export class EventSourceWorker {
  /** The records that were read but are not done. */
  readonly waiting: KinesisRecord[] = [];
  private isClosed = false;
  private readonly arrivals = new Condition();

  constructor(
    private readonly shardId: string,
    private readonly settings: WorkerSettings,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.arrivals.notifyAll(), { once: true });
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  add(record: KinesisRecord): void {
    this.waiting.push(record);
    this.arrivals.notifyAll();
  }

  /** Ends the input: the caller adds no more records. */
  close(): void {
    this.isClosed = true;
    this.arrivals.notifyAll();
  }

  /** Delivers until the input has ended and all records are done. */
  async deliver(): Promise<void> {
    while (!this.signal.aborted) {
      while (this.isEmpty && !this.isClosed && !this.signal.aborted) await this.arrivals.change();
      if (this.isEmpty) return;
      const count = await this.gather();
      await this.deliverAll(this.waiting.slice(0, count));
    }
  }

  /**
   * Waits until the batch is full (records or bytes), or until its batching window ends. Returns the number of its
   * records.
   */
  private async gather(): Promise<number> {
    const { batchSize, windowMs } = this.settings;
    const isOver = this.pause(windowMs).then(() => true);
    let [count, bytes] = [0, EMPTY_EVENT_BYTES];
    for (;;) {
      for (const record of this.waiting.slice(count, batchSize)) {
        // Counts the comma between two records.
        bytes += (count > 0 ? 1 : 0) + this.bytesOf(record);
        if (count > 0 && bytes > MAX_EVENT_BYTES) return count;
        count += 1;
        if (bytes > MAX_EVENT_BYTES) return count;
      }
      if (count === batchSize || this.isClosed) return count;
      if (await Promise.race([isOver, this.arrivals.change()])) return count;
    }
  }

  private pause(ms: number): Promise<void> {
    return sleepUnlessAborted(ms, this.settings.clock ?? systemClock, this.signal);
  }

  /**
   * Delivers a batch until all records are done. Each retry starts at the first record that is not done. Stops if the
   * batch reaches a limit of the mapping, such as the maximum age of a record.
   */
  private async deliverAll(batch: readonly KinesisRecord[]): Promise<void> {
    const { retries = Number.POSITIVE_INFINITY, bisects, onProblem } = this.settings;
    const { retryMs = FIRST_RETRY_MS, longestRetryMs = LONGEST_RETRY_MS } = this.settings;
    let rest = batch;
    for (let failures = 0; ; ) {
      rest = this.withoutOld(rest);
      if (rest.length === 0 || this.signal.aborted) return;
      if (this.isTooLarge(rest)) return this.holdTooLarge(rest);
      const delivery = await this.settings.deliver({ shardId: this.shardId, records: rest });
      const { done, problem = 'no reason given', wasInvoked = true } = delivery;
      if (this.signal.aborted) return;
      this.waiting.splice(0, done);
      rest = rest.slice(done);
      if (rest.length === 0) return;
      onProblem(problem);
      // A partial batch response already splits the batch, so Lambda does not bisect this batch. Source: the developer
      // guide, partial batch responses.
      const isDivided = bisects && wasInvoked && done === 0 && rest.length > 1;
      // If some records of the batch are done, the count of attempts starts again for the other records. LocalStack's
      // tests of event source mappings recorded this behavior on AWS.
      failures = done > 0 ? 0 : failures + 1;
      if (failures > retries && wasInvoked && !isDivided) return this.discard(rest);
      await this.pause(Math.min(longestRetryMs, retryMs * 2 ** Math.max(0, failures - 1)));
      if (!isDivided) continue;
      const middle = Math.ceil(rest.length / 2);
      await this.deliverAll(rest.slice(0, middle));
      rest = rest.slice(middle);
      failures = 0;
    }
  }

  /** Only the first record of a batch can be too large, because `gather` ends a batch before such a record. */
  private isTooLarge(records: readonly KinesisRecord[]): boolean {
    return records.length === 1 && EMPTY_EVENT_BYTES + this.bytesOf(records[0]!) > MAX_EVENT_BYTES;
  }

  private bytesOf(record: KinesisRecord): number {
    const { eventBytes = typicalEventBytes } = this.settings;
    return eventBytes(record, this.shardId);
  }

  /**
   * A record that is too large for an event goes to the on-failure destination. Without a destination, the record
   * blocks its shard until the record is too old. The record uses no retry attempts, because Lambda never invokes the
   * function with this record. Source: the Kinesis developer guide, "Handle large records".
   */
  private async holdTooLarge(records: readonly KinesisRecord[]): Promise<void> {
    const { hasOnFailure, longestRetryMs = LONGEST_RETRY_MS } = this.settings;
    this.settings.onTooLarge?.({ shardId: this.shardId, records }, EMPTY_EVENT_BYTES + this.bytesOf(records[0]!));
    if (hasOnFailure) {
      this.waiting.splice(0, records.length);
      return;
    }
    while (!this.signal.aborted && this.withoutOld(records).length > 0) await this.pause(longestRetryMs);
  }

  private withoutOld(records: readonly KinesisRecord[]): readonly KinesisRecord[] {
    const { maxAgeMs, timeOfDay = Date.now } = this.settings;
    if (maxAgeMs === undefined) return records;
    const now = timeOfDay();
    const isOld = ({ ApproximateArrivalTimestamp: at }: KinesisRecord) => now - (at?.getTime() ?? 0) > maxAgeMs;
    const kept = records.findIndex((record) => !isOld(record));
    const old = kept === -1 ? records : records.slice(0, kept);
    if (old.length > 0) this.discard(old);
    return records.slice(old.length);
  }

  private discard(records: readonly KinesisRecord[]): void {
    this.waiting.splice(0, records.length);
    this.settings.onDiscard({ shardId: this.shardId, records });
  }
}

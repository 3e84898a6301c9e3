import type { ShardRecord, StreamEvent } from '../../../lib/core/consumer';
import type { Clock } from '../../../lib/core/foundation/clock';
import { kinesisEvent } from './stream-events';

/** A record of the shard, and when it was written. */
export interface WrittenRecord extends ShardRecord {
  readonly atMs: number;
}

/** What a function answers. It throws where all of the batch has failed. */
export type InvokedFunction = (event: StreamEvent) => Promise<{ batchItemFailures: { itemIdentifier: string }[] }>;

/** The settings of an event source mapping of Lambda that decide how it gets on behind a failure. */
export interface MappingSettings {
  /** How often a batch is tried again before it goes to the destination of failures. @default until its first record expires */
  retryAttempts?: number;
  /** Whether a batch that has failed is tried again in two halves. @default false */
  bisects?: boolean;
}

const BATCH_SIZE = 100;
const POLL_MS = 1_000;
const RETENTION_MS = 24 * 60 * 60_000;
/** How long Lambda waits before it tries a batch again is not documented. This is assumed. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * An event source mapping that reads one shard. Its rules are those of the Lambda guide, "Using Lambda to process records from
 * Kinesis": one batch after the other; a batch that fails comes again until its records expire; what is reported failed first is
 * the checkpoint; a batch is bisected without counting that as a retry; what was tried as often as it may goes to the destination.
 * Nothing compares it with Lambda.
 */
export class EventSourceMapping {
  /** What the stream no longer had when its turn came, and what went to the destination of failures. */
  readonly expired: WrittenRecord[] = [];
  readonly discarded: WrittenRecord[] = [];
  private next = 0;

  constructor(
    private readonly clock: Clock,
    private readonly shard: readonly WrittenRecord[],
    private readonly invoke: InvokedFunction,
    private readonly settings: MappingSettings = {},
  ) {}

  /** Until the shard is read to its end. */
  async run(): Promise<void> {
    while (this.next < this.shard.length) {
      const batch = this.read();
      if (batch.length === 0) await this.clock.sleep(POLL_MS);
      else await this.process(batch);
    }
  }

  private read(): WrittenRecord[] {
    const batch: WrittenRecord[] = [];
    for (; batch.length < BATCH_SIZE; this.next++) {
      const record = this.shard[this.next];
      if (record === undefined || record.atMs > this.clock.now()) break;
      if (this.isKept(record)) batch.push(record);
    }
    return batch;
  }

  private isKept(record: WrittenRecord): boolean {
    if (this.clock.now() - record.atMs < RETENTION_MS) return true;
    this.expired.push(record);
    return false;
  }

  /** Until all of it is done, has expired, or is discarded. */
  private async process(batch: readonly WrittenRecord[]): Promise<void> {
    const { retryAttempts = Number.POSITIVE_INFINITY, bisects = false } = this.settings;
    let left = batch;
    let waitMs = FIRST_WAIT_MS;
    for (let retries = 0; left.length > 0; ) {
      const failedFrom = await this.failedFrom(left);
      if (failedFrom === undefined) return;
      if (failedFrom > 0) retries = 0;
      left = left.slice(failedFrom);
      if (bisects && left.length > 1) {
        const middle = Math.ceil(left.length / 2);
        await this.process(left.slice(0, middle));
        left = left.slice(middle);
        continue;
      }
      if (retries >= retryAttempts) {
        this.discarded.push(...left);
        return;
      }
      retries += 1;
      await this.clock.sleep(waitMs);
      waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs);
      left = left.filter((record) => this.isKept(record));
    }
  }

  /** The position of the first record that comes again; undefined if none does. */
  private async failedFrom(batch: readonly WrittenRecord[]): Promise<number | undefined> {
    try {
      const { batchItemFailures } = await this.invoke(kinesisEvent(batch));
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const first = batch.findIndex(({ sequenceNumber }) => failed.has(sequenceNumber));
      return first < 0 ? undefined : first;
    } catch {
      return 0;
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { KinesisRecord } from '../../stream-shards/shard-reader';

/** Records of one shard, in order. */
export interface ShardBatch {
  readonly shardId: string;
  readonly records: readonly KinesisRecord[];
}

/** What came of a batch. */
export interface Delivery {
  /** So many of its records are done, from the first on. The others come again. */
  readonly done: number;
  /** Why not all are done. */
  readonly problem?: string;
}

/** How batches are gathered and delivered: the settings of an event source mapping. */
export interface LaneSettings {
  /** The most records of a batch. */
  readonly batchSize: number;
  /** How long records are gathered for a batch, in milliseconds. */
  readonly windowMs: number;
  /** How often a batch is delivered again; absent: until it is done. */
  readonly retries?: number | undefined;
  /** How old a record may be, in milliseconds; absent: of any age. */
  readonly maxAgeMs?: number | undefined;
  /** Whether a batch that fails is divided. */
  readonly bisects: boolean;
  /** The first wait before a batch comes again, which doubles. @default 250 */
  readonly retryMs?: number;
  deliver(batch: ShardBatch): Promise<Delivery>;
  /** Is told what went past its bound of attempts or of age, and is never delivered. */
  onDiscard(batch: ShardBatch): void;
  /** Is told why a batch comes again, or why the stream could not be read. */
  onProblem(problem: string): void;
}

/** What an event may hold. Source: the AWS Lambda developer guide, Lambda quotas; its JSON has other fields, too. */
const MOST_EVENT_BYTES = 6_000_000;
const BYTES_BESIDE_DATA = 600;

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

/** The records of a shard, or of some of its partition keys, one batch after the other. */
export class Lane {
  /** What was read and is not done. */
  readonly waiting: KinesisRecord[] = [];
  private isClosed = false;
  private wake = (): void => {};

  constructor(
    private readonly shardId: string,
    private readonly settings: LaneSettings,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  add(record: KinesisRecord): void {
    this.waiting.push(record);
    this.wake();
  }

  /** No further record comes. */
  close(): void {
    this.isClosed = true;
    this.wake();
  }

  /** Until all is done, and no more comes. */
  async deliver(): Promise<void> {
    while (!this.signal.aborted) {
      while (this.isEmpty && !this.isClosed && !this.signal.aborted) await this.more();
      if (this.isEmpty) return;
      await this.gather();
      const records = this.waiting.slice(0, this.nextBatch());
      await this.deliverAll(records);
    }
  }

  private async gather(): Promise<void> {
    const over = sleep(this.settings.windowMs, true, { signal: this.signal }).catch(() => true);
    while (this.waiting.length < this.settings.batchSize && !this.isClosed) {
      if (await Promise.race([over, this.more()])) return;
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private nextBatch(): number {
    let bytes = 0;
    const first = this.waiting.findIndex(({ Data }) => {
      bytes += Math.ceil((Data?.byteLength ?? 0) / 3) * 4 + BYTES_BESIDE_DATA;
      return bytes > MOST_EVENT_BYTES;
    });
    const fitting = first === -1 ? this.waiting.length : Math.max(1, first);
    return Math.min(fitting, this.settings.batchSize);
  }

  /** Again and again from the first record that is not done, as long as the bounds of the mapping allow it. */
  private async deliverAll(batch: readonly KinesisRecord[]): Promise<void> {
    const { retries = Number.POSITIVE_INFINITY, bisects, retryMs = FIRST_RETRY_MS, onProblem } = this.settings;
    let rest = batch;
    for (let failures = 0; ; ) {
      rest = this.withoutOld(rest);
      if (rest.length === 0 || this.signal.aborted) return;
      const { done, problem = 'no reason given' } = await this.settings.deliver({
        shardId: this.shardId,
        records: rest,
      });
      if (this.signal.aborted) return;
      this.waiting.splice(0, done);
      rest = rest.slice(done);
      if (rest.length === 0) return;
      onProblem(problem);
      failures = done > 0 ? 1 : failures + 1;
      if (failures > retries) return this.discard(rest);
      await sleep(Math.min(LONGEST_RETRY_MS, retryMs * 2 ** (failures - 1)), undefined, { signal: this.signal }).catch(
        () => {},
      );
      // A report of what failed divides the batch by itself: the developer guide, partial batch responses.
      if (!bisects || done > 0 || rest.length === 1) continue;
      const middle = Math.ceil(rest.length / 2);
      await this.deliverAll(rest.slice(0, middle));
      rest = rest.slice(middle);
      failures = 0;
    }
  }

  private withoutOld(records: readonly KinesisRecord[]): readonly KinesisRecord[] {
    const { maxAgeMs } = this.settings;
    if (maxAgeMs === undefined) return records;
    const isOld = ({ ApproximateArrivalTimestamp: at }: KinesisRecord) => Date.now() - (at?.getTime() ?? 0) > maxAgeMs;
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

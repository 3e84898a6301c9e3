import { type Clock, systemClock } from '../../../lib/core/kernel/clock';
import { Condition } from '../../../lib/core/kernel/condition';
import { sleepUnlessAborted } from '../../../lib/core/kernel/pause';
import { hashPartitionKey } from '../../../lib/core/stream-format/hash-key-space';
import { ShardLineage } from '../../stream-shards/shard-lineage';
import { type KinesisRecord, type ReadStart, ShardReader, type StreamClient } from '../../stream-shards/shard-reader';
import { EventSourceWorker, type WorkerSettings } from './event-source-worker';

export interface PollSettings extends WorkerSettings {
  readonly streamName: string;
  readonly from: ReadStart;
  /**
   * Whether the filter of the mapping includes a record. The filter excludes a record before the batches are made, so the
   * record has no effect on a batch. @default every record
   */
  readonly includes?: (record: KinesisRecord) => boolean;
  /**
   * The number of workers of a shard, which deliver batches in parallel. Two workers never have the same partition key.
   */
  readonly workers: number;
  /**
   * The wait before the next read of a shard that was read to its tip, in milliseconds. @default 1,000, as Lambda does
   */
  readonly atTipMs?: number;
  /**
   * The wait before the next read of a shard that has more records, in milliseconds. @default 200, or `atTipMs` if that
   * is shorter
   */
  readonly behindMs?: number;
}

/**
 * All readers of a shard together may read the shard five times a second. Source: the Kinesis API reference,
 * GetRecords.
 */
const BEHIND_MS = 200;
const AT_TIP_MS = 1_000;

interface Reading {
  readonly reader: ShardReader;
  readonly workers: readonly EventSourceWorker[];
  /** When the latest successful read began. */
  readAt: number;
}

/**
 * Delivers the records of a stream as Lambda's event source mapping does. The batches of a shard are delivered in
 * order, and each batch is repeated until it is done. The records of a parent shard are delivered before the records of
 * its child shards. The poller reads all shards at once and as far as possible, so that it counts the records that wait.
 */
export class StreamPoller {
  private readonly lineage: ShardLineage;
  private readonly reading = new Map<string, Reading>();
  private readonly endOfShard = new Condition();
  private readonly waitMs: number;
  private readonly behindMs: number;
  private readonly clock: Clock;

  constructor(
    private readonly client: StreamClient,
    private readonly settings: PollSettings,
    private readonly signal: AbortSignal,
  ) {
    this.lineage = new ShardLineage(client, settings.streamName, settings.from);
    this.waitMs = settings.atTipMs ?? AT_TIP_MS;
    this.behindMs = settings.behindMs ?? Math.min(BEHIND_MS, this.waitMs);
    this.clock = settings.clock ?? systemClock;
    signal.addEventListener('abort', () => this.endOfShard.notifyAll(), { once: true });
  }

  /**
   * Whether all records that were in the stream at the time `ms` of the clock are done: since this time, the poller
   * has read each shard to its tip, and no read record waits.
   */
  isCaughtUpSince(ms: number): boolean {
    return [...this.reading.values()].every(
      ({ reader, workers, readAt }) =>
        reader.isAtTip && !reader.isEnded && readAt >= ms && workers.every((worker) => worker.isEmpty),
    );
  }

  /** The records that were read but are not done. */
  get waiting(): readonly KinesisRecord[] {
    return [...this.reading.values()].flatMap(({ workers }) => workers.flatMap((worker) => worker.waiting));
  }

  /** Begins to read the current shards, so that every record that is written after this call is delivered. */
  async begin(): Promise<void> {
    const { client, settings, signal } = this;
    await this.lineage.look();
    for (const { shardId, from } of this.lineage.unread()) {
      const reader = await ShardReader.begin(client, settings.streamName, shardId, from);
      const workers = Array.from({ length: settings.workers }, () => new EventSourceWorker(shardId, settings, signal));
      this.reading.set(shardId, { reader, workers, readAt: Number.NEGATIVE_INFINITY });
      this.lineage.take(shardId);
    }
  }

  /** Delivers until the signal aborts. */
  async run(): Promise<void> {
    const shards: Promise<void>[] = [];
    const begun = new Set<string>();
    while (!this.signal.aborted) {
      for (const [shardId, reading] of this.reading) {
        if (begun.has(shardId)) continue;
        begun.add(shardId);
        shards.push(this.deliverShard(shardId, reading));
      }
      await this.pause(this.waitMs);
      await this.unlessRefused(() => this.begin());
    }
    await Promise.all(shards);
  }

  private async deliverShard(shardId: string, reading: Reading): Promise<void> {
    const { reader, workers } = reading;
    const { includes = () => true } = this.settings;
    const delivering = this.parentsOf(shardId).then(() => Promise.all(workers.map((worker) => worker.deliver())));
    while (!this.signal.aborted && !reader.isEnded) {
      const readAt = this.clock.now();
      const records = await this.unlessRefused(() => reader.read());
      if (records !== undefined) reading.readAt = readAt;
      for (const record of records?.filter(includes) ?? []) {
        workers[workerOf(record.PartitionKey!, workers.length)]!.add(record);
      }
      await this.pause(reader.isAtTip ? this.waitMs : this.behindMs);
    }
    for (const worker of workers) worker.close();
    await delivering;
    if (this.signal.aborted) return;
    await this.unlessRefused(() => this.begin());
    this.reading.delete(shardId);
    this.lineage.end(shardId);
    this.endOfShard.notifyAll();
  }

  /** Resolves when all records of the parents of a shard are done. */
  private async parentsOf(shardId: string): Promise<void> {
    while (!this.lineage.haveParentsEnded(shardId) && !this.signal.aborted) await this.endOfShard.change();
  }

  /**
   * Runs a request. If the request fails, reports its error and returns undefined, and the next round repeats the
   * request.
   */
  private async unlessRefused<T>(request: () => Promise<T>): Promise<T | undefined> {
    try {
      return await request();
    } catch (error) {
      if (!this.signal.aborted) this.settings.onProblem(`${this.settings.streamName}: ${(error as Error).message}`);
      return undefined;
    }
  }

  private pause(ms: number): Promise<void> {
    return sleepUnlessAborted(ms, this.clock, this.signal);
  }
}

/** Returns the number of the worker that gets all records of a partition key. */
function workerOf(partitionKey: string, workers: number): number {
  return workers === 1 ? 0 : Number(hashPartitionKey(partitionKey) % BigInt(workers));
}

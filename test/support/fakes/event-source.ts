import { setMaxListeners } from 'node:events';
import { deliveryOf } from '../../../bin/local/event-sources/batch-answer';
import type { Delivery, ShardBatch } from '../../../bin/local/event-sources/event-source-worker';
import { type PollSettings, StreamPoller } from '../../../bin/local/event-sources/stream-poller';
import type { KinesisRecord, StreamClient } from '../../../bin/stream-shards/shard-reader';
import type { Clock } from '../../../lib/core/kernel/clock';

/** A record in memory, and when it was written. */
export interface WrittenRecord {
  readonly shardId: string;
  readonly sequenceNumber: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly arrivedAtMs: number;
}

/** A shard in memory, as `FakeKinesis` has it. */
export interface WrittenShard {
  readonly shardId: string;
  readonly parents: readonly { readonly shardId: string }[];
  readonly isOpen: boolean;
  /** In order, those that have not come yet as well. */
  readonly records: readonly WrittenRecord[];
}

/** What a function does with a batch, and what it answers. It throws where all of the batch has failed. */
export type InvokedFunction = (batch: readonly WrittenRecord[]) => Promise<unknown>;

/** The settings of a mapping; those of Lambda where none are given. */
export interface MappingSettings extends Partial<Omit<PollSettings, 'deliver' | 'onDiscard' | 'onProblem'>> {
  /** How long the stream keeps a record. @default a day */
  readonly retentionMs?: number;
}

const A_DAY_MS = 24 * 60 * 60_000;
/** Kinesis answers ten times as many, which a play would copy again and again. */
const MOST_RECORDS = 1_000;

/**
 * Lambda's event source mapping of shards in memory: what a local run reads a stream with, by a clock that a test moves. Whatever
 * this library says of Lambda's event source is said there, and compared with the documents there.
 */
export class EventSource {
  /** What went past the bound of attempts, and what the stream no longer had when its turn came. */
  readonly discarded: WrittenRecord[] = [];
  readonly expired: WrittenRecord[] = [];
  private readonly finished = new Set<WrittenRecord>();
  private readonly written = new WeakMap<KinesisRecord, WrittenRecord>();
  private ended = new AbortController();
  private poller?: StreamPoller;
  private onProgress = (): void => {};

  constructor(
    private readonly clock: Clock,
    private readonly shards: () => readonly WrittenShard[],
    private readonly invoke: InvokedFunction,
  ) {}

  /** What was read, and is not done. */
  get waiting(): readonly WrittenRecord[] {
    return (this.poller?.waiting ?? []).map((record) => this.written.get(record)!);
  }

  /** Begins to deliver, or goes on where it was with other settings. */
  async start({ retentionMs = A_DAY_MS, ...settings }: MappingSettings = {}): Promise<void> {
    this.stop();
    this.ended = new AbortController();
    // Every worker of every shard waits for it.
    setMaxListeners(0, this.ended.signal);
    const { clock } = this;
    this.poller = new StreamPoller(
      this.client(retentionMs),
      {
        ...{ streamName: 'Events', from: 'TRIM_HORIZON', workers: 1, batchSize: 100, windowMs: 0, bisects: false },
        ...{ maxAgeMs: retentionMs, ...settings, clock, timeOfDay: () => clock.now() },
        deliver: (batch) => this.deliver(batch),
        onDiscard: ({ records }) => {
          for (const record of records) this.discard(this.written.get(record)!, retentionMs);
        },
        onProblem: () => {},
      },
      this.ended.signal,
    );
    await this.poller.begin();
    void this.poller.run();
  }

  stop(): void {
    this.ended.abort();
  }

  /** Until all that is written is done, discarded or expired. */
  async readAll(settings?: MappingSettings): Promise<void> {
    const records = this.shards().flatMap((shard) => shard.records);
    const hasRead = new Promise<void>((resolve) => {
      this.onProgress = () => {
        if (this.finished.size === records.length) resolve();
      };
    });
    await this.start(settings);
    await hasRead;
    this.stop();
  }

  private async deliver({ records }: ShardBatch): Promise<Delivery> {
    const batch = records.map((record) => this.written.get(record)!);
    const result = await this.invoke(batch).then(
      (answer) => ({ payload: JSON.stringify(answer ?? null) }),
      (error) => ({ functionError: 'Unhandled' as const, payload: JSON.stringify({ errorMessage: String(error) }) }),
    );
    const delivery = deliveryOf(
      result,
      batch.map(({ sequenceNumber }) => sequenceNumber),
      true,
    );
    this.finish(batch.slice(0, delivery.done));
    return delivery;
  }

  private discard(record: WrittenRecord, retentionMs: number): void {
    (this.isKept(record, retentionMs) ? this.discarded : this.expired).push(record);
    this.finish([record]);
  }

  private isKept({ arrivedAtMs }: WrittenRecord, retentionMs: number): boolean {
    return this.clock.now() - arrivedAtMs <= retentionMs;
  }

  private finish(records: readonly WrittenRecord[]): void {
    for (const record of records) this.finished.add(record);
    this.onProgress();
  }

  /** Kinesis' answers. An iterator is the name of a shard and a position. */
  private client(retentionMs: number): StreamClient {
    const shardOf = (shardId: string | undefined) => this.shards().find((shard) => shard.shardId === shardId)!;
    return {
      listShards: async () => ({ Shards: this.shards().map(described), $metadata: {} }),
      getShardIterator: async ({ ShardId, ShardIteratorType, Timestamp }) => {
        const fromMs = ShardIteratorType === 'LATEST' ? this.clock.now() + 1 : (Timestamp?.getTime() ?? 0);
        const first = shardOf(ShardId).records.findIndex(({ arrivedAtMs }) => arrivedAtMs >= fromMs);
        const position = first < 0 ? shardOf(ShardId).records.length : first;
        return { ShardIterator: `${ShardId} ${position}`, $metadata: {} };
      },
      getRecords: async ({ ShardIterator }) => {
        const [shardId, from] = ShardIterator!.split(' ');
        const { records, isOpen } = shardOf(shardId);
        let position = Number(from);
        const Records: KinesisRecord[] = [];
        for (; Records.length < MOST_RECORDS && position < records.length; position++) {
          const record = records[position]!;
          if (record.arrivedAtMs > this.clock.now()) break;
          if (this.finished.has(record)) continue;
          if (this.isKept(record, retentionMs)) Records.push(this.read(record));
          else this.discard(record, retentionMs);
        }
        const isAtEnd = !isOpen && position === records.length;
        return {
          ...{ Records, MillisBehindLatest: Records.length < MOST_RECORDS ? 0 : 1, $metadata: {} },
          ...(!isAtEnd && { NextShardIterator: `${shardId} ${position}` }),
        };
      },
    };
  }

  private read(record: WrittenRecord): KinesisRecord {
    const read: KinesisRecord = {
      SequenceNumber: record.sequenceNumber,
      PartitionKey: record.partitionKey,
      Data: record.data,
      ApproximateArrivalTimestamp: new Date(record.arrivedAtMs),
    };
    this.written.set(read, record);
    return read;
  }
}

function described({ shardId, parents: [parent, adjacent], isOpen }: WrittenShard) {
  return {
    ShardId: shardId,
    ParentShardId: parent?.shardId,
    AdjacentParentShardId: adjacent?.shardId,
    HashKeyRange: undefined,
    SequenceNumberRange: { StartingSequenceNumber: '0', ...(!isOpen && { EndingSequenceNumber: '1' }) },
  };
}

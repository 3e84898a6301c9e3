import { setMaxListeners } from 'node:events';
import { deliveryOf } from '../../../bin/local/event-sources/batch-answer';
import type { Delivery, ShardBatch } from '../../../bin/local/event-sources/event-source-worker';
import { type PollSettings, StreamPoller } from '../../../bin/local/event-sources/stream-poller';
import type { KinesisRecord, StreamClient } from '../../../bin/stream-shards/shard-reader';
import type { Clock } from '../../../lib/core/kernel/clock';

/** A record in memory with the time of its write. */
export interface WrittenRecord {
  readonly shardId: string;
  readonly sequenceNumber: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly arrivedAtMs: number;
}

/** A shard of `FakeKinesis`. */
export interface WrittenShard {
  readonly shardId: string;
  readonly parents: readonly { readonly shardId: string }[];
  readonly isOpen: boolean;
  /** All records in order, including records that have not arrived yet. */
  readonly records: readonly WrittenRecord[];
}

/**
 * A function that processes a batch and returns the batch response. It throws an error if the whole batch has failed.
 */
export type InvokedFunction = (batch: readonly WrittenRecord[]) => Promise<unknown>;

/** The settings of an event source mapping. The defaults are the defaults of Lambda. */
export interface MappingSettings extends Partial<Omit<PollSettings, 'deliver' | 'onDiscard' | 'onProblem'>> {
  /** The retention period of the stream. @default one day */
  readonly retentionMs?: number;
}

const A_DAY_MS = 24 * 60 * 60_000;
/**
 * The maximum number of records in a response. Kinesis returns up to 10,000 records, but copies of such large responses would make
 * the tests slow.
 */
const MAX_RECORDS = 1_000;

/**
 * The event source mapping of a local run. The shards are in memory, and the test provides the clock. The tests of the local run
 * compare its rules with the documentation of Lambda.
 */
export class EventSource {
  /** Records that exceeded the maximum number of attempts, and records that expired before they were read. */
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

  /** Records that were read but not processed. */
  get waiting(): readonly WrittenRecord[] {
    return (this.poller?.waiting ?? []).map((record) => this.written.get(record)!);
  }

  /** Starts the delivery, or continues it with other settings. */
  async start({ retentionMs = A_DAY_MS, ...settings }: MappingSettings = {}): Promise<void> {
    this.stop();
    this.ended = new AbortController();
    // Each worker of each shard adds a listener to this signal.
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

  /** Resolves when all written records are processed, discarded or expired. */
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

  /** The responses of Kinesis. A shard iterator contains the shard and the position. */
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
        for (; Records.length < MAX_RECORDS && position < records.length; position++) {
          const record = records[position]!;
          if (record.arrivedAtMs > this.clock.now()) break;
          if (this.finished.has(record)) continue;
          if (this.isKept(record, retentionMs)) Records.push(this.read(record));
          else this.discard(record, retentionMs);
        }
        const isAtEnd = !isOpen && position === records.length;
        return {
          ...{ Records, MillisBehindLatest: Records.length < MAX_RECORDS ? 0 : 1, $metadata: {} },
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

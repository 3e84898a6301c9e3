import {
  deaggregate,
  EvenShardsError,
  OrderedProducer,
  type PutReceipt,
  type PutRecordsRequestEntry,
  type RequestOptions,
} from '../../../../../lib/core';
import { FakeKinesis } from '../../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import type { Schedule } from './schedule';

/** The outcome of one record. */
export type RecordOutcome = { receipt: PutReceipt } | { error: EvenShardsError };

/** The events of one run. */
export interface Trace {
  readonly kinesis: FakeKinesis;
  readonly producer: OrderedProducer;
  /** The outcomes of each record, at the index of the record. */
  readonly ends: readonly RecordOutcome[][];
  /** When each record was put, and when its outcome came, at the index of the record. Undefined for a record that was not put. */
  readonly times: readonly { readonly putAtMs: number; readonly endedAtMs: number }[];
  /** Whether a request got no response, or a response without the outcome of its records. */
  readonly answersWereLost: boolean;
  /** The largest number of records, and of bytes, that `putAll` had pulled from its source and that had no outcome yet. */
  readonly mostBuffered: { records: number; bytes: number };
}

/** Runs a schedule until the last delayed request has arrived. */
export async function runSchedule(schedule: Schedule): Promise<Trace> {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const run = new Run(schedule, clock);
  const { kinesis } = run;
  const producer = new OrderedProducer(run.client, { ...schedule.options, clock, signal: abort.signal });
  if (schedule.abortAtMs !== undefined) clock.schedule(() => abort.abort(), schedule.abortAtMs);
  let closed: Promise<void> | undefined;
  if (schedule.closeAtMs !== undefined) {
    clock.schedule(() => {
      closed = producer.close();
    }, schedule.closeAtMs);
  }
  const flushes: Promise<void>[] = [];
  for (const { atMs, ofOneKey } of schedule.flushes) {
    clock.schedule(() => flushes.push(run.flush(producer, ofOneKey)), atMs);
  }
  for (const { atMs, kind, pick } of schedule.reshards) clock.schedule(() => reshard(kinesis, kind, pick), atMs);
  await clock.runUntil(run.feed(producer));
  await clock.runUntil(Promise.all([producer.close(), closed, ...flushes]));
  await clock.runOut();
  const { ends, times, answersWereLost, mostBuffered } = run;
  return { kinesis, producer, ends, times, answersWereLost, mostBuffered };
}

class Run {
  readonly kinesis: FakeKinesis;
  readonly ends: RecordOutcome[][];
  readonly times: { putAtMs: number; endedAtMs: number }[] = [];
  readonly mostBuffered = { records: 0, bytes: 0 };
  answersWereLost = false;
  private readonly buffered = { records: 0, bytes: 0 };
  /** The number of records that the producer has got. */
  private put = 0;
  private readonly keysInFlight = new Set<string>();

  constructor(
    private readonly schedule: Schedule,
    private readonly clock: VirtualClock,
  ) {
    this.kinesis = new FakeKinesis({
      ...schedule.stream,
      clock,
      requestFate: (input) => {
        const fate = schedule.stream.requestFate!(input);
        this.answersWereLost ||= fate === 'answer lost' || fate === 'silent' || typeof fate === 'object';
        return fate;
      },
    });
    this.ends = schedule.records.map(() => []);
  }

  /** A client that checks that no key has two records in flight. */
  get client() {
    const { kinesis } = this;
    return {
      putRecords: (input: Parameters<typeof kinesis.putRecords>[0], options: RequestOptions | undefined) =>
        this.watch(input.Records, options, () => kinesis.putRecords(input, options)),
      putRecord: (input: Parameters<typeof kinesis.putRecord>[0], options: RequestOptions | undefined) =>
        this.watch([input as PutRecordsRequestEntry], options, () => kinesis.putRecord(input, options)),
      listShards: (input: Parameters<typeof kinesis.listShards>[0]) => kinesis.listShards(input),
    };
  }

  async feed(producer: OrderedProducer): Promise<unknown> {
    const { feed, records, gapMs } = this.schedule;
    const ended = (index: number, outcome: RecordOutcome): void => {
      this.ends[index]!.push(outcome);
      this.times[index]!.endedAtMs = this.clock.nowMs;
      this.buffered.records -= 1;
      this.buffered.bytes -= bytesOf(records[index]!);
    };
    const put = (index: number): Promise<void> => {
      this.times[index] = { putAtMs: this.clock.nowMs, endedAtMs: Number.POSITIVE_INFINITY };
      const result = producer.put(records[index]!).then(
        (receipt) => ended(index, { receipt }),
        (error) => ended(index, { error }),
      );
      this.put += 1;
      return result;
    };
    if (feed === 'put at once') return Promise.all(records.map((_, index) => put(index)));
    if (feed === 'put over time') {
      const puts: Promise<void>[] = [];
      for (const index of records.keys()) {
        await this.clock.sleep(gapMs());
        puts.push(put(index));
      }
      return Promise.all(puts);
    }
    const observer = {
      delivered: (index: number, _: unknown, receipt: PutReceipt) => ended(index, { receipt }),
      rejected: (index: number, _: unknown, error: Error) => ended(index, { error: error as EvenShardsError }),
    };
    return producer.putAll(feed === 'putAll' ? this.source() : this.asyncSource(), observer).catch((error) => {
      const { abortAtMs, closeAtMs } = this.schedule;
      if (!(error instanceof EvenShardsError) || (abortAtMs ?? closeAtMs) === undefined) throw error;
    });
  }

  private *source() {
    for (const [index, record] of this.schedule.records.entries()) {
      this.times[index] = { putAtMs: this.clock.nowMs, endedAtMs: Number.POSITIVE_INFINITY };
      this.buffered.records += 1;
      this.buffered.bytes += bytesOf(record);
      this.mostBuffered.records = Math.max(this.mostBuffered.records, this.buffered.records);
      this.mostBuffered.bytes = Math.max(this.mostBuffered.bytes, this.buffered.bytes);
      yield record;
      this.put += 1;
    }
  }

  private async *asyncSource() {
    let index = 0;
    for (const record of this.source()) {
      await this.clock.sleep(this.schedule.gapMs());
      this.times[index++]!.putAtMs = this.clock.nowMs;
      yield record;
    }
  }

  /** Waits for a flush, and checks that the records that were put before it have their outcomes. */
  async flush(producer: OrderedProducer, ofOneKey: boolean): Promise<void> {
    const { records } = this.schedule;
    const partitionKey = ofOneKey ? records[0]!.partitionKey : undefined;
    const before = records.slice(0, this.put);
    await producer.flush(partitionKey);
    before.forEach((record, index) => {
      const isFlushed = partitionKey === undefined || record.partitionKey === partitionKey;
      if (isFlushed && this.ends[index]!.length === 0) throw new Error(`a flush ended before record ${index}`);
    });
  }

  private async watch<T>(
    entries: readonly PutRecordsRequestEntry[],
    options: RequestOptions | undefined,
    send: () => Promise<T>,
  ): Promise<T> {
    const keys = entries.flatMap(({ PartitionKey, Data }) => {
      const records = deaggregate({ partitionKey: PartitionKey, data: Data });
      return [...new Set(records.map(({ partitionKey }) => partitionKey))];
    });
    for (const key of keys) {
      if (this.keysInFlight.has(key)) throw new TypeError(`two records of ${key} are in flight`);
      this.keysInFlight.add(key);
    }
    let isInFlight = true;
    const end = (): void => {
      if (isInFlight) for (const key of keys) this.keysInFlight.delete(key);
      isInFlight = false;
    };
    // Kinesis can still apply a request that timed out, now or later. The producer continues with the keys of the request.
    options?.abortSignal.addEventListener('abort', () => {
      this.answersWereLost ||= isInFlight;
      end();
    });
    try {
      return await send();
    } finally {
      end();
    }
  }
}

function bytesOf({ partitionKey, data }: { partitionKey: string; data: Uint8Array }): number {
  return data.byteLength + Buffer.byteLength(partitionKey);
}

function reshard(kinesis: FakeKinesis, kind: 'split' | 'merge' | 'update', pick: number): void {
  const { openShards } = kinesis;
  const shard = openShards[pick % openShards.length]!;
  const next = openShards[(pick + 1) % openShards.length]!;
  const { startingHashKey, endingHashKey } = shard.range;
  const calls = {
    split: () =>
      kinesis.splitShard({
        ShardToSplit: shard.shardId,
        NewStartingHashKey: String(
          startingHashKey + ((endingHashKey - startingHashKey) * BigInt(1 + (pick % 9))) / 10n,
        ),
      }),
    merge: () => kinesis.mergeShards({ ShardToMerge: shard.shardId, AdjacentShardToMerge: next.shardId }),
    update: () =>
      kinesis.updateShardCount({
        TargetShardCount: Math.max(1, Math.ceil(openShards.length / 2) + (pick % 4)),
        ScalingType: 'UNIFORM_SCALING',
      }),
  };
  // Ignores errors: another change can be in progress, or this change can be invalid.
  calls[kind]().catch(() => {});
}

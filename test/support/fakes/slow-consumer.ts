import { hashPartitionKey } from '../../../lib/core';
import type { FakeKinesis } from '../../../lib/testing';
import type { FakeShard, StoredRecord } from '../../../lib/testing/fake-shard';

/** How a consumer works: the settings of an event source mapping of Lambda that decide how it gets on. */
export interface ConsumerSettings {
  /** How many records a minute one batch after the other takes. */
  recordsAMinute: number;
  /** How many batches of a shard are worked on side by side, each with keys of its own. */
  parallelizationFactor: number;
  /** A record that fails is set aside. Without this it is tried for ever, and its shard waits. */
  hasOnFailure: boolean;
  /** How long the stream keeps a record. */
  retentionMs: number;
}

interface Place {
  /** How many records of the shard were taken up. */
  read: number;
  /** Taken up, and not done. */
  waiting: StoredRecord[];
}

/** A consumer of a simulated stream: each shard in order, and only when the shards that it came from are at their end. */
export class SlowConsumer {
  readonly setAside: StoredRecord[] = [];
  /** What the stream had no more when its turn came. */
  readonly lost: StoredRecord[] = [];
  private readonly places = new Map<FakeShard, Place>();
  private readonly hashes = new Map<string, number>();

  constructor(
    private readonly kinesis: FakeKinesis,
    private readonly fails: (record: StoredRecord) => boolean,
    readonly settings: ConsumerSettings,
  ) {}

  /** Works for a minute. Returns the age of what it is at, in milliseconds, as `IteratorAge` has it. */
  workAMinute(nowMs: number): number {
    const ages = this.kinesis.shards
      .filter((shard) => shard.parents.every((parent) => this.isDone(parent)))
      .map((shard) => {
        const place = this.placeOf(shard);
        place.waiting.push(...shard.records.slice(place.read));
        place.read = shard.records.length;
        place.waiting = this.leftOf(place.waiting.filter((record) => this.isKept(record, nowMs)));
        return place.waiting.length === 0 ? 0 : nowMs - place.waiting[0]!.arrivedAtMs;
      });
    return Math.max(...ages);
  }

  private isKept(record: StoredRecord, nowMs: number): boolean {
    const isKept = nowMs - record.arrivedAtMs <= this.settings.retentionMs;
    if (!isKept) this.lost.push(record);
    return isKept;
  }

  private leftOf(waiting: readonly StoredRecord[]): StoredRecord[] {
    const { recordsAMinute, parallelizationFactor, hasOnFailure } = this.settings;
    const budgets = Array<number>(parallelizationFactor).fill(recordsAMinute);
    return waiting.filter((record) => {
      const batch = this.hashOf(record.partitionKey) % parallelizationFactor;
      if (budgets[batch]! < 1) return true;
      budgets[batch]! -= 1;
      if (!this.fails(record)) return false;
      if (hasOnFailure) this.setAside.push(record);
      else budgets[batch] = 0;
      return !hasOnFailure;
    });
  }

  private hashOf(partitionKey: string): number {
    const hash = this.hashes.get(partitionKey) ?? Number(hashPartitionKey(partitionKey) % 2n ** 32n);
    this.hashes.set(partitionKey, hash);
    return hash;
  }

  private isDone(shard: FakeShard): boolean {
    const { read, waiting } = this.placeOf(shard);
    return !shard.isOpen && read === shard.records.length && waiting.length === 0;
  }

  private placeOf(shard: FakeShard): Place {
    let place = this.places.get(shard);
    if (place === undefined) {
      place = { read: 0, waiting: [] };
      this.places.set(shard, place);
    }
    return place;
  }
}

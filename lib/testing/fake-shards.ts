import { type HashKeyRange, shardIndexOf } from '../core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../core/stream-format/hash-key-space';
import { FakeShard } from './fake-shard';
import { type ShardLimits, ShardTokenBucket } from './shard-token-bucket';
import { uniformScaling } from './uniform-scaling';

/**
 * The number of reserved sequence numbers for the records that closing parents still accept. The ending sequence number
 * of a parent is above these numbers.
 */
const NUMBERS_BEFORE_END = 1_000_000n;

/** The shards of a stream, including closed shards, and how they split and merge. */
export class FakeShards {
  readonly all: FakeShard[] = [];
  /** The open shards, in the order of their hash keys. */
  readonly open: FakeShard[];
  private ranges?: HashKeyRange[];
  /** Caches the shard of each key until the next reshard: a simulation would otherwise spend most of its time computing MD5. */
  private readonly byPartitionKey = new Map<string, FakeShard>();
  /** The next sequence number of all open shards. */
  private readonly numbers = { next: 0n };

  constructor(
    ranges: readonly HashKeyRange[],
    private readonly limits: ShardLimits | undefined,
    private readonly nowMs: () => number,
    private readonly parentsTakeMs = 0,
  ) {
    this.open = ranges.map((range) => this.create(range, [], '0'));
  }

  /** The shard that stores the records of a key now. */
  shardOf(partitionKey: string, explicitHashKey?: string): FakeShard {
    let shard = this.openShardOf(partitionKey, explicitHashKey);
    while (shard.takesFromMs > this.nowMs()) shard = shard.parentAt(hashKeyOf(partitionKey, explicitHashKey));
    return shard;
  }

  split(parent: FakeShard, newStartingHashKey: bigint): void {
    const { startingHashKey, endingHashKey } = parent.range;
    this.replace(
      [parent],
      [
        { startingHashKey, endingHashKey: newStartingHashKey - 1n },
        { startingHashKey: newStartingHashKey, endingHashKey },
      ],
    );
  }

  /** Merges two adjacent shards, in any order. The first argument is the parent, the second the adjacent parent. */
  merge(parent: FakeShard, adjacent: FakeShard): void {
    const [left, right] = [parent, adjacent].sort((a, b) => this.open.indexOf(a) - this.open.indexOf(b)) as [
      FakeShard,
      FakeShard,
    ];
    const range = { startingHashKey: left.range.startingHashKey, endingHashKey: right.range.endingHashKey };
    this.replace([parent, adjacent], [range]);
  }

  /** Applies the steps of a uniform UpdateShardCount. Each call of `next` makes one step. */
  *uniformSteps(shardCount: number): Generator<void> {
    const ranges = this.open.map(({ range }) => range);
    for (const { index, newStartingHashKey } of uniformScaling(ranges, shardCount)) {
      const shard = this.open[index]!;
      if (newStartingHashKey === undefined) this.merge(shard, this.open[index + 1]!);
      else this.split(shard, newStartingHashKey);
      yield;
    }
  }

  private replace(parents: FakeShard[], ranges: HashKeyRange[]): void {
    for (const parent of parents) parent.numbers = { ...this.numbers };
    if (this.parentsTakeMs > 0) this.numbers.next += NUMBERS_BEFORE_END;
    const endingSequenceNumber = String(this.numbers.next++);
    for (const parent of parents) parent.endingSequenceNumber = endingSequenceNumber;
    const startingSequenceNumber = String(this.numbers.next++);
    const children = ranges.map((range) => this.create(range, parents, startingSequenceNumber));
    const position = Math.min(...parents.map((parent) => this.open.indexOf(parent)));
    this.open.splice(position, parents.length, ...children);
    this.ranges = undefined;
    this.byPartitionKey.clear();
  }

  private create(range: HashKeyRange, parents: FakeShard[], startingSequenceNumber: string): FakeShard {
    const shardId = `shardId-${String(this.all.length).padStart(12, '0')}`;
    const takesFromMs = this.nowMs() + (parents.length > 0 ? this.parentsTakeMs : 0);
    const bucket = this.limits && new ShardTokenBucket(this.limits, this.nowMs());
    const shard = new FakeShard(shardId, range, startingSequenceNumber, parents, takesFromMs, bucket, this.numbers);
    this.all.push(shard);
    return shard;
  }

  private openShardOf(partitionKey: string, explicitHashKey: string | undefined): FakeShard {
    if (explicitHashKey !== undefined) return this.openShardAt(BigInt(explicitHashKey));
    let shard = this.byPartitionKey.get(partitionKey);
    if (shard === undefined) {
      shard = this.openShardAt(hashPartitionKey(partitionKey));
      this.byPartitionKey.set(partitionKey, shard);
    }
    return shard;
  }

  private openShardAt(hashKey: bigint): FakeShard {
    this.ranges ??= this.open.map(({ range }) => range);
    return this.open[shardIndexOf(hashKey, this.ranges)]!;
  }
}

function hashKeyOf(partitionKey: string, explicitHashKey: string | undefined): bigint {
  return explicitHashKey === undefined ? hashPartitionKey(partitionKey) : BigInt(explicitHashKey);
}

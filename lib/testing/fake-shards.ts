import { type HashKeyRange, shardIndexOf, uniformRanges } from '../core/foundation/hash-key-ranges';
import { hashPartitionKey } from '../core/foundation/hash-key-space';
import { FakeShard } from './fake-shard';
import { type ShardLimits, ShardTokenBucket } from './shard-token-bucket';

/** The shards of a stream, closed ones included, and how they split and merge. */
export class FakeShards {
  readonly all: FakeShard[] = [];
  /** The open shards, by hash key. */
  readonly open: FakeShard[];
  private ranges?: HashKeyRange[];
  /** Where keys went since the last reshard: MD5 is what a fast simulation would spend its time on. */
  private readonly byPartitionKey = new Map<string, FakeShard>();
  private nextSequenceNumber = 0n;

  constructor(
    ranges: readonly HashKeyRange[],
    private readonly limits: ShardLimits | undefined,
    private readonly nowMs: () => number,
  ) {
    this.open = ranges.map((range) => this.create(range, [], '0'));
  }

  /** The next sequence number, larger than every one before and than `after`. */
  takeSequenceNumber(after = -1n): string {
    if (after >= this.nextSequenceNumber) this.nextSequenceNumber = after + 1n;
    return String(this.nextSequenceNumber++);
  }

  shardOf(partitionKey: string, explicitHashKey?: string): FakeShard {
    if (explicitHashKey !== undefined) return this.openShardAt(BigInt(explicitHashKey));
    let shard = this.byPartitionKey.get(partitionKey);
    if (shard === undefined) {
      shard = this.openShardAt(hashPartitionKey(partitionKey));
      this.byPartitionKey.set(partitionKey, shard);
    }
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

  /** Merges two neighbours, given in any order: the first is the parent, the second the adjacent parent. */
  merge(parent: FakeShard, adjacent: FakeShard): void {
    const [left, right] = [parent, adjacent].sort((a, b) => this.open.indexOf(a) - this.open.indexOf(b)) as [
      FakeShard,
      FakeShard,
    ];
    const range = { startingHashKey: left.range.startingHashKey, endingHashKey: right.range.endingHashKey };
    this.replace([parent, adjacent], [range]);
  }

  /**
   * The splits and merges of a uniform UpdateShardCount, one step at each `next`: from left to right, each target range
   * is cut off at its end and what lies in it is merged.
   */
  *uniformSteps(shardCount: number): Generator<void> {
    for (const [index, { endingHashKey }] of uniformRanges(shardCount).entries()) {
      for (;;) {
        const [first, second] = [this.open[index]!, this.open[index + 1]];
        if (first.range.endingHashKey === endingHashKey) break;
        if (first.range.endingHashKey > endingHashKey) this.split(first, endingHashKey + 1n);
        else if (second!.range.endingHashKey > endingHashKey) this.split(second!, endingHashKey + 1n);
        else this.merge(first, second!);
        yield;
      }
    }
  }

  private replace(parents: FakeShard[], ranges: HashKeyRange[]): void {
    const endingSequenceNumber = this.takeSequenceNumber();
    for (const parent of parents) parent.endingSequenceNumber = endingSequenceNumber;
    const startingSequenceNumber = this.takeSequenceNumber();
    const children = ranges.map((range) => this.create(range, parents, startingSequenceNumber));
    const position = Math.min(...parents.map((parent) => this.open.indexOf(parent)));
    this.open.splice(position, parents.length, ...children);
    this.ranges = undefined;
    this.byPartitionKey.clear();
  }

  private create(range: HashKeyRange, parents: FakeShard[], startingSequenceNumber: string): FakeShard {
    const shardId = `shardId-${String(this.all.length).padStart(12, '0')}`;
    const bucket = this.limits && new ShardTokenBucket(this.limits, this.nowMs());
    const shard = new FakeShard(shardId, range, startingSequenceNumber, parents, bucket);
    this.all.push(shard);
    return shard;
  }

  private openShardAt(hashKey: bigint): FakeShard {
    this.ranges ??= this.open.map(({ range }) => range);
    return this.open[shardIndexOf(hashKey, this.ranges)]!;
  }
}

import { binarySearch } from '../kernel/binary-search';
import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import type { ShardDescription } from './put-records-client';

/** The open shards of a stream and their hash key ranges, as ListShards returned them. */
export class ShardMap {
  /** The ids of the open shards, in the order of their hash key ranges. */
  readonly shardIds: string[] = [];
  private readonly ranges: HashKeyRange[] = [];
  private readonly byId = new Map<string, HashKeyRange>();

  constructor(shards: readonly ShardDescription[]) {
    const open = shards.filter(({ SequenceNumberRange }) => SequenceNumberRange?.EndingSequenceNumber == null);
    const ascending = open.flatMap(({ ShardId, HashKeyRange }) => {
      const { StartingHashKey, EndingHashKey } = HashKeyRange ?? {};
      if (ShardId === undefined || StartingHashKey === undefined || EndingHashKey === undefined) return [];
      return [{ ShardId, startingHashKey: BigInt(StartingHashKey), endingHashKey: BigInt(EndingHashKey) }];
    });
    ascending.sort((a, b) => Number(a.startingHashKey - b.startingHashKey));
    for (const { ShardId, ...range } of ascending) {
      this.shardIds.push(ShardId);
      this.ranges.push(range);
      this.byId.set(ShardId, range);
    }
  }

  /**
   * The shard of a hash key. Undefined if the map has no shard for the hash key: a map that was read during a reshard can have
   * gaps.
   */
  shardIdOf(hashKey: bigint): string | undefined {
    const found = binarySearch(0, this.ranges.length, (index) => hashKey <= this.ranges[index]!.endingHashKey);
    const range = this.ranges[found];
    return range !== undefined && range.startingHashKey <= hashKey ? this.shardIds[found] : undefined;
  }

  /** Whether the map has this shard with a range that does not contain the hash key. The range of a shard never changes. */
  contradicts(hashKey: bigint, shardId: string): boolean {
    const range = this.byId.get(shardId);
    return range !== undefined && (hashKey < range.startingHashKey || hashKey > range.endingHashKey);
  }
}

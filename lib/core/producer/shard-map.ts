import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import type { ShardDescription } from './put-records-client';

/** Which open shard of a stream a hash key belongs to, as ListShards told it. */
export class ShardMap {
  /** The open shards, by hash key. */
  readonly shardIds: string[] = [];
  private readonly ranges: HashKeyRange[] = [];
  private readonly byId = new Map<string, HashKeyRange>();

  constructor(shards: readonly ShardDescription[]) {
    const open = shards.filter(({ SequenceNumberRange }) => SequenceNumberRange?.EndingSequenceNumber == null);
    const known = open.flatMap(({ ShardId, HashKeyRange }) => {
      const { StartingHashKey, EndingHashKey } = HashKeyRange ?? {};
      if (ShardId === undefined || StartingHashKey === undefined || EndingHashKey === undefined) return [];
      return [{ ShardId, startingHashKey: BigInt(StartingHashKey), endingHashKey: BigInt(EndingHashKey) }];
    });
    known.sort((a, b) => Number(a.startingHashKey - b.startingHashKey));
    for (const { ShardId, ...range } of known) {
      this.shardIds.push(ShardId);
      this.ranges.push(range);
      this.byId.set(ShardId, range);
    }
  }

  /** The shard of a hash key; undefined in a gap, which a map read amid a reshard can have. */
  shardIdOf(hashKey: bigint): string | undefined {
    let low = 0;
    let high = this.ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[middle]!.endingHashKey < hashKey) low = middle + 1;
      else high = middle;
    }
    const range = this.ranges[low];
    return range !== undefined && range.startingHashKey <= hashKey ? this.shardIds[low] : undefined;
  }

  /** Whether a shard that was open when the map was read cannot hold the hash key: a shard's range never changes. */
  contradicts(hashKey: bigint, shardId: string): boolean {
    const range = this.byId.get(shardId);
    return range !== undefined && (hashKey < range.startingHashKey || hashKey > range.endingHashKey);
  }
}

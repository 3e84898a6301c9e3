import { shardIndexOf, uniformRanges } from '../../lib/core/foundation/hash-key-ranges';
import { hashPartitionKey } from '../../lib/core/foundation/hash-key-space';
import { MAX_STREAM_SHARDS } from '../../lib/core/foundation/shard-count';
import { checkBetween } from '../../lib/core/planning/number-checks';
import { SHARD_LIMITS } from '../../lib/core/planning/plan-stream';
import { floorOf, isAbove } from '../../lib/core/planning/rounding';
import { BalancedKeyAllocator } from '../../lib/core/registry/balanced-key-allocator';
import { busiestKey, type TrafficSample } from '../traffic-sample';

const DEFAULT_HEAD_ROOM = 0.25;

/** No more shards are tried than this, or than place so many keys in all; but one more than planned always is. */
const MAX_SHARDS = 1_000;
const MAX_PLACEMENTS = 2_000_000;

/** What the keys of a sample do to a stream, placed by their hash and by balanced explicit hash keys. */
export interface SamplePlacement {
  /** The busiest shard of as many as planned, in parts of what it can take. */
  busiestByHash: number;
  busiestIfBalanced: number;
  /** The most shards that were tried. */
  tried: number;
  /** The fewest shards, from as many as planned, that keep the head-room on each; absent if none up to `tried` do. */
  shardsByHash?: number;
  shardsIfBalanced?: number;
  /** The records a second of the whole stream at which its busiest key alone fills a shard. */
  busiestKeyFillsShardAt: number;
}

interface Rate {
  recordsPerSecond: number;
  headRoom?: number;
  shards: number;
}

/**
 * The records a second at which a sample's busiest key fills a shard up to the head-room: whole, unless they are few.
 */
export function largestRate(sample: TrafficSample, headRoom = DEFAULT_HEAD_ROOM): number {
  checkBetween('headRoom', headRoom, 0, 0.9);
  const rate = (1 - headRoom) / (busiestKey(sample).share * ofShard(sample));
  return rate < 10 ? rate : floorOf(rate);
}

/** Places the keys of a sample as Kinesis would. */
export function samplePlacement(sample: TrafficSample, rate: Rate): SamplePlacement {
  const { recordsPerSecond, headRoom = DEFAULT_HEAD_ROOM, shards } = rate;
  const keys = [...sample.keys].sort(([, a], [, b]) => b - a);
  const hashed = keys.map(([key, records]) => ({ hashKey: hashPartitionKey(key), records }));
  const used = (loads: readonly number[]) => (Math.max(...loads) / sample.records) * recordsPerSecond * ofShard(sample);

  const byHash = (count: number) => {
    const ranges = uniformRanges(count);
    return used(
      loadsOf(
        hashed.map(({ hashKey, records }) => [shardIndexOf(hashKey, ranges), records]),
        count,
      ),
    );
  };
  const ifBalanced = (count: number) => {
    const ranges = uniformRanges(count);
    const allocator = new BalancedKeyAllocator({ ranges });
    return used(
      loadsOf(
        keys.map(([, records]) => [shardIndexOf(allocator.allocate(records), ranges), records]),
        count,
      ),
    );
  };
  const some = Math.min(MAX_SHARDS, shards + Math.floor(MAX_PLACEMENTS / keys.length));
  const tried = Math.min(MAX_STREAM_SHARDS, Math.max(shards + 1, some));
  const fewest = (busiest: (count: number) => number) => {
    for (let count = shards; count <= tried; count++) if (!isAbove(busiest(count), 1 - headRoom)) return count;
    return undefined;
  };
  return {
    busiestByHash: byHash(shards),
    busiestIfBalanced: ifBalanced(shards),
    tried,
    shardsByHash: fewest(byHash),
    shardsIfBalanced: fewest(ifBalanced),
    busiestKeyFillsShardAt: largestRate(sample, 0),
  };
}

/** What one record a second takes of a shard. */
function ofShard({ bytes, records }: TrafficSample): number {
  return Math.max(1 / SHARD_LIMITS.recordsWritten, bytes / records / SHARD_LIMITS.bytesWritten);
}

function loadsOf(placed: readonly (readonly [number, number])[], shards: number): number[] {
  const loads = new Array<number>(shards).fill(0);
  for (const [shard, records] of placed) loads[shard]! += records;
  return loads;
}

import { checkBetween } from '../../lib/core/kernel/checks';
import { SHARD_LIMITS } from '../../lib/core/planning/plan-stream';
import { floorOf, isAbove } from '../../lib/core/planning/rounding';
import { BalancedKeyAllocator } from '../../lib/core/registry/balanced-key-allocator';
import { MAX_STREAM_SHARDS } from '../../lib/core/sharding/shard-count';
import { shardIndexOf, uniformRanges } from '../../lib/core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../../lib/core/stream-format/hash-key-space';
import { busiestKey, type TrafficSample } from '../samples/traffic-sample';

const DEFAULT_HEAD_ROOM = 0.25;

/** The maximum number of shards to try. With many keys, the command tries fewer shards, but at least one more shard than planned. */
const MAX_SHARDS = 1_000;
const MAX_PLACEMENTS = 2_000_000;

/** The load of a stream with the keys of a sample, placed by hash and by balanced explicit hash keys. */
export interface SamplePlacement {
  /** The utilization of the busiest of the planned shards. */
  busiestByHash: number;
  busiestIfBalanced: number;
  /** The planned number of shards. */
  planned: number;
  /** The largest number of shards that was tried. */
  tried: number;
  /** The smallest number of shards, at least the planned number, on which each shard keeps the head-room. Absent if no number up to `tried` is enough. */
  shardsByHash?: number;
  shardsIfBalanced?: number;
  /** The share of records on the busiest of these shards. */
  busiestShareByHash?: number;
  busiestShareIfBalanced?: number;
  /** The rate of the whole stream, in records per second, at which the busiest key alone uses all throughput of a shard. */
  busiestKeyFillsShardAt: number;
}

interface Rate {
  recordsPerSecond: number;
  headRoom?: number;
  shards: number;
}

/**
 * The rate of a stream, in records a second, at which the busiest key of a sample uses all throughput of a shard except
 * the head-room. A large rate is rounded to an integer.
 */
export function largestRate(sample: TrafficSample, headRoom = DEFAULT_HEAD_ROOM): number {
  checkBetween('headRoom', headRoom, 0, 0.9);
  const rate = (1 - headRoom) / (busiestKey(sample).share * ofShard(sample));
  return rate < 10 ? rate : floorOf(rate);
}

/** Places the keys of a sample as Kinesis would, and as a registry with weights would. */
export function samplePlacement(sample: TrafficSample, rate: Rate): SamplePlacement {
  const { shards: planned } = rate;
  const ofRate = rate.recordsPerSecond * ofShard(sample);
  const [byHash, ifBalanced] = [placingByHash(sample), placingBalanced(sample)];
  const [enoughByHash, enoughIfBalanced] = [fewestShards(sample, rate, byHash), fewestShards(sample, rate, ifBalanced)];
  return {
    planned,
    busiestByHash: byHash(planned) * ofRate,
    busiestIfBalanced: ifBalanced(planned) * ofRate,
    tried: mostTried(sample, planned),
    shardsByHash: enoughByHash?.shards,
    shardsIfBalanced: enoughIfBalanced?.shards,
    busiestShareByHash: enoughByHash?.busiestShare,
    busiestShareIfBalanced: enoughIfBalanced?.busiestShare,
    busiestKeyFillsShardAt: largestRate(sample, 0),
  };
}

/** The smallest number of shards, at least the given number, on which MD5 places the keys such that each shard keeps its head-room. */
export function shardsByHash(sample: TrafficSample, rate: Rate): number | undefined {
  return fewestShards(sample, rate, placingByHash(sample))?.shards;
}

/** Returns the share of the busiest shard for a number of shards. */
type Placing = (shards: number) => number;

function placingByHash({ keys, records }: TrafficSample): Placing {
  const hashed = [...keys].map(([key, count]) => ({ hashKey: hashPartitionKey(key), count }));
  return (shards) => {
    const ranges = uniformRanges(shards);
    return busiestShare(
      hashed.map(({ hashKey, count }) => [shardIndexOf(hashKey, ranges), count]),
      shards,
      records,
    );
  };
}

function placingBalanced({ keys, records }: TrafficSample): Placing {
  const busiestFirst = [...keys.values()].sort((a, b) => b - a);
  return (shards) => {
    const ranges = uniformRanges(shards);
    const allocator = new BalancedKeyAllocator({ ranges });
    return busiestShare(
      busiestFirst.map((count) => [shardIndexOf(allocator.allocate(count), ranges), count]),
      shards,
      records,
    );
  };
}

function fewestShards(
  sample: TrafficSample,
  { recordsPerSecond, headRoom = DEFAULT_HEAD_ROOM, shards: planned }: Rate,
  place: Placing,
): { shards: number; busiestShare: number } | undefined {
  const ofRate = recordsPerSecond * ofShard(sample);
  // No placement of whole keys helps the busiest key.
  if (isAbove(busiestKey(sample).share * ofRate, 1 - headRoom)) return undefined;
  for (let shards = planned; shards <= mostTried(sample, planned); shards++) {
    const share = place(shards);
    if (!isAbove(share * ofRate, 1 - headRoom)) return { shards, busiestShare: share };
  }
  return undefined;
}

function mostTried({ keys }: TrafficSample, planned: number): number {
  const some = Math.min(MAX_SHARDS, planned + Math.floor(MAX_PLACEMENTS / keys.size));
  return Math.min(MAX_STREAM_SHARDS, Math.max(planned + 1, some));
}

/** The part of a shard's capacity that one record a second uses. */
function ofShard({ bytes, records }: TrafficSample): number {
  return Math.max(1 / SHARD_LIMITS.recordsWritten, bytes / records / SHARD_LIMITS.bytesWritten);
}

function busiestShare(placed: readonly (readonly [number, number])[], shards: number, records: number): number {
  const loads = new Array<number>(shards).fill(0);
  for (const [shard, count] of placed) loads[shard]! += count;
  return Math.max(...loads) / records;
}

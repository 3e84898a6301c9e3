import { type HashKeyRange, uniformRanges } from '../core/stream-format/hash-key-ranges';

/** A split or a merge. `index` is the position of a shard among the open shards, in the order of their hash keys. */
type ScalingStep =
  | { readonly index: number; readonly newStartingHashKey: bigint }
  /** Merges the shard with the next shard. */
  | { readonly index: number; readonly newStartingHashKey?: undefined };

/**
 * Generates the splits and merges of an `UpdateShardCount` with `UNIFORM_SCALING`.
 *
 * AWS documents that the request splits and merges shards, and that the new shards have equal sizes (API reference,
 * UpdateShardCount). AWS does not document the rounding and the order of the steps. These rules are inferred:
 *
 * - The new shards divide the hash keys as the shards of a new stream do.
 * - For each new shard from left to right, a step splits a shard at its end, or merges two shards within it. One recorded change from
 *   four shards to three on AWS has the same shards and ids (risingwave#9961).
 * - An end that is almost the end of a new shard stays. Rounding moves ends by some keys, and no stream needs a shard of some keys.
 *
 * @param open the ranges of the open shards, in the order of their hash keys
 */
export function* uniformScaling(open: readonly HashKeyRange[], shardCount: number): Generator<ScalingStep, void> {
  const ranges = [...open];
  for (const [target, endingHashKey] of endsOf(open, shardCount).entries()) {
    for (;;) {
      const [first, second] = [ranges[target]!, ranges[target + 1]];
      if (first.endingHashKey === endingHashKey) break;
      if (first.endingHashKey < endingHashKey && second!.endingHashKey <= endingHashKey) {
        yield { index: target };
        ranges.splice(target, 2, { ...first, endingHashKey: second!.endingHashKey });
        continue;
      }
      const index = first.endingHashKey > endingHashKey ? target : target + 1;
      const newStartingHashKey = endingHashKey + 1n;
      yield { index, newStartingHashKey };
      const divided = ranges[index]!;
      ranges.splice(index, 1, { ...divided, endingHashKey }, { ...divided, startingHashKey: newStartingHashKey });
    }
  }
}

/** Ends of shards that are at most this number of hash keys apart are the same end. */
const ROUNDING = 10_000n;

/** The ends of the new shards. An end of an open shard replaces an end of a new shard that is almost the same. */
function endsOf(open: readonly HashKeyRange[], shardCount: number): bigint[] {
  let at = 0;
  return uniformRanges(shardCount).map(({ endingHashKey }) => {
    while (at < open.length - 1 && open[at]!.endingHashKey < endingHashKey - ROUNDING) at += 1;
    const end = open[at]!.endingHashKey;
    return end <= endingHashKey + ROUNDING ? end : endingHashKey;
  });
}

/** The maximum number of shards that `UpdateShardCount` can set. Source: the Kinesis API reference. */
const MAX_SHARDS = 10_000;
/** Source: the Kinesis API reference, UpdateShardCount: at most ten requests in a rolling period of 24 hours. */
const MAX_UPDATES_A_DAY = 10;
const DAY_MS = 24 * 60 * 60 * 1_000;

interface ScalingRequest {
  /** The number of open shards. */
  readonly current: number;
  readonly target: number;
  readonly shardQuota: number;
  /** The times of the earlier requests, in milliseconds. */
  readonly updatedAtMs: readonly number[];
  readonly nowMs: number;
}

/**
 * The exception and the message with which Kinesis rejects an `UpdateShardCount`. Undefined for an allowed request. AWS documents the
 * limits (API reference, UpdateShardCount), but not which of two possible exceptions each limit causes.
 */
export function scalingRefusal(request: ScalingRequest): readonly [name: string, message: string] | undefined {
  const { current, target, shardQuota, updatedAtMs, nowMs } = request;
  if (target > 2 * current || target < current / 2 || target < 1) {
    const message = `UpdateShardCount cannot scale from ${current} to ${target}: at most double, at least half`;
    return ['InvalidArgumentException', message];
  }
  if (target > MAX_SHARDS) return ['LimitExceededException', `at most ${MAX_SHARDS} shards`];
  if (target > current && target > shardQuota) return quotaRefusal(shardQuota);
  if (updatedAtMs.filter((atMs) => atMs > nowMs - DAY_MS).length < MAX_UPDATES_A_DAY) return undefined;
  return ['LimitExceededException', `at most ${MAX_UPDATES_A_DAY} updates in a rolling day`];
}

/** The refusal of more shards than the quota allows. */
export function quotaRefusal(shardQuota: number): readonly [name: string, message: string] {
  return ['LimitExceededException', `This request would exceed the shard limit of ${shardQuota}`];
}

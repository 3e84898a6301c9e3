import { MAX_STREAM_SHARDS } from '../sharding/shard-count';
import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import { type BoundaryMove, boundaryMoves } from './boundary-moves';
import { shardCountSteps } from './shard-count-steps';
import { areShardsEven } from './skew';
import { DAILY_UPDATES } from './update-history';

/** One UpdateShardCount request, which gives the stream `shardCount` shards of equal width. */
export interface UpdateShardCount {
  readonly type: 'update';
  /** The number of shards after the update. */
  readonly shardCount: number;
}

/** One request that reshards a stream. After the request, the stream is busy until its status is ACTIVE again. */
export type ReshardOperation = UpdateShardCount | BoundaryMove;

/** The earlier updates of the stream's shard count. These updates limit which requests a plan can use. */
export interface StreamReshardPlanOptions {
  /**
   * How many UpdateShardCount requests Kinesis still allows in the current 24 hours.
   * @default 10, all updates of a day
   */
  updatesLeft?: number;
  /**
   * The shard count that the last update requested. An update can leave shards uneven. If the last update requested `shardCount`,
   * and the stream has about that count (plus or minus one) but is uneven, then the plan uses splits and merges.
   * @default the stream was not updated
   */
  lastUpdateTo?: number;
}

/**
 * Plans the requests, in order, that change a stream with any shards to `shardCount` even shards. Use the plan for a dry run.
 * To make the change, use `reshardStream`.
 *
 * A plan consists of UpdateShardCount requests, or of splits and merges. Each request makes the stream busy for a while, so the
 * plan uses the kind that needs fewer requests. If both kinds need the same number of requests, the plan uses splits and
 * merges. Splits put boundaries exactly at the ideal positions, and the limit of ten updates a day does not apply to splits and
 * merges.
 *
 * You may make a new plan after each request. Each new plan is one request shorter, so the work always ends.
 *
 * @param ranges the ranges of the open shards, contiguous and ascending over the whole key space
 * @param shardCount the number of shards at the end
 * @returns the requests in order; empty if the stream has `shardCount` even shards already
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000
 */
export function planStreamReshard(
  ranges: readonly HashKeyRange[],
  shardCount: number,
  { updatesLeft = DAILY_UPDATES, lastUpdateTo }: StreamReshardPlanOptions = {},
): ReshardOperation[] {
  const updates = updateSteps(ranges.length, shardCount);
  const areEven = areShardsEven(ranges);
  if (ranges.length === shardCount && areEven) return [];
  const moves = boundaryMoves(ranges, shardCount);
  const hasFailed = lastUpdateTo === shardCount && Math.abs(ranges.length - shardCount) <= 1 && !areEven;
  const mayUpdate = updates.length <= updatesLeft && !hasFailed;
  return mayUpdate && updates.length < moves.length
    ? updates.map((count) => ({ type: 'update', shardCount: count }))
    : moves;
}

/**
 * The shard counts that the updates request, in order. An uneven stream that already has the target count first gets a quarter
 * more shards. This small increase uses little of the shard quota.
 */
function updateSteps(current: number, target: number): number[] {
  const steps = shardCountSteps(current, target);
  if (steps.length > 0) return steps;
  const detour = Math.ceil(current * 1.25);
  return [detour <= MAX_STREAM_SHARDS ? detour : current - 1, target];
}

/**
 * Describes an operation in one line, for a log or a dry run. Hash keys have 32 hexadecimal digits, so that you can compare their
 * first digits.
 */
export function describeOperation(operation: ReshardOperation): string {
  switch (operation.type) {
    case 'update':
      return `update the shard count to ${operation.shardCount}`;
    case 'split':
      return `split ${describeRange(operation.range)} at ${hex(operation.at)}`;
    case 'merge':
      return `merge ${describeRange(operation.left)} with ${describeRange(operation.right)}`;
  }
}

function describeRange({ startingHashKey, endingHashKey }: HashKeyRange): string {
  return `${hex(startingHashKey)}-${hex(endingHashKey)}`;
}

function hex(hashKey: bigint): string {
  return hashKey.toString(16).padStart(32, '0');
}

import type { HashKeyRange } from '../foundation/hash-key-ranges';
import { MAX_STREAM_SHARDS } from '../foundation/shard-count';
import { type BoundaryMove, boundaryMoves } from './boundary-moves';
import { shardCountSteps } from './shard-count-steps';
import { areShardsEven } from './skew';
import { DAILY_UPDATES } from './update-history';

/** One UpdateShardCount, which leaves `shardCount` shards of the same width. */
export interface UpdateShardCount {
  readonly type: 'update';
  readonly shardCount: number;
}

/** One request, after which the stream is busy until it is ACTIVE again. */
export type ReshardOperation = UpdateShardCount | BoundaryMove;

export interface StreamReshardPlanOptions {
  /** How many UpdateShardCount requests the stream may still have today. @default 10, a whole day's */
  updatesLeft?: number;
  /**
   * The count of the last update. If it is the count to be, the update has left the stream uneven, or what has happened
   * since was no update: another one to the same count is not tried.
   *
   * @default - none
   */
  lastUpdateTo?: number;
}

/**
 * What takes a stream from its shards as they are to `shardCount` even ones, in order; empty if it is there.
 *
 * There are two ways: UpdateShardCount step by step, and splits and merges. Each request of either makes the stream busy
 * for a while, so the way with fewer requests is taken, and of two equal ones the splits and merges: they go exactly
 * where they should, and do not count towards the ten updates of a day.
 *
 * Carried out a request at a time, with the rest planned anew from what the stream has become, it ends: each request
 * leaves a plan that is shorter by one.
 *
 * @param ranges contiguous and ascending over the whole key space
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000
 */
export function planStreamReshard(
  ranges: readonly HashKeyRange[],
  shardCount: number,
  { updatesLeft = DAILY_UPDATES, lastUpdateTo }: StreamReshardPlanOptions = {},
): ReshardOperation[] {
  const updates = updateSteps(ranges.length, shardCount);
  if (ranges.length === shardCount && areShardsEven(ranges)) return [];
  const moves = boundaryMoves(ranges, shardCount);
  const mayUpdate = updates.length <= updatesLeft && lastUpdateTo !== shardCount;
  return mayUpdate && updates.length < moves.length
    ? updates.map((count) => ({ type: 'update', shardCount: count }))
    : moves;
}

/** A stream that has the count already takes a detour: over a quarter more, which asks for little of the quota. */
function updateSteps(current: number, target: number): number[] {
  const steps = shardCountSteps(current, target);
  if (steps.length > 0) return steps;
  const detour = Math.ceil(current * 1.25);
  return [detour <= MAX_STREAM_SHARDS ? detour : current - 1, target];
}

/** One line for a log or a dry run. Hash keys are in hexadecimal, 32 digits, so that their leading digits compare. */
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

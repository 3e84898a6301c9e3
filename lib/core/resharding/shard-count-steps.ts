import { checkShardCount, MAX_STREAM_SHARDS } from '../foundation/shard-count';

/**
 * The targets of UpdateShardCount that take a stream from one shard count to another, the last of them `target`: as few
 * as the service allows, which at most doubles and at least halves a count at a time.
 *
 * All but the last are doublings or halvings, which split or merge each shard once.
 *
 * @throws InvalidShardCountError unless both are whole numbers from 1 to 10,000
 * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
 */
export function shardCountSteps(current: number, target: number): number[] {
  checkShardCount('current', current, MAX_STREAM_SHARDS);
  checkShardCount('target', target, MAX_STREAM_SHARDS);
  const steps: number[] = [];
  for (let count = current; count !== target; steps.push(count)) {
    count = target > count ? Math.min(target, mostShards(count)) : Math.max(target, fewestShards(count));
  }
  return steps;
}

/** The most shards that one update can give a stream. */
export function mostShards(count: number): number {
  return Math.min(2 * count, MAX_STREAM_SHARDS);
}

/** The fewest shards that one update can leave a stream. Half of an odd count is rounded up, to be no less than half. */
export function fewestShards(count: number): number {
  return Math.ceil(count / 2);
}

import { checkStreamShardCount, MAX_STREAM_SHARDS } from '../sharding/shard-count';

/**
 * The targets of the UpdateShardCount requests that take a stream from one shard count to another. The last one is
 * `target`. There are as few requests as Kinesis allows: one request can at most double a count, and at least halve it.
 * Use it to see how many of the ten updates of a day a change needs.
 *
 * Each request except the last one doubles or halves the count, so it splits or merges each shard once.
 *
 * @param current the number of open shards now
 * @param target the number of open shards at the end
 * @returns the target of each request, in order; empty if the counts are equal
 * @throws InvalidShardCountError unless both are whole numbers from 1 to 10,000
 * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateShardCount.html
 */
export function shardCountSteps(current: number, target: number): number[] {
  checkStreamShardCount('current', current);
  checkStreamShardCount('target', target);
  const steps: number[] = [];
  for (let count = current; count !== target; steps.push(count)) {
    count = target > count ? Math.min(target, mostShards(count)) : Math.max(target, fewestShards(count));
  }
  return steps;
}

/** The most shards that a stream can have after one update. */
export function mostShards(count: number): number {
  return Math.min(2 * count, MAX_STREAM_SHARDS);
}

/**
 * The fewest shards that a stream can have after one update. Half of an odd count is rounded up, so as not to go below.
 */
export function fewestShards(count: number): number {
  return Math.ceil(count / 2);
}

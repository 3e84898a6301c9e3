import { checkStreamShardCount, MAX_STREAM_SHARDS } from '../sharding/shard-count';

/**
 * Computes the fewest UpdateShardCount requests that change a stream from one shard count to another, and returns their target
 * counts. One request can at most double or halve the count. Use this function to find out how many of the ten daily updates a
 * change needs.
 *
 * Each request except the last doubles or halves the count, so it splits or merges each shard once.
 *
 * @param current the number of open shards now
 * @param target the number of open shards at the end
 * @returns the target of each request, in order; empty if the counts are equal
 * @throws InvalidShardCountError unless both counts are whole numbers from 1 to 10,000
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

/** The maximum number of shards that a stream can have after one update. */
export function mostShards(count: number): number {
  return Math.min(2 * count, MAX_STREAM_SHARDS);
}

/**
 * The minimum number of shards that a stream can have after one update. Rounds half of an odd count up, because Kinesis rejects
 * a count below half.
 */
export function fewestShards(count: number): number {
  return Math.ceil(count / 2);
}

import { InvalidArgumentError } from '../kernel/errors';
import { checkIndexShardCount } from './shard-count';

/**
 * A 0-based shard that is drawn uniformly. Use it for items that are written once. An item that is written again can
 * move to another shard, so use `calculatedShard` for items that change.
 *
 * @param random a source of numbers in [0, 1)
 * @default random is `Math.random`
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000
 */
export function randomShard(shardCount: number, random: () => number = Math.random): number {
  checkIndexShardCount('shardCount', shardCount);
  const drawn = random();
  if (!(drawn >= 0 && drawn < 1)) {
    throw new InvalidArgumentError('random()', drawn, 'a number from 0 (inclusive) to 1 (exclusive)');
  }
  return Math.floor(drawn * shardCount);
}

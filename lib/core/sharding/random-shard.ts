import { InvalidArgumentError } from '../kernel/errors';
import { checkIndexShardCount } from './shard-count';

/**
 * Chooses a 0-based shard uniformly at random. Use this function for items that are written once. Use `calculatedShard` for
 * items that change, because another write could move the item to another random shard.
 *
 * @param random returns random numbers in [0, 1)
 * @default random is `Math.random`
 * @throws InvalidShardCountError if the count is not an integer from 1 to 10,000
 */
export function randomShard(shardCount: number, random: () => number = Math.random): number {
  checkIndexShardCount('shardCount', shardCount);
  const number = random();
  if (!(number >= 0 && number < 1)) {
    throw new InvalidArgumentError('random()', number, 'a number from 0 (inclusive) to 1 (exclusive)');
  }
  return Math.floor(number * shardCount);
}

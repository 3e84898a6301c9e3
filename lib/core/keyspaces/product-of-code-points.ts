import { InvalidArgumentError } from '../kernel/errors';
import { checkIndexShardCount } from '../sharding/shard-count';

/**
 * The shard, counted from 0, that the guides of Amazon Keyspaces and DynamoDB suggest: the product of the code points of a text, modulo
 * the number of shards. Use it to find or to change rows that others have put there, and for no new row: a text with a few even
 * characters ends in few of the shards, and every UUID in one of 200. `shardColumns` spreads rows evenly.
 *
 * The guide adds 1: give its table a `firstShard` of 1.
 *
 * Source: Amazon Keyspaces developer guide, "Use write sharding to evenly distribute workloads across partitions".
 *
 * @throws InvalidArgumentError if the text is not a string
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000
 */
export function productOfCodePoints(text: string, shardCount: number): number {
  if (typeof text !== 'string') throw new InvalidArgumentError('text', text, 'a string');
  checkIndexShardCount('shardCount', shardCount);
  let product = 1 % shardCount;
  for (const character of text) product = (product * character.codePointAt(0)!) % shardCount;
  return product;
}

import { InvalidArgumentError } from '../kernel/errors';
import { checkIndexShardCount } from '../sharding/shard-count';

/**
 * Computes a shard, from 0, as the guides of Amazon Keyspaces and DynamoDB suggest: the product of the code points of a text,
 * modulo the number of shards. Use this function only to find or change existing rows that another application has placed in
 * this way. The product is uneven: with 200 shards, all UUIDs are in the same shard, and texts with even code points share few
 * shards. `shardColumns` spreads rows evenly.
 *
 * The guide of Amazon Keyspaces adds 1 to the shard: use `firstShard: 1` for such a table.
 *
 * Source: Amazon Keyspaces developer guide, "Use write sharding to evenly distribute workloads across partitions".
 *
 * @throws InvalidArgumentError if the text is not a string
 * @throws InvalidShardCountError if the count is not an integer from 1 to 10,000
 */
export function productOfCodePoints(text: string, shardCount: number): number {
  if (typeof text !== 'string') throw new InvalidArgumentError('text', text, 'a string');
  checkIndexShardCount('shardCount', shardCount);
  let product = 1 % shardCount;
  for (const character of text) product = (product * character.codePointAt(0)!) % shardCount;
  return product;
}

import { hash } from 'node:crypto';
import { InvalidArgumentError } from '../kernel/errors';

/** The maximum number of hash buckets of a stream: four for each of 10,000 shards, rounded up to a power of two. */
const MAX_HASH_BUCKETS = 65_536;

/** The default is four buckets for each shard of a stream with 64 shards. */
export const DEFAULT_HASH_BUCKETS = 256;

const HASH_KEY_BITS = 128;

/** The number of a key's bucket consists of at most this many leading bits of the MD5 of the key. */
const MAX_BUCKET_BITS = 16;

/** One of the equal parts that a stream's hash key space is divided into. */
interface HashBucket {
  /** The name of the bucket, which is also the partition key of its aggregates. */
  readonly name: string;
  /** The centre of the bucket, which is the explicit hash key of all records of its keys. */
  readonly hashKey: bigint;
}

/** @throws InvalidArgumentError unless `count` is a power of two from 2 to 65,536 */
export function checkHashBuckets(field: string, count: unknown): void {
  const isPower = typeof count === 'number' && Number.isInteger(Math.log2(count));
  if (!isPower || count < 2 || count > MAX_HASH_BUCKETS) {
    throw new InvalidArgumentError(field, count, `a power of two from 2 to ${MAX_HASH_BUCKETS}`);
  }
}

/**
 * The buckets of a stream. A partition key belongs to the bucket that contains its MD5. So the key stays in the shard
 * of its MD5, unless a shard ends within the bucket.
 */
export class HashBuckets {
  private readonly buckets: readonly HashBucket[];
  private readonly bits: number;

  /** @param count a power of two from 2 to 65,536 */
  constructor(count: number) {
    this.bits = Math.log2(count);
    const width = 1n << BigInt(HASH_KEY_BITS - this.bits);
    this.buckets = Array.from({ length: count }, (_, number) => ({
      name: `bucket-${number}-of-${count}`,
      hashKey: BigInt(number) * width + width / 2n,
    }));
  }

  of(partitionKey: string): HashBucket {
    const first = Number.parseInt(hash('md5', partitionKey, 'hex').slice(0, MAX_BUCKET_BITS / 4), 16);
    return this.buckets[first >> (MAX_BUCKET_BITS - this.bits)]!;
  }

  /** The bucket whose centre is this hash key; undefined if there is no such bucket. */
  centredAt(hashKey: bigint): HashBucket | undefined {
    const bucket = this.buckets[Number(hashKey >> BigInt(HASH_KEY_BITS - this.bits))];
    return bucket?.hashKey === hashKey ? bucket : undefined;
  }
}

/**
 * Returns the explicit hash key that a producer with `hashBuckets` gives to records without an explicit hash key: the centre of
 * the bucket of the partition key. Use it with `shardIndexOf` to find the shard of these records.
 *
 * @throws InvalidArgumentError unless the key is a string, and `hashBuckets` is a power of two from 2 to 65,536
 */
export function bucketHashKey(partitionKey: string, hashBuckets: number): bigint {
  if (typeof partitionKey !== 'string') throw new InvalidArgumentError('partitionKey', partitionKey, 'a string');
  checkHashBuckets('hashBuckets', hashBuckets);
  return new HashBuckets(hashBuckets).of(partitionKey).hashKey;
}

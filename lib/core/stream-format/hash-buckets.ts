import { hash } from 'node:crypto';
import { InvalidArgumentError } from '../kernel/errors';

/** The most hash buckets of a stream. Four for each shard of the largest stream, of 10,000 shards, are 65,536. */
const MAX_HASH_BUCKETS = 65_536;

/** Enough for a stream of up to 64 shards, with four buckets for each shard. */
export const DEFAULT_HASH_BUCKETS = 256;

const HASH_KEY_BITS = 128;

/** The bits of the MD5 that a bucket's number is taken from. */
const MAX_BUCKET_BITS = 16;

/** One of the equal parts that a stream's hash key space is divided into. */
interface HashBucket {
  /** Names the bucket: the partition key of the aggregates that its keys share. */
  readonly name: string;
  /** The centre of the bucket: the explicit hash key of every record of its keys. */
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
 * The buckets of a stream. A key is in the bucket that holds the MD5 of the key, so it stays in its shard as long as no
 * shard ends within the bucket.
 */
export class HashBuckets {
  private readonly buckets: readonly HashBucket[];
  private readonly bits: number;

  /** @param count a power of two, as `checkHashBuckets` lets it pass */
  constructor(count: number) {
    this.bits = Math.log2(count);
    const width = 1n << BigInt(HASH_KEY_BITS - this.bits);
    this.buckets = Array.from({ length: count }, (_, number) => ({
      name: `bucket-${number}-of-${count}`,
      hashKey: BigInt(number) * width + width / 2n,
    }));
  }

  /** The bucket of a partition key. */
  of(partitionKey: string): HashBucket {
    const first = Number.parseInt(hash('md5', partitionKey, 'hex').slice(0, MAX_BUCKET_BITS / 4), 16);
    return this.buckets[first >> (MAX_BUCKET_BITS - this.bits)]!;
  }

  /** The bucket that has its centre at a hash key; undefined if none has. */
  centredAt(hashKey: bigint): HashBucket | undefined {
    const bucket = this.buckets[Number(hashKey >> BigInt(HASH_KEY_BITS - this.bits))];
    return bucket?.hashKey === hashKey ? bucket : undefined;
  }
}

/**
 * The explicit hash key that a producer with `hashBuckets` gives the records of a partition key that have none of their
 * own: the centre of the key's bucket. Use it, with `shardIndexOf`, to find out which shard holds them.
 *
 * @throws InvalidArgumentError unless `hashBuckets` is a power of two from 2 to 65,536
 */
export function bucketHashKey(partitionKey: string, hashBuckets: number): bigint {
  checkHashBuckets('hashBuckets', hashBuckets);
  return new HashBuckets(hashBuckets).of(partitionKey).hashKey;
}

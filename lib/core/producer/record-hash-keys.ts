import { RecentMap } from '../kernel/recent-map';
import { HashBuckets } from '../stream-format/hash-buckets';
import { hashPartitionKey } from '../stream-format/hash-key-space';
import { MAX_PARTITION_KEY_LENGTH, type ProducerRecord } from './producer-record';
import type { PutRecordsRequestEntry } from './put-records-client';

/** The keys whose records may share an aggregate, because all of them have one hash key. */
export interface AggregationGroup {
  /** The partition key of the aggregate. */
  readonly name: string;
  readonly hashKey: bigint;
}

/** The hash keys of a producer's records: the explicit hash key, the hash key of the key's bucket, or the MD5 of the key. */
export class RecordHashKeys {
  private readonly buckets: HashBuckets | undefined;
  private readonly bucketOf = cached((partitionKey) => this.buckets!.of(partitionKey));
  private readonly md5Of = cached(hashPartitionKey);

  constructor({ hashBuckets }: { hashBuckets: number | undefined }) {
    this.buckets = hashBuckets === undefined ? undefined : new HashBuckets(hashBuckets);
  }

  /** The explicit hash key that a record is sent with. */
  explicitHashKeyOf({ partitionKey, explicitHashKey }: KeyedRecord): bigint | undefined {
    return explicitHashKey ?? (this.buckets && this.bucketOf(partitionKey).hashKey);
  }

  /** The hash key that decides the shard of a record. */
  hashKeyOf(record: KeyedRecord): bigint {
    return this.explicitHashKeyOf(record) ?? this.md5Of(record.partitionKey);
  }

  /**
   * The group whose records may share an aggregate with this record. The producer must have hash buckets.
   *
   * Aggregates with the same hash key always have the same partition key. Otherwise a consumer that processes partition keys in
   * parallel could process two records of one key at the same time.
   */
  aggregationGroupOf({ partitionKey, explicitHashKey }: KeyedRecord): AggregationGroup {
    if (explicitHashKey === undefined) return this.bucketOf(partitionKey);
    return (
      this.buckets!.centredAt(explicitHashKey) ?? { name: `hash-key-${explicitHashKey}`, hashKey: explicitHashKey }
    );
  }
}

/** The hash key that decides the shard of a Kinesis record. */
export function hashKeyOfEntry({ PartitionKey, ExplicitHashKey }: KeyedEntry): bigint {
  return ExplicitHashKey === undefined ? hashPartitionKey(PartitionKey) : BigInt(ExplicitHashKey);
}

export type KeyedEntry = Pick<PutRecordsRequestEntry, 'PartitionKey' | 'ExplicitHashKey'>;

type KeyedRecord = Pick<ProducerRecord, 'partitionKey' | 'explicitHashKey'>;

/** The number of keys whose results are cached: the number of records that a producer buffers by default. */
const MAX_REMEMBERED_KEYS = 10_000;

/**
 * Caches the results for the most recent keys. Without the cache, the MD5 of the key would take a tenth of the processor time for
 * a record.
 */
function cached<T>(compute: (partitionKey: string) => T): (partitionKey: string) => T {
  const recent = new RecentMap<string, T>(MAX_REMEMBERED_KEYS);
  return (partitionKey) => {
    let result = recent.get(partitionKey);
    if (result === undefined) {
      result = compute(partitionKey);
      recent.set(copyOf(partitionKey), result);
    }
    return result;
  };
}

/** A UTF-16 code unit has at most three bytes of UTF-8. */
const COPY = Buffer.allocUnsafe(MAX_PARTITION_KEY_LENGTH * 3);

/** Copies a key, because a key that was cut out of a long text would keep the whole text in memory. */
function copyOf(partitionKey: string): string {
  return COPY.toString('utf8', 0, COPY.write(partitionKey));
}

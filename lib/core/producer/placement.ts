import { RecentMap } from '../kernel/recent-map';
import { HashBuckets } from '../stream-format/hash-buckets';
import { hashPartitionKey } from '../stream-format/hash-key-space';
import { MAX_PARTITION_KEY_LENGTH, type ProducerRecord } from './producer-record';
import type { PutRecordsRequestEntry } from './put-records-client';

/** The records that go to one point of the hash key space and may share a Kinesis record. */
export interface MeetingPoint {
  /** The partition key of what they share. */
  readonly name: string;
  readonly hashKey: bigint;
}

/** Where a producer's records go: by their explicit hash key, by their key's bucket, or by the MD5 of their key. */
export class Placement {
  private readonly buckets: HashBuckets | undefined;
  private readonly bucketOf = remembered((partitionKey) => this.buckets!.of(partitionKey));
  private readonly md5Of = remembered(hashPartitionKey);

  constructor({ hashBuckets }: { hashBuckets: number | undefined }) {
    this.buckets = hashBuckets === undefined ? undefined : new HashBuckets(hashBuckets);
  }

  /** The explicit hash key that a record is sent with; undefined if none. */
  explicitHashKeyOf({ partitionKey, explicitHashKey }: PlacedRecord): bigint | undefined {
    return explicitHashKey ?? (this.buckets && this.bucketOf(partitionKey).hashKey);
  }

  /** The hash key that decides the shard of a record. */
  hashKeyOf(record: PlacedRecord): bigint {
    return this.explicitHashKeyOf(record) ?? this.md5Of(record.partitionKey);
  }

  /**
   * Where a record meets those it may share a pack with. One hash key has one name: a consumer that reads the partition keys
   * of a shard side by side must not come upon the records of a key under two. The producer must have buckets.
   */
  meetingPointOf({ partitionKey, explicitHashKey }: PlacedRecord): MeetingPoint {
    if (explicitHashKey === undefined) return this.bucketOf(partitionKey);
    return (
      this.buckets!.centredAt(explicitHashKey) ?? { name: `hash-key-${explicitHashKey}`, hashKey: explicitHashKey }
    );
  }
}

/** The hash key that decides the shard of a Kinesis record. */
export function hashKeyOfEntry({ PartitionKey, ExplicitHashKey }: PlacedEntry): bigint {
  return ExplicitHashKey === undefined ? hashPartitionKey(PartitionKey) : BigInt(ExplicitHashKey);
}

export type PlacedEntry = Pick<PutRecordsRequestEntry, 'PartitionKey' | 'ExplicitHashKey'>;

type PlacedRecord = Pick<ProducerRecord, 'partitionKey' | 'explicitHashKey'>;

/** The most keys whose hash is remembered: as many as a producer holds records, unless it is given another buffer. */
const MAX_REMEMBERED_KEYS = 10_000;

/** Remembers what was worked out of the last keys: keys come again, and MD5 would be a tenth of what a record costs. */
function remembered<T>(workOut: (partitionKey: string) => T): (partitionKey: string) => T {
  const recent = new RecentMap<string, T>(MAX_REMEMBERED_KEYS);
  return (partitionKey) => {
    let known = recent.get(partitionKey);
    if (known === undefined) {
      known = workOut(partitionKey);
      recent.set(copyOf(partitionKey), known);
    }
    return known;
  };
}

/** A character has three bytes of UTF-8 at most. */
const COPY = Buffer.allocUnsafe(MAX_PARTITION_KEY_LENGTH * 3);

/** A key that was cut out of a long text would keep all of that in memory. */
function copyOf(partitionKey: string): string {
  return COPY.toString('utf8', 0, COPY.write(partitionKey));
}

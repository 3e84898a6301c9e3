import { HashBuckets } from '../foundation/hash-buckets';
import { hashPartitionKey } from '../foundation/hash-key-space';
import type { ProducerRecord } from './producer-record';
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

  constructor({ hashBuckets }: { hashBuckets: number | undefined }) {
    this.buckets = hashBuckets === undefined ? undefined : new HashBuckets(hashBuckets);
  }

  /** The explicit hash key that a record is sent with; undefined if none. */
  explicitHashKeyOf({ partitionKey, explicitHashKey }: PlacedRecord): bigint | undefined {
    return explicitHashKey ?? this.buckets?.of(partitionKey).hashKey;
  }

  /** The hash key that decides the shard of a record. */
  hashKeyOf(record: PlacedRecord): bigint {
    return this.explicitHashKeyOf(record) ?? hashPartitionKey(record.partitionKey);
  }

  /**
   * Where a record meets those it may share a pack with. One hash key has one name: a consumer that reads the partition keys
   * of a shard side by side must not come upon the records of a key under two. Needs buckets.
   */
  meetingPointOf({ partitionKey, explicitHashKey }: PlacedRecord): MeetingPoint {
    if (explicitHashKey === undefined) return this.buckets!.of(partitionKey);
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

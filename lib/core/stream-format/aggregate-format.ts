import { hash } from 'node:crypto';

/**
 * The aggregation format of the Kinesis Producer Library: four magic bytes, a protocol buffers message, and the MD5 of
 * that message.
 *
 *     AggregatedRecord { repeated string partition_key_table = 1; repeated string explicit_hash_key_table = 2;
 *                        repeated Record records = 3; }
 *     Record           { required uint64 partition_key_index = 1; optional uint64 explicit_hash_key_index = 2;
 *                        required bytes data = 3; repeated Tag tags = 4; }
 *     Tag              { required string key = 1; optional string value = 2; }
 *
 * Source: awslabs/amazon-kinesis-producer, aggregation-format.md.
 */
export const AGGREGATE_FIELDS = { partitionKeys: 1, explicitHashKeys: 2, records: 3 } as const;
export const RECORD_FIELDS = { partitionKeyIndex: 1, explicitHashKeyIndex: 2, data: 3, tags: 4 } as const;
export const TAG_FIELDS = { key: 1, value: 2 } as const;

export const MAGIC = Uint8Array.of(0xf3, 0x89, 0x9a, 0xc2);

export const DIGEST_BYTES = 16;

/** An upper bound of the bytes that an aggregate adds to a record: the frame, the tables of keys, and the longest sequence. */
export const MAX_AGGREGATE_OVERHEAD_BYTES = 4 * 1024;

/** Whether data starts with the magic bytes of an aggregate. */
export function hasMagic(data: Uint8Array): boolean {
  return MAGIC.every((byte, index) => data[index] === byte);
}

export function digestOf(message: Uint8Array): Buffer {
  return hash('md5', message, 'buffer');
}

/** Writes the digest of `data` from `start` to `end`, directly after `end`. */
export function writeDigest(data: Buffer, start: number, end: number): void {
  // A latin1 string is faster: writing it takes two thirds of the time of copying a buffer.
  data.write(hash('md5', data.subarray(start, end), 'binary'), end, 'latin1');
}

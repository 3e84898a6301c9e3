/**
 * What one shard takes in a second. Source: the Kinesis developer guide, "Quotas and limits". Its "1 MB" is read as the
 * smaller of what it may mean.
 */
export const SHARD_BYTES_PER_SECOND = 1_000_000;
export const SHARD_RECORDS_PER_SECOND = 1_000;

import { InvalidShardCountError } from './errors';

/**
 * The most shards one stream can be given.
 * Source: the Kinesis API reference, UpdateShardCount: "scale to more than 10,000 shards in a stream" is refused.
 */
export const MAX_STREAM_SHARDS = 10_000;

/**
 * The most shards one value of an index can be given. DynamoDB sets no such bound; this one is ours, and generous:
 * each page of a fan-out query asks every shard, at half a read unit or more each.
 */
export const MAX_INDEX_SHARDS = 10_000;

/** Throws `InvalidShardCountError` unless `value` is a whole number from 1 to `max`. */
export function checkShardCount(field: string, value: unknown, max: number): void {
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > max) {
    throw new InvalidShardCountError(field, value, `a whole number from 1 to ${max}`);
  }
}

import { InvalidShardCountError } from '../kernel/errors';

/**
 * The most shards that one stream can have.
 * Source: the Kinesis API reference, UpdateShardCount: "scale to more than 10,000 shards in a stream" is refused.
 */
export const MAX_STREAM_SHARDS = 10_000;

/**
 * The most shards that one value of an index can have. DynamoDB sets no such bound; this generous one is ours. Each
 * page of a fan-out query asks every shard, and each shard costs half a read unit or more.
 */
export const MAX_INDEX_SHARDS = 10_000;

/** The fields of shard counts, and of one count. A reader that overlooked another field could miss shards. */
const SHARDS_FIELDS: readonly string[] = ['default', 'byValue'];
const COUNT_FIELDS: readonly string[] = ['write', 'read', 'since'];

/** The path of the first field that shard counts do not have, such as `byValues`; undefined if there is none. */
export function unknownShardsField(shards: object): string | undefined {
  const own = Object.keys(shards).find((field) => !SHARDS_FIELDS.includes(field));
  if (own !== undefined) return own;
  const { default: others, byValue } = shards as { default?: object; byValue?: Record<string, object> };
  for (const [path, count] of [['default', others] as const, ...Object.entries(byValue ?? {})]) {
    const field = Object.keys(Object(count)).find((name) => !COUNT_FIELDS.includes(name));
    if (field !== undefined) return `${count === others ? path : `byValue[${JSON.stringify(path)}]`}.${field}`;
  }
  return undefined;
}

/** @throws InvalidShardCountError unless a stream, or a smaller key space, can have this many shards */
export function checkStreamShardCount(field: string, value: unknown, max = MAX_STREAM_SHARDS): void {
  checkShardCount(field, value, max, max < MAX_STREAM_SHARDS ? '' : ', the most that Kinesis takes a stream to');
}

/** @throws InvalidShardCountError unless a value of an index can have this many shards */
export function checkIndexShardCount(field: string, value: unknown, max = MAX_INDEX_SHARDS): void {
  checkShardCount(field, value, max, max < MAX_INDEX_SHARDS ? '' : ', for each page of a query asks every shard');
}

/** @param reason why there may be no more */
function checkShardCount(field: string, value: unknown, max: number, reason: string): void {
  const isCount = Number.isInteger(value) && (value as number) >= 1;
  if (isCount && (value as number) <= max) return;
  throw new InvalidShardCountError(field, value, `a whole number from 1 to ${max}${isCount ? reason : ''}`);
}

import { InvalidShardCountError } from '../kernel/errors';

/**
 * The maximum number of shards of a stream. Source: the Kinesis API reference. UpdateShardCount cannot "scale to more than
 * 10,000 shards in a stream".
 */
export const MAX_STREAM_SHARDS = 10_000;

/**
 * The maximum number of shards of one value of an index. This is a limit of the library, not of DynamoDB. Each page of a
 * fan-out query reads every shard, and each shard costs half a read unit or more.
 */
export const MAX_INDEX_SHARDS = 10_000;

/**
 * The fields of shard counts, and of one count. Other fields are rejected, because a reader that ignored them could
 * miss shards.
 */
const SHARDS_FIELDS: readonly string[] = ['default', 'byValue'];
const COUNT_FIELDS: readonly string[] = ['write', 'read', 'since'];

/** The path of the first unknown field, such as `byValues`. Undefined if all fields are known. */
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

/** @throws InvalidShardCountError if a stream, or a smaller key space, cannot have this number of shards */
export function checkStreamShardCount(field: string, value: unknown, max = MAX_STREAM_SHARDS): void {
  checkShardCount(field, value, max, max < MAX_STREAM_SHARDS ? '' : ' (the most shards of a Kinesis stream)');
}

/** @throws InvalidShardCountError if a value of an index cannot have this number of shards */
export function checkIndexShardCount(field: string, value: unknown, max = MAX_INDEX_SHARDS): void {
  checkShardCount(field, value, max, max < MAX_INDEX_SHARDS ? '' : ' (a query reads every shard for each page)');
}

/** @param reason the reason of the upper bound */
function checkShardCount(field: string, value: unknown, max: number, reason: string): void {
  const isCount = Number.isInteger(value) && (value as number) >= 1;
  if (isCount && (value as number) <= max) return;
  throw new InvalidShardCountError(field, value, `a whole number from 1 to ${max}${isCount ? reason : ''}`);
}

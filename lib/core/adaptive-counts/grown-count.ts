import { MAX_INDEX_SHARDS } from '../sharding/shard-count';
import { CorruptShardCountError } from './adaptive-count-errors';

/**
 * The adaptive counts of one value of an index, as stored in the table of counts. Readers and writers use the larger of
 * these counts and the counts of the configuration.
 */
export interface GrownCount {
  /** The value, as text. Undefined if the index has no value attribute. */
  value: string | undefined;
  /** The number of shards that writers use. */
  write: number;
  /** The number of shards that readers query, at least `write`. */
  read: number;
  /** How often the counts of this value were changed: 1 after the first change. */
  version: number;
  /** The id of the attempt that wrote this version. */
  commit: string;
  /** The author of this version. */
  changedBy: string;
  /**
   * The time of this version in ISO 8601, by the clock of its author. Only the controller uses this time: it ignores earlier
   * minutes, because writers may have used the earlier count in these minutes. Even if the clock is wrong, the count is at most
   * twice the number of shards that the writes need.
   */
  changedAt: string;
  /** The reason of this version. */
  reason: string;
}

/**
 * @param sortKey the sort key of the item that contains these counts, if they come from the table of counts
 * @throws CorruptShardCountError if the counts or the version are invalid
 */
export function checkGrownCount({ write, read, version }: GrownCount, sortKey?: string): void {
  const isShardCount = (count: number) => Number.isInteger(count) && count >= 1 && count <= MAX_INDEX_SHARDS;
  if (!isShardCount(write) || !isShardCount(read) || read < write)
    throw new CorruptShardCountError('the counts of a value', sortKey);
  if (!Number.isSafeInteger(version) || version < 1)
    throw new CorruptShardCountError('the version of a value', sortKey);
}

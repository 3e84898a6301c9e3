import { MAX_INDEX_SHARDS } from '../sharding/shard-count';
import { CorruptShardCountError } from './adaptive-count-errors';

/**
 * The shard counts that one value of an index has grown to, as the table of counts holds them. Readers and writers use
 * these or the counts of the configuration, whichever are larger.
 */
export interface GrownCount {
  /** The value, as text. Undefined: the index covers the whole table. */
  value: string | undefined;
  /** The number of shards that writers use. */
  write: number;
  /** The number of shards that readers ask, at least `write`. */
  read: number;
  /** How often the counts of this value have changed: 1 after the first change. */
  version: number;
  /** The id of the attempt that made this version. */
  commit: string;
  /** Who made this version. */
  changedBy: string;
  /**
   * When this version was made, by the clock of whoever made it, in ISO 8601. Readers and writers never look at it. The
   * controller leaves out earlier minutes, in which writers may have used the earlier count. If the clock is wrong, the
   * count is at most twice what is needed.
   */
  changedAt: string;
  /** Why this version was made. */
  reason: string;
}

/**
 * @param sortKey the key that the counts are stored under, if they are stored
 * @throws CorruptShardCountError unless readers and writers can use the counts
 */
export function checkGrownCount({ write, read, version }: GrownCount, sortKey?: string): void {
  const isCount = (count: number) => Number.isInteger(count) && count >= 1 && count <= MAX_INDEX_SHARDS;
  if (!isCount(write) || !isCount(read) || read < write)
    throw new CorruptShardCountError('the counts of a value', sortKey);
  if (!Number.isSafeInteger(version) || version < 1)
    throw new CorruptShardCountError('the version of a value', sortKey);
}

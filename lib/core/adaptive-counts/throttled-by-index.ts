import type { ShardedIndexConfig } from '../sharded-index';

/** What a partition of an index refuses. Source: the DynamoDB developer guide, "DynamoDB throttling resolution guide". */
const HOT_INDEX_PARTITION = 'IndexWriteKeyRangeThroughputExceeded';

/**
 * Whether DynamoDB refused a write because a partition of this index is hot, as its exception tells since August 2025. The
 * exception names the index and no key, so only a write of a single item tells of which value it was.
 *
 * @param error what a write has failed with
 */
export function isThrottledByIndex({ tableName, indexName }: ShardedIndexConfig, error: unknown): boolean {
  const reasons = Object(error).ThrottlingReasons;
  if (!Array.isArray(reasons)) return false;
  return reasons.some((entry) => {
    const { reason, resource } = Object(entry);
    if (reason !== HOT_INDEX_PARTITION || typeof resource !== 'string') return false;
    return resource.endsWith(`:table/${tableName}/index/${indexName}`);
  });
}

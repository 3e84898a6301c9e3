/** Attributes of a table of shard counts. The construct declares them; the store reads and writes them. */

/** The table's partition key, a string: the name of the sharded table, a slash, and the name of the index. */
export const COUNT_TABLE_INDEX = 'index';

/** The table's sort key, a string: `=` and the value, or `*` for an index that covers the whole table. */
export const COUNT_TABLE_VALUE = 'value';

/** The most bytes of a sort key. Source: the DynamoDB developer guide, "Quotas". */
export const MAX_COUNT_TABLE_VALUE_BYTES = 1_024;

/** The attribute that holds when DynamoDB may delete an item, in seconds since 1970. Reports have it, and counts do not. */
export const COUNT_TABLE_EXPIRY = 'expiresAt';

/** The partition key of the reports of what was throttled. No index has it: names hold no slash. */
export function reportsKey({ tableName, indexName }: { tableName: string; indexName: string }): string {
  return `${tableName}/${indexName}/reports`;
}

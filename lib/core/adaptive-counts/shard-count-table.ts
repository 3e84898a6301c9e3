/** The attributes of the table of counts, which the construct, the store and the controller share. */

/** The table's partition key, a string: the name of the sharded table, a slash, and the name of the index. */
export const COUNT_TABLE_INDEX = 'index';

/** The table's sort key, a string: `=` and the value, or `*` if the index has no value attribute. */
export const COUNT_TABLE_VALUE = 'value';

/** The maximum size of a sort key, in bytes. Source: the DynamoDB developer guide, "Quotas". */
export const MAX_COUNT_TABLE_VALUE_BYTES = 1_024;

/** The time to live of a report, in seconds since 1970. Items with counts do not have this attribute. */
export const COUNT_TABLE_EXPIRY = 'expiresAt';

/**
 * The partition key of the reports of an index. This key cannot equal the key of another index, because names do not contain a
 * slash.
 */
export function reportsKey({ tableName, indexName }: { tableName: string; indexName: string }): string {
  return `${tableName}/${indexName}/reports`;
}

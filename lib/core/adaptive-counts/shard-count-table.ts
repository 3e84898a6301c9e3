/** Attributes of a table of shard counts. The construct declares them; the store reads and writes them. */

/** The table's partition key, a string: the name of the sharded table, a slash, and the name of the index. */
export const COUNT_TABLE_INDEX = 'index';

/** The table's sort key, a string: `=` and the value, or `*` for an index that covers the whole table. */
export const COUNT_TABLE_VALUE = 'value';

/** The most bytes of a sort key. Source: the DynamoDB developer guide, "Quotas". */
export const MAX_COUNT_TABLE_VALUE_BYTES = 1_024;

/** Attributes of a registry's table. The construct declares them; the store reads and writes them. */

/** The table's partition key, a string. The table has no sort key. */
export const REGISTRY_TABLE_KEY = 'id';

/** The time from which DynamoDB may delete the entry of a released owner. */
export const REGISTRY_TABLE_TIME_TO_LIVE = 'expiresAt';

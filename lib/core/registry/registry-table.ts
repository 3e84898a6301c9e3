/** Attributes of a registry's table: the construct declares them, the store reads and writes them. */

/** The table's partition key, a string. There is no sort key. */
export const REGISTRY_TABLE_KEY = 'id';

/** When DynamoDB may delete the entry of an owner that was released. */
export const REGISTRY_TABLE_TIME_TO_LIVE = 'expiresAt';

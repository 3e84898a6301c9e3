/** What the construct of a registry, its function and its callers agree on. */

/** The table's partition key, a string. The table has no sort key. */
export const REGISTRY_TABLE_KEY = 'id';

/** The time from which DynamoDB may delete the entry of a released owner. */
export const REGISTRY_TABLE_TIME_TO_LIVE = 'expiresAt';

/** The alias of the registry's function that only reads. */
export const QUERY_ALIAS = 'query';

/** The alias of the registry's function that hands out keys and changes nothing else. */
export const ALLOCATE_ALIAS = 'allocate';

/** What the function does for whoever invokes it by an alias. Without one of these aliases it does everything. */
export const ACTIONS_BY_ALIAS: Readonly<Record<string, readonly string[]>> = {
  [QUERY_ALIAS]: ['get', 'list', 'plan'],
  [ALLOCATE_ALIAS]: ['allocate', 'get'],
};

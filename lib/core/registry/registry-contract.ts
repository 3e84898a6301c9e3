/** Names that the construct of a registry, its function and its callers share. */

/** The table's partition key, a string. The table has no sort key. */
export const REGISTRY_TABLE_KEY = 'id';

/** The time from which DynamoDB may delete the entry of a released owner. */
export const REGISTRY_TABLE_TIME_TO_LIVE = 'expiresAt';

/** The alias of the registry's function through which callers can only read. */
export const QUERY_ALIAS = 'query';

/** The alias of the registry's function through which callers can allocate keys, and change nothing else. */
export const ALLOCATE_ALIAS = 'allocate';

/**
 * The actions that an invocation through each alias may request. An invocation without one of these aliases may request all
 * actions.
 */
export const ACTIONS_BY_ALIAS: Readonly<Record<string, readonly string[]>> = {
  [QUERY_ALIAS]: ['get', 'list', 'plan'],
  [ALLOCATE_ALIAS]: ['allocate', 'get'],
};

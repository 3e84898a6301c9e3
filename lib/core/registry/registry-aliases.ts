/** The alias of the registry's function that only reads. */
export const QUERY_ALIAS = 'query';

/** The alias of the registry's function that hands out keys and changes nothing else. */
export const ALLOCATE_ALIAS = 'allocate';

/** What the function does for whoever invokes it by an alias. Without one of these aliases it does everything. */
export const ACTIONS_BY_ALIAS: Readonly<Record<string, readonly string[]>> = {
  [QUERY_ALIAS]: ['get', 'list', 'plan'],
  [ALLOCATE_ALIAS]: ['allocate', 'get'],
};

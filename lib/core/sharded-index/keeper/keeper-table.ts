/** The partition key of the table of a keeper, a string. */
export const KEEPER_TABLE_KEY = 'id';
/** The sort key of the table of a keeper, a string. */
export const KEEPER_TABLE_SORT_KEY = 'item';
/** The time-to-live attribute of the table of a keeper. The state, and items that are checked again, do not have it. */
export const KEEPER_TABLE_TIME_TO_LIVE = 'expiresAt';

/** The values that a package has written, by format and name. */
export type Written = Record<string, Record<string, unknown>>;

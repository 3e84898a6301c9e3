/**
 * The fields of stored data that this release does not know. A later release has added them without a mark. A program that
 * rewrites the data also writes these fields. The key is a symbol, so a copy with `...` has the fields, and JSON does not.
 */
const LATER_FIELDS = Symbol('later fields');

/** Adds the unknown fields of stored data to the value that was read from the data. */
export function withLaterFields<T extends object>(value: T, fields: object): T {
  return Object.keys(fields).length === 0 ? value : { ...value, [LATER_FIELDS]: fields };
}

/** The unknown fields of the data from which a value was read. */
export function laterFields<F extends object>(value: object, none: F): F {
  return (value as { [LATER_FIELDS]?: F })[LATER_FIELDS] ?? none;
}

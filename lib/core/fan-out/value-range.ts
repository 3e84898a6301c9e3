/** The direction of a query: 1 is ascending, -1 is descending. */
export type Direction = 1 | -1;

export interface RangeEnd<V> {
  value: V;
  inclusive: boolean;
}

/** A range of values of one attribute or column. If an end is absent, the range has no bound at this end. */
export interface ValueRange<V> {
  lower?: RangeEnd<V>;
  upper?: RangeEnd<V>;
}

/** Returns the part of a range from a value on, in the direction of the query. */
export function rangeFrom<V>(range: ValueRange<V>, begin: RangeEnd<V>, direction: Direction): ValueRange<V> {
  return direction === 1 ? { ...range, lower: begin } : { ...range, upper: begin };
}

/**
 * Returns the part of a range up to and including a value, in the direction of the query. Returns the same object if the range
 * already ends at or before the value.
 */
export function rangeUpTo<V>(
  range: ValueRange<V>,
  value: V,
  direction: Direction,
  compare: (a: V, b: V) => number,
): ValueRange<V> {
  const end = farEnd(range, direction);
  if (end !== undefined && direction * compare(end.value, value) <= 0) return range;
  const cut = { value, inclusive: true };
  return direction === 1 ? { ...range, upper: cut } : { ...range, lower: cut };
}

/** Whether a value comes after the range, in the direction of the query. */
export function isAfterRange<V>(
  value: V,
  range: ValueRange<V>,
  direction: Direction,
  compare: (a: V, b: V) => number,
): boolean {
  const end = farEnd(range, direction);
  if (end === undefined) return false;
  const difference = direction * compare(value, end.value);
  return difference > 0 || (difference === 0 && !end.inclusive);
}

function farEnd<V>({ lower, upper }: ValueRange<V>, direction: Direction): RangeEnd<V> | undefined {
  return direction === 1 ? upper : lower;
}

const MAX_CODE_POINT = 0x10ffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;

/**
 * Returns the first text after all texts that begin with a prefix. The function compares code points, which have the same order
 * as UTF-8 bytes. The function skips the surrogates, because a text cannot contain half a surrogate pair.
 *
 * @returns undefined if no text comes after all these texts
 */
export function firstTextAfter(prefix: string, lastCodePoint = MAX_CODE_POINT): string | undefined {
  const characters = [...prefix];
  while (characters.at(-1)?.codePointAt(0) === lastCodePoint) characters.pop();
  const last = characters.pop()?.codePointAt(0);
  if (last === undefined) return undefined;
  return characters.join('') + String.fromCodePoint(last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1);
}

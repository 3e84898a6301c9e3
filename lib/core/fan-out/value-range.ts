/** The direction in which a query goes through a shard: 1 is ascending. */
export type Direction = 1 | -1;

/** One end of a range. */
export interface RangeEnd<V> {
  value: V;
  inclusive: boolean;
}

/** A range of the values of one attribute or column. An end that is absent is open. */
export interface ValueRange<V> {
  lower?: RangeEnd<V>;
  upper?: RangeEnd<V>;
}

/** The part of a range from a value on, in the direction of the query. */
export function rangeFrom<V>(range: ValueRange<V>, begin: RangeEnd<V>, direction: Direction): ValueRange<V> {
  return direction === 1 ? { ...range, lower: begin } : { ...range, upper: begin };
}

/** The part of a range up to a value and including it. It is the same object if the range ends there or before. */
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

/** Whether a value stands behind the range, in the direction of the query. */
export function isBehindRange<V>(
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
const BEHIND_SURROGATES = 0xe000;

/**
 * The least text behind all texts that begin with a prefix. UTF-8 bytes sort like code points, and no text holds half a
 * surrogate pair.
 *
 * @returns undefined if no text stands behind them
 */
export function firstTextBehind(prefix: string, lastCodePoint = MAX_CODE_POINT): string | undefined {
  const characters = [...prefix];
  while (characters.at(-1)?.codePointAt(0) === lastCodePoint) characters.pop();
  const last = characters.pop()?.codePointAt(0);
  if (last === undefined) return undefined;
  return characters.join('') + String.fromCodePoint(last === BEFORE_SURROGATES ? BEHIND_SURROGATES : last + 1);
}

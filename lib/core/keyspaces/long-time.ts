import type { CqlRow } from './cql-client';
import { millisecondsOf } from './keyed-row';
import { quoted, type Statement } from './select-statement';

/** A timestamp outside the range of `Date`. Its text is the number of milliseconds since 1970. */
class LongTime {
  constructor(private readonly milliseconds: bigint) {}

  toString(): string {
    return String(this.milliseconds);
  }

  /** The time as a literal in a statement, because the driver cannot send such a time as a parameter. */
  get literal(): string {
    return `blobAsTimestamp(0x${BigInt.asUintN(64, this.milliseconds).toString(16).padStart(16, '0')})`;
  }
}

function isInvalidDate(value: unknown): boolean {
  return value instanceof Date && Number.isNaN(value.getTime());
}

/** Whether a value contains an invalid `Date`, even in nested collections, tuples and user-defined types. */
export function hasInvalidDate(value: unknown): boolean {
  if (value instanceof Map || value instanceof Set || Array.isArray(value)) return [...value].some(hasInvalidDate);
  const object = Object(value);
  if (Object.getPrototypeOf(object) === Object.prototype) return Object.values(object).some(hasInvalidDate);
  // `elements` are the elements of the driver's Tuple. A LocalDate for a far day also contains an invalid `Date`, but
  // the LocalDate itself is correct.
  return isInvalidDate(value) || hasInvalidDate(object.elements);
}

/** The columns in which the driver returned an invalid `Date`. */
export function columnsBeyondDates(rows: readonly CqlRow[]): string[] {
  const names = rows.flatMap((row) => Object.keys(row).filter((name) => isInvalidDate(row[name])));
  return [...new Set(names)];
}

/** Extends a statement so that its rows also contain the milliseconds of these columns. */
export function withMilliseconds({ query, parameters }: Statement, columns: readonly string[]): Statement {
  const more = columns.map((name) => `toUnixTimestamp(${quoted(name)}) AS ${quoted(millisecondsOf(name))}`);
  return { query: query.replace('SELECT ', () => `SELECT ${more.join(', ')}, `), parameters };
}

/**
 * Replaces invalid dates in the rows of a statement from `withMilliseconds` by `LongTime` values, which can be written
 * again.
 */
export function withLongTimes(rows: readonly CqlRow[], columns: readonly string[]): CqlRow[] {
  return rows.map((row) => {
    const whole: CqlRow = { ...row };
    for (const name of columns) {
      const milliseconds: unknown = row[millisecondsOf(name)];
      delete whole[millisecondsOf(name)];
      if (isInvalidDate(whole[name])) whole[name] = new LongTime(BigInt(String(milliseconds)));
    }
    return whole;
  });
}

/**
 * The placeholders or literals of values in a statement, and the parameters that the driver sends with the statement.
 */
export function placeholdersOf(values: readonly unknown[]): { placeholders: string[]; parameters: unknown[] } {
  return {
    placeholders: values.map((value) => (value instanceof LongTime ? value.literal : '?')),
    parameters: values.filter((value) => !(value instanceof LongTime)),
  };
}

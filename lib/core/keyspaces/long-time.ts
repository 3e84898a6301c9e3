import type { CqlRow } from './cql-client';
import { millisecondsOf } from './keyed-row';
import { quoted, type Statement } from './select-statement';

/** A timestamp that a `Date` cannot hold. It writes its milliseconds since 1970. */
export class LongTime {
  constructor(private readonly milliseconds: bigint) {}

  toString(): string {
    return String(this.milliseconds);
  }

  /** The time as a statement holds it, because the driver cannot send it. */
  get literal(): string {
    return `blobAsTimestamp(0x${BigInt.asUintN(64, this.milliseconds).toString(16).padStart(16, '0')})`;
  }
}

function isLost(value: unknown): boolean {
  return value instanceof Date && Number.isNaN(value.getTime());
}

/** Whether a value holds such a time, even deep within collections, tuples and user-defined types. */
export function hasLostTime(value: unknown): boolean {
  if (value instanceof Map || value instanceof Set || Array.isArray(value)) return [...value].some(hasLostTime);
  const object = Object(value);
  if (Object.getPrototypeOf(object) === Object.prototype) return Object.values(object).some(hasLostTime);
  // The driver's Tuple has elements. Its LocalDate has a `Date` that is invalid for a far day, and still tells the day.
  return isLost(value) || hasLostTime(object.elements);
}

/** The columns in which the driver returned an invalid `Date`, which does not tell the time. */
export function columnsBeyondDates(rows: readonly CqlRow[]): string[] {
  const names = rows.flatMap((row) => Object.keys(row).filter((name) => isLost(row[name])));
  return [...new Set(names)];
}

/** The same statement, extended so that its rows also have the milliseconds of these columns. */
export function withMilliseconds({ query, parameters }: Statement, columns: readonly string[]): Statement {
  const more = columns.map((name) => `toUnixTimestamp(${quoted(name)}) AS ${quoted(millisecondsOf(name))}`);
  return { query: query.replace('SELECT ', () => `SELECT ${more.join(', ')}, `), parameters };
}

/** The rows of such a statement. Each time that a `Date` cannot hold has become a value that can be written again. */
export function withLongTimes(rows: readonly CqlRow[], columns: readonly string[]): CqlRow[] {
  return rows.map((row) => {
    const whole: CqlRow = { ...row };
    for (const name of columns) {
      const milliseconds: unknown = row[millisecondsOf(name)];
      delete whole[millisecondsOf(name)];
      if (isLost(whole[name])) whole[name] = new LongTime(BigInt(String(milliseconds)));
    }
    return whole;
  });
}

/** The texts that stand for values in a statement, and the parameters that the driver sends with it. */
export function placeholdersOf(values: readonly unknown[]): { placeholders: string[]; parameters: unknown[] } {
  return {
    placeholders: values.map((value) => (value instanceof LongTime ? value.literal : '?')),
    parameters: values.filter((value) => !(value instanceof LongTime)),
  };
}

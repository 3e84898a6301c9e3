import { type KeyRank, keyTypeOf } from './cql-key-type';
import { InvalidColumnValueError } from './keyspaces-errors';
import type { KeyColumn } from './sharded-keyspaces-config';

/** A value of a key column: as text, which cursors and hashes take, and as what it is compared by. */
export interface ColumnValue {
  text: string;
  rank: KeyRank;
}

/**
 * A caller's value for a key column.
 *
 * @throws InvalidColumnValueError if it is none of the column's type
 */
export function columnValue(field: string, { type }: KeyColumn, value: unknown): ColumnValue {
  const keyType = keyTypeOf(type);
  const text = keyType.textOf(value);
  if (text === undefined) throw new InvalidColumnValueError(field, value, `${keyType.allowed} (${type})`);
  return { text, rank: keyType.rank(text) };
}

/** A value that was written down as text. */
export function valueOfText({ type }: KeyColumn, text: string): ColumnValue {
  return { text, rank: keyTypeOf(type).rank(text) };
}

export function compareValues({ type }: KeyColumn, a: ColumnValue, b: ColumnValue): number {
  return keyTypeOf(type).compare(a.rank, b.rank);
}

/** The value as the driver takes it. */
export function parameterOf({ type }: KeyColumn, { text }: ColumnValue): unknown {
  return keyTypeOf(type).parameter(text);
}

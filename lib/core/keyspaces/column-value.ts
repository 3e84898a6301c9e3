import { type KeyRank, keyTypeOf } from './cql-key-type';
import { InvalidColumnValueError } from './keyspaces-errors';
import type { KeyColumn } from './sharded-keyspaces-config';

/** A value of a key column: its text, which cursors and hashes use, and its rank, by which values are compared. */
export interface ColumnValue {
  text: string;
  rank: KeyRank;
}

/**
 * A caller's value for a key column.
 *
 * @throws InvalidColumnValueError if the column's type does not have this value
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

/** A value as a statement holds it: as a parameter, or as its bytes if the driver cannot send it. */
export function operandOf({ type }: KeyColumn, { text }: ColumnValue): { parameter: unknown } | { literal: string } {
  const keyType = keyTypeOf(type);
  const bytes = keyType.bytes?.(text);
  if (bytes === undefined) return { parameter: keyType.parameter(text) };
  return { literal: `blobAs${type[0]!.toUpperCase()}${type.slice(1)}(0x${bytes.toString('hex')})` };
}

/** The text of a value that a person has written; undefined if the column's type has no such value. */
export function textOfWritten({ type }: KeyColumn, written: string): string | undefined {
  const keyType = keyTypeOf(type);
  return keyType.textOfWritten === undefined ? keyType.textOf(written) : keyType.textOfWritten(written);
}

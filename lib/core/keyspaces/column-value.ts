import { type KeyRank, keyTypeOf } from './cql-key-type';
import { InvalidColumnValueError } from './keyspaces-errors';
import type { KeyColumn } from './sharded-keyspaces-config';

/** A value of a key column. Cursors and hashes use the text of the value, and comparisons use its rank. */
export interface ColumnValue {
  text: string;
  rank: KeyRank;
}

/**
 * Checks and converts a caller's value for a key column.
 *
 * @throws InvalidColumnValueError if the value does not fit the type of the column
 */
export function columnValue(field: string, { type }: KeyColumn, value: unknown): ColumnValue {
  const keyType = keyTypeOf(type);
  const text = keyType.textOf(value);
  if (text === undefined) throw new InvalidColumnValueError(field, value, `${keyType.allowed} (${type})`);
  return { text, rank: keyType.rank(text) };
}

/** Converts the text of a value back to a value. */
export function valueOfText({ type }: KeyColumn, text: string): ColumnValue {
  return { text, rank: keyTypeOf(type).rank(text) };
}

export function compareValues({ type }: KeyColumn, a: ColumnValue, b: ColumnValue): number {
  return keyTypeOf(type).compare(a.rank, b.rank);
}

/**
 * The form of a value in a statement. This is a parameter, or, if the driver cannot send the value, a literal with the bytes of
 * the value.
 */
export function operandOf({ type }: KeyColumn, { text }: ColumnValue): { parameter: unknown } | { literal: string } {
  const keyType = keyTypeOf(type);
  const bytes = keyType.bytes?.(text);
  if (bytes === undefined) return { parameter: keyType.parameter(text) };
  return { literal: `blobAs${type[0]!.toUpperCase()}${type.slice(1)}(0x${bytes.toString('hex')})` };
}

/** Parses a value from a configuration or a command line. Undefined if the value does not fit the type of the column. */
export function textOfInput({ type }: KeyColumn, input: string): string | undefined {
  const keyType = keyTypeOf(type);
  return keyType.textOfInput === undefined ? keyType.textOf(input) : keyType.textOfInput(input);
}

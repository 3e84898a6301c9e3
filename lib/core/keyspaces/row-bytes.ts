import type { CqlRow } from './cql-client';

/** Source: the Amazon Keyspaces developer guide, "Estimate row size": metadata that each row is charged with. */
const METADATA_BYTES = 100;

/** Most types take this or less, and sizes only decide how much is read at once. */
const USUAL_BYTES = 8;

/** About what a row takes in Amazon Keyspaces. */
export function rowBytes(row: CqlRow): number {
  let bytes = METADATA_BYTES;
  for (const name in row) bytes += valueBytes(row[name]);
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  if (Array.isArray(value)) return value.reduce((sum: number, element) => sum + valueBytes(element), 0);
  return value === null || value === undefined ? 0 : USUAL_BYTES;
}

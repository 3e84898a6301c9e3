import type { CqlRow } from '../../lib/core/keyspaces/cql-client';
import { driverDecimal, driverInteger } from '../../lib/core/keyspaces/driver-number';

/**
 * A row as plain JSON without loss: a number that a double cannot represent becomes a string, and binary becomes
 * base64.
 */
export function plainRow(row: CqlRow): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(value)]));
}

function plainValue(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case 'number':
      // JSON has no infinity and no NaN.
      return Number.isFinite(value) ? value : String(value);
    case 'object':
      return value === null ? null : plainObject(value);
    default:
      return value;
  }
}

function plainObject(value: object): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(plainValue);
  if (value instanceof Set) return [...value].map(plainValue);
  if (value instanceof Map) return [...value].map((entry) => entry.map(plainValue));
  const integer = driverInteger(value);
  if (integer !== undefined) return plainValue(integer);
  // A user-defined type is a plain object. The driver's classes (LocalDate, Uuid, BigDecimal) have a `toString` method.
  return Object.getPrototypeOf(value) === Object.prototype ? plainRow(value) : (driverDecimal(value) ?? String(value));
}

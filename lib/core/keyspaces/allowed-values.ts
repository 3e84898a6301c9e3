import { checkDifferent, isRecord } from '../kernel/checks';
import { columnValue } from './column-value';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/**
 * The values that a query function may read. Each entry names columns of the partition key and their values. A request
 * may read a value that matches all columns of an entry. For example, in a table with the key (tenant, day),
 * `{ tenant: 'a' }` allows every day of this tenant.
 */
export type AllowedColumns = readonly Readonly<Record<string, string | number | boolean>>[];

const ALLOWED =
  'a non-empty array of different objects, each from columns of the partition key to a string, a number or a boolean';

/** @throws InvalidArgumentError if the values are not a list of allowed values for a query function */
export function checkAllowedColumns(field: string, values: unknown): asserts values is AllowedColumns {
  checkDifferent(field, values, ALLOWED, (value) => {
    const columns = isRecord(value) ? Object.entries(value) : [];
    const valid = columns.length > 0 && columns.every(([, each]) => isPlain(each));
    return valid ? JSON.stringify(columns.sort(([a], [b]) => (a < b ? -1 : 1))) : undefined;
  });
}

/**
 * The texts of an allowed value, by column. Undefined if the partition key of the table lacks one of the columns.
 *
 * @throws InvalidColumnValueError if the value does not fit the type of its column
 */
export function allowedTexts(
  field: string,
  { partitionKey }: Pick<ShardedKeyspacesConfig, 'partitionKey'>,
  value: AllowedColumns[number],
): ReadonlyMap<string, string> | undefined {
  const texts = new Map<string, string>();
  for (const [name, each] of Object.entries(value)) {
    const column = partitionKey.find((other) => other.name === name);
    if (column === undefined) return undefined;
    texts.set(name, columnValue(`${field}.${name}`, column, each).text);
  }
  return texts;
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

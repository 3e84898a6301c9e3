import type { ShardCount } from '../sharded-index';
import { type ColumnValue, columnValue } from './column-value';
import { InvalidColumnValueError } from './keyspaces-errors';
import { normalizedCounts, SEPARATOR } from './normalized-counts';
import { checkShardedKeyspacesConfig, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';

export function joinedText(values: readonly ColumnValue[]): string {
  return values.map(({ text }) => text).join(SEPARATOR);
}

/** Reads the values of the partition key's columns from a row or a request, in the order of the key. */
export function partitionValues(field: string, config: ShardedKeyspacesConfig, row: object): ColumnValue[] {
  return config.partitionKey.map((column) => {
    const { name } = column;
    const value = (row as Record<string, unknown>)[name];
    if (value === undefined || value === null) {
      throw new InvalidColumnValueError(`${field}.${name}`, value, 'set (it is part of the partition key)');
    }
    return columnValue(`${field}.${name}`, column, value);
  });
}

/** For each checked configuration, the counts of its values, by the canonical text of the value. */
const COUNTS = new WeakMap<ShardedKeyspacesConfig, ReadonlyMap<string, ShardCount>>();

/**
 * Checks a configuration at its first use, and freezes it, because the configuration must not change while readers and
 * writers use it.
 *
 * @throws InvalidTableConfigError or InvalidShardCountError if the configuration is invalid
 */
export function checkOnce(config: ShardedKeyspacesConfig): void {
  if (COUNTS.has(config)) return;
  checkShardedKeyspacesConfig(config);
  const counts = new Map(Object.entries(normalizedCounts('config.', config)));
  deepFreeze(config);
  COUNTS.set(config, counts);
}

function deepFreeze(value: unknown): void {
  Object.freeze(value);
  for (const inner of Object.values(Object(value))) if (typeof inner === 'object') deepFreeze(inner);
}

export function shardsOfValue(config: ShardedKeyspacesConfig, partition: readonly ColumnValue[]): ShardCount {
  return COUNTS.get(config)?.get(joinedText(partition)) ?? config.shards.default;
}

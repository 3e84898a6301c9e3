import type { ShardCount } from '../sharded-index';
import { type ColumnValue, columnValue, textOfWritten } from './column-value';
import { InvalidColumnValueError, InvalidTableConfigError } from './keyspaces-errors';
import { checkShardedKeyspacesConfig, type KeyColumn, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** Stands between the columns of a value in `shards.byValue`, and of what a calculated shard follows from. */
const SEPARATOR = '#';

export function joinedText(values: readonly ColumnValue[]): string {
  return values.map(({ text }) => text).join(SEPARATOR);
}

/** The columns of the partition key, of a row or a request, in the order of the key. */
export function partitionValues(field: string, config: ShardedKeyspacesConfig, row: object): ColumnValue[] {
  return config.partitionKey.map((column) => {
    const { name } = column;
    const value = (row as Record<string, unknown>)[name];
    if (value === undefined || value === null) {
      throw new InvalidColumnValueError(`${field}.${name}`, value, 'given: it is part of the partition key');
    }
    return columnValue(`${field}.${name}`, column, value);
  });
}

/** The counts of each configuration that was used, by the one text of each value. */
const COUNTS = new WeakMap<ShardedKeyspacesConfig, ReadonlyMap<string, ShardCount>>();

/**
 * Checks a configuration at its first use, and freezes it: what readers and writers know of a table does not change under
 * them.
 *
 * @throws InvalidTableConfigError or InvalidShardCountError unless the configuration can be worked with
 */
export function checkOnce(config: ShardedKeyspacesConfig): void {
  if (COUNTS.has(config)) return;
  checkShardedKeyspacesConfig(config);
  const counts = new Map(Object.entries(normalizedCounts('config.', config)));
  deepFreeze(config);
  COUNTS.set(config, counts);
}

/**
 * `shards.byValue` by the one text of each value: a UUID in small letters, 1.5 for "1.50", 7 for "07".
 *
 * @throws InvalidTableConfigError for a value that is none of its columns' types, or that stands there twice
 */
export function normalizedCounts(
  prefix: string,
  { partitionKey, shards: { byValue = {} } }: Pick<ShardedKeyspacesConfig, 'partitionKey' | 'shards'>,
): Record<string, ShardCount> {
  const counts: Record<string, ShardCount> = Object.create(null);
  for (const [written, count] of Object.entries(byValue)) {
    const value = normalizedValue(partitionKey, written);
    const field = `${prefix}shards.byValue`;
    if (value === undefined) {
      const columns = partitionKey.map(({ name, type }) => `${name} (${type})`).join(`, "${SEPARATOR}", `);
      throw new InvalidTableConfigError(field, written, `by values of ${columns}`);
    }
    if (value in counts)
      throw new InvalidTableConfigError(field, written, `by values that differ: ${value} is there twice`);
    counts[value] = count;
  }
  return counts;
}

/** Undefined unless each column has its value. Only one column may have the separator in its values. */
function normalizedValue(partitionKey: readonly KeyColumn[], written: string): string | undefined {
  const parts = written.split(SEPARATOR);
  const more = parts.length - partitionKey.length;
  if (more < 0 || partitionKey.length === 0) return undefined;
  for (let widest = 0; widest < partitionKey.length; widest++) {
    const texts = partitionKey.map((column, index) => {
      const first = index + (index > widest ? more : 0);
      return textOfWritten(column, parts.slice(first, first + 1 + (index === widest ? more : 0)).join(SEPARATOR));
    });
    if (texts.every((text) => text !== undefined)) return texts.join(SEPARATOR);
  }
  return undefined;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
}

/** How many shards a value is spread over. */
export function shardsOfValue(config: ShardedKeyspacesConfig, partition: readonly ColumnValue[]): ShardCount {
  return COUNTS.get(config)?.get(joinedText(partition)) ?? config.shards.default;
}

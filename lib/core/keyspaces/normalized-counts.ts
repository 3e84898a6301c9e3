import type { ShardCount } from '../sharded-index';
import { textOfInput } from './column-value';
import { InvalidTableConfigError } from './keyspaces-errors';
import type { KeyColumn, ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/**
 * The separator between the columns of a value in `shards.byValue`, and between the columns from which a shard is calculated.
 */
export const SEPARATOR = '#';

/**
 * Returns `shards.byValue` with the canonical text of each value as its key: a UUID in lower case, 1.5 for "1.50", 7 for "07".
 *
 * @throws InvalidTableConfigError if a value does not fit the types of its columns, or appears twice
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
      const allowed =
        columns === '' ? 'absent because the shard column is the whole partition key' : `keyed by values of ${columns}`;
      throw new InvalidTableConfigError(field, written, allowed);
    }
    if (value in counts)
      throw new InvalidTableConfigError(field, written, `keyed by different values (${value} appears twice)`);
    counts[value] = count;
  }
  return counts;
}

/**
 * Returns the canonical text of a value. The function tries each column as the column whose value may contain the separator.
 * Undefined if no such split of the text gives every column a valid value.
 */
function normalizedValue(partitionKey: readonly KeyColumn[], input: string): string | undefined {
  const parts = input.split(SEPARATOR);
  const more = parts.length - partitionKey.length;
  if (more < 0) return undefined;
  for (let widest = 0; widest < partitionKey.length; widest++) {
    const texts = partitionKey.map((column, index) => {
      const first = index + (index > widest ? more : 0);
      return textOfInput(column, parts.slice(first, first + 1 + (index === widest ? more : 0)).join(SEPARATOR));
    });
    if (texts.every((text) => text !== undefined)) return texts.join(SEPARATOR);
  }
  return undefined;
}

import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalStack } from './run-local';

/** An item as an application gives it to DynamoDBDocument, without its shard attributes. */
type FittingItem = Record<string, string | number | Uint8Array>;

/** The time of the first item. Each further item is one minute later. */
const START_MS = Date.UTC(2020, 1, 1);
const MINUTE_MS = 60_000;

/** Numbers in strings are padded to this many digits, so that their order is numeric. */
const DIGITS = 5;

/**
 * Returns item number `n` of a table. The item appears in each of these indexes. `configs` can also contain a table
 * that is sharded by its own key. The item has all key attributes, with the types that the table declares.
 *
 * @param run the prefix of the item keys, so that items of one run do not replace items of another run
 * @param rank the rank of the item's value in each index. The first ranks are the values with their own shard counts
 */
export function fittingItem(
  stack: Pick<LocalStack, 'tables'>,
  configs: readonly ShardedConfig[],
  { n, rank = 0, run = '' }: { n: number; rank?: number; run?: string },
): FittingItem {
  const texts = new Map<string, [text: string, number: number]>();
  const time = START_MS + n * MINUTE_MS;
  for (const config of configs) {
    const name = `${itemNoun(config.tableKey[0]!)}-${run}${String(n).padStart(DIGITS, '0')}`;
    const sharding = config.indexName === undefined ? config.shardedBy : [];
    for (const attribute of config.sortKeyAttributes) texts.set(attribute, [new Date(time).toISOString(), time]);
    for (const attribute of [...config.tableKey, ...sharding]) texts.set(attribute, [name, n]);
  }
  for (const config of configs) texts.delete(config.shardAttribute);
  for (const config of configs) {
    if (config.valueAttribute !== undefined) texts.set(config.valueAttribute, [sampleValue(config, rank), rank + 1]);
  }
  const types = typesOf(stack, configs[0]!.tableName);
  return Object.fromEntries(
    [...texts].map(([attribute, [text, number]]) => {
      const type = types.get(attribute);
      if (type === 'N') return [attribute, Number.isFinite(Number(text)) ? Number(text) : number];
      return [attribute, type === 'B' ? Buffer.from(text) : text];
    }),
  );
}

/** The name of a kind of item, from the name of its key: `jobId` gives a job. */
export function itemNoun(key: string): string {
  return /^([a-z]+?)_?id$/i.exec(key)?.[1]?.toLowerCase() ?? 'item';
}

/**
 * The value with rank number `rank` in an index. Values with their own shard counts come first, and the busiest of
 * these values is the first.
 */
export function sampleValue({ shards: { byValue = {} } }: ShardedConfig, rank = 0): string {
  const values = Object.keys(byValue).sort((a, b) => byValue[b]!.write - byValue[a]!.write);
  return values[rank] ?? (rank === 0 ? 'a' : `value-${rank}`);
}

function typesOf(
  { tables }: Pick<LocalStack, 'tables'>,
  tableName: string,
): Map<string | undefined, string | undefined> {
  const { AttributeDefinitions = [] } = tables.find(({ name }) => name === tableName)?.definition ?? {};
  return new Map(AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]));
}

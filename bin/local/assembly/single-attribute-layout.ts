import { isDeepStrictEqual } from 'node:util';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import type { ShardedIndexConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';

/**
 * dynalite lacks multi-attribute keys. A sharded index has the same entries in the same order in both layouts. So a
 * local run on dynalite uses the single-attribute layout, also in the environment variables of functions. The layout
 * of the deployed index does not change.
 */

const MULTI_ATTRIBUTE = 'multi-attribute';

/** The honoured properties of a table that CreateTable accepts without a change. */
export type TableProperties = Pick<
  Required<CreateTableCommandInput>,
  'AttributeDefinitions' | 'GlobalSecondaryIndexes' | 'KeySchema' | 'LocalSecondaryIndexes'
>;

/** Whether an index of a table has the single-attribute layout in this run but another layout when it is deployed. */
export type IsConverted = (tableName: string, indexName: string) => boolean;

/**
 * The configurations of sharded indexes in the metadata of a table, by name. The fields are optional, because other
 * tools can write the metadata.
 */
type Described = Readonly<Record<string, Partial<ShardedIndexConfig> | undefined>>;

/**
 * Changes every index with multi-attribute keys to the single-attribute layout. Returns the new properties and the
 * names of the changed indexes.
 */
export function inSingleAttributes(
  properties: TableProperties,
  described: unknown,
): { properties: TableProperties; converted: readonly string[] } {
  const converted = new Map<string, Partial<ShardedIndexConfig>>();
  const indexes = properties.GlobalSecondaryIndexes.map((index) => {
    const sharding = (Object(described) as Described)[index.IndexName!];
    if (!isConvertible(sharding, index.KeySchema)) return index;
    converted.set(index.IndexName!, sharding);
    const [, ...rest] = index.KeySchema!;
    return { ...index, KeySchema: rest };
  });
  if (converted.size === 0) return { properties, converted: [] };
  const { KeySchema, AttributeDefinitions, LocalSecondaryIndexes } = properties;
  const keys = [{ KeySchema }, ...indexes, ...LocalSecondaryIndexes].flatMap((each) => each.KeySchema ?? []);
  const used = new Set(keys.map(({ AttributeName }) => AttributeName));
  const texts = new Set([...converted.values()].map(({ shardAttribute }) => shardAttribute));
  const definitions = AttributeDefinitions.filter(({ AttributeName }) => used.has(AttributeName)).map((definition) =>
    texts.has(definition.AttributeName) ? { ...definition, AttributeType: 'S' as const } : definition,
  );
  return {
    properties: { ...properties, GlobalSecondaryIndexes: indexes, AttributeDefinitions: definitions },
    converted: [...converted.keys()],
  };
}

/** If this run has converted an index, changes `keyLayout` in the index configuration that the variable holds. */
export function withLayoutOfThisRun(variable: string, isConverted: IsConverted): string {
  if (!variable.includes(MULTI_ATTRIBUTE)) return variable;
  try {
    return JSON.stringify(JSON.parse(variable), (_, value) =>
      value?.keyLayout === MULTI_ATTRIBUTE && isConverted(value.tableName, value.indexName)
        ? { ...value, keyLayout: 'single-attribute' }
        : value,
    );
  } catch {
    // The variable does not hold JSON.
    return variable;
  }
}

/**
 * Whether a local run can convert an index. Two kinds of indexes cannot be converted: an index with a tie-breaker,
 * which the single-attribute layout cannot store, and an index that this library did not create.
 */
function isConvertible(
  sharding: Partial<ShardedIndexConfig> | undefined,
  keySchema: unknown,
): sharding is Partial<ShardedIndexConfig> {
  const { keyLayout, valueAttribute, shardAttribute, sortKeyAttributes } = Object(sharding) as ShardedIndexConfig;
  if (keyLayout !== MULTI_ATTRIBUTE || !Array.isArray(sortKeyAttributes) || sortKeyAttributes.length > 1) return false;
  return isDeepStrictEqual(keySchema, [
    ...[valueAttribute, shardAttribute].map((AttributeName) => ({ AttributeName, KeyType: 'HASH' })),
    ...sortKeyAttributes.map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' })),
  ]);
}

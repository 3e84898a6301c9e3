import { INDEXES, TABLES } from '../../../lib/core/contract/function-environment';
import type { ShardedConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalFunction } from '../assembly/deployment-plan';
import type { LocalStack } from '../run-local';

/** A sharded index, or a table that is sharded by its own key. */
export interface Sharded {
  readonly config: ShardedConfig;
  /** The construct path of its table. */
  readonly path: string;
  /** The function that queries it, and the event that names it. Absent if no query function does. */
  readonly query?: { readonly functionPath: string; readonly event: { index: string } | { table: string } };
}

/**
 * Everything that is sharded in an app, as its functions were told: a query function, or any function by a variable of its
 * own.
 */
export function shardedConfigs({ functions, tables }: LocalStack): Sharded[] {
  const pathOf = ({ tableName }: ShardedConfig) => tables.find(({ name }) => name === tableName)?.path ?? tableName;
  const found = new Map<string, Sharded>();
  // If several functions know one, the first that can query it counts.
  for (const { config, query } of functions.flatMap(configsOf)) {
    const name = `${config.tableName} ${config.indexName}`;
    if (found.get(name)?.query === undefined) found.set(name, { config, path: pathOf(config), query });
  }
  return [...found.values()];
}

function configsOf({ path, environment }: LocalFunction): Omit<Sharded, 'path'>[] {
  return Object.entries(environment).flatMap(([variable, text]) => {
    const value = jsonOf(text);
    if (isConfig(value)) return [{ config: value }];
    if (variable !== INDEXES && variable !== TABLES) return [];
    return Object.entries(Object(value))
      .filter(isOfDynamoDb)
      .map(([name, config]) => ({
        config: config as ShardedConfig,
        query: { functionPath: path, event: variable === INDEXES ? { index: name } : { table: name } },
      }));
  });
}

function isConfig(value: unknown): value is ShardedConfig {
  const { tableName, shardAttribute, shards } = Object(value);
  return typeof tableName === 'string' && typeof shardAttribute === 'string' && typeof shards === 'object';
}

/** The same variable may hold tables of Amazon Keyspaces. */
function isOfDynamoDb([, config]: [string, unknown]): boolean {
  return !('keyspaceName' in Object(config));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

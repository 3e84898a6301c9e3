import { INDEXES, KEEPER_TABLE_NAME, TABLES, VALUES } from '../../lib/core/contract/function-environment';
import { parsedJson } from '../../lib/core/kernel/parsed-json';
import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalFunction } from './assembly/planned-function';
import type { LocalStack } from './run-local';

/** A sharded index, or a table that is sharded by its own key, from a variable of a function. */
export interface Sharded {
  readonly config: ShardedConfig;
  /** The construct path of the table. If the table is not in this run, its name. */
  readonly path: string;
  /**
   * The name of the variable from `bindWriter` or `bindReader`. Absent if only functions of this library have the
   * configuration.
   */
  readonly variable?: string;
  /**
   * The query function, and the part of its event that names the index or table. Absent if the function is not a query
   * function.
   */
  readonly query?: {
    readonly functionPath: string;
    readonly event: { index: string } | { table: string };
    /** The values that the function may read. Absent if the function may read any value. */
    readonly values?: readonly unknown[];
  };
}

/** The prefix of the environment variables of functions of this library. */
const OWN = 'EVEN_SHARDS_';

/**
 * All sharded indexes and tables of an app, one entry for each environment variable that describes an index or a table.
 */
export function configsByVariable({ functions, tables }: Pick<LocalStack, 'functions' | 'tables'>): Sharded[] {
  const paths = new Map(tables.map(({ name, path }) => [name, path]));
  return functions
    .flatMap(configsOf)
    .map((found) => ({ ...found, path: paths.get(found.config.tableName) ?? found.config.tableName }));
}

/**
 * All sharded indexes and tables of an app, without duplicates. Each has the first function that queries the index or
 * table.
 */
export function shardedConfigs(stack: Pick<LocalStack, 'functions' | 'tables'>): Sharded[] {
  const found = new Map<string, Sharded>();
  for (const sharded of configsByVariable(stack)) {
    const name = `${sharded.config.tableName} ${sharded.config.indexName}`;
    if (found.get(name)?.query === undefined) found.set(name, sharded);
  }
  return [...found.values()];
}

function configsOf({ path: functionPath, environment }: LocalFunction): Omit<Sharded, 'path'>[] {
  return Object.entries(environment).flatMap(([variable, text]): Omit<Sharded, 'path'>[] => {
    const value = parsedJson(text);
    if (isConfig(value)) return [{ config: value, ...(!variable.startsWith(OWN) && { variable }) }];
    if (variable !== INDEXES && variable !== TABLES) return [];
    const isKeeper = KEEPER_TABLE_NAME in environment;
    const values = valuesOf(environment);
    const eventOf = (name: string) => (variable === INDEXES ? { index: name } : { table: name });
    return Object.entries(Object(value)).flatMap(([name, config]) =>
      isConfig(config)
        ? [{ config, ...(!isKeeper && { query: { functionPath, event: eventOf(name), ...(values && { values }) } }) }]
        : [],
    );
  });
}

/** The values to which a query function is bound. Undefined if the function may read any value. */
export function valuesOf({ [VALUES]: text = '' }: LocalFunction['environment']): unknown[] | undefined {
  const values = parsedJson(text);
  return Array.isArray(values) ? values : undefined;
}

/**
 * Whether a value is the configuration of an index or a table of DynamoDB. Tables of Amazon Keyspaces have a shard
 * column instead.
 */
function isConfig(value: unknown): value is ShardedConfig {
  const { tableName, shardAttribute }: Partial<ShardedConfig> = Object(value);
  return typeof tableName === 'string' && typeof shardAttribute === 'string';
}

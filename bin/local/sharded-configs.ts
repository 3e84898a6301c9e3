import { INDEXES, TABLES } from '../../lib/core/contract/function-environment';
import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalFunction } from './assembly/deployment-plan';
import type { LocalStack } from './run-local';

/** A sharded index, or a table that is sharded by its own key, as a variable of a function describes it. */
export interface Sharded {
  readonly config: ShardedConfig;
  /** The construct path of its table, or the name of a table that is not in this run. */
  readonly path: string;
  /** The variable, if it is one of the application: `bindWriter` and `bindReader` name it. */
  readonly variable?: string;
  /** The function that queries it, and the event that names it. Absent if the function is no query function. */
  readonly query?: { readonly functionPath: string; readonly event: { index: string } | { table: string } };
}

/** The beginning of the names of the bundled functions' variables. */
const OWN = 'EVEN_SHARDS_';

/** Everything that is sharded in an app, once for each variable that describes it. */
export function configsByVariable({ functions, tables }: Pick<LocalStack, 'functions' | 'tables'>): Sharded[] {
  const paths = new Map(tables.map(({ name, path }) => [name, path]));
  return functions
    .flatMap(configsOf)
    .map((found) => ({ ...found, path: paths.get(found.config.tableName) ?? found.config.tableName }));
}

/** Everything that is sharded in an app, once, and the first function that queries it. */
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
    const value = jsonOf(text);
    if (isConfig(value)) return [{ config: value, ...(!variable.startsWith(OWN) && { variable }) }];
    if (variable !== INDEXES && variable !== TABLES) return [];
    const eventOf = (name: string) => (variable === INDEXES ? { index: name } : { table: name });
    return Object.entries(Object(value)).flatMap(([name, config]) =>
      isConfig(config) ? [{ config, query: { functionPath, event: eventOf(name) } }] : [],
    );
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tables of Amazon Keyspaces have a shard column instead. */
function isConfig(value: unknown): value is ShardedConfig {
  const { tableName, shardAttribute }: Partial<ShardedConfig> = Object(value);
  return typeof tableName === 'string' && typeof shardAttribute === 'string';
}

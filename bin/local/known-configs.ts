import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalFunction, LocalTable } from './assembly/deployment-plan';

/** A function was told about this index, or this table that is sharded by its own key. */
interface KnownConfig {
  /** The construct path of the table, and of an index its name: `Orders/Table/byStatus`. */
  readonly path: string;
  /** The variable that holds the configuration alone, as `bindWriter` and `bindReader` name it. */
  readonly variable?: string;
  readonly config: ShardedConfig;
}

/** The beginning of the names of the bundled functions' variables. */
const OWN = 'EVEN_SHARDS_';

/** What the functions of a local run know about sharded indexes and tables, in the layout of this run. */
export function knownConfigs(functions: readonly LocalFunction[], tables: readonly LocalTable[]): KnownConfig[] {
  const paths = new Map(tables.map(({ name, path }) => [name, path]));
  const pathOf = ({ tableName, indexName }: ShardedConfig) =>
    [paths.get(tableName) ?? tableName, indexName].filter((part) => part !== undefined).join('/');
  return functions
    .flatMap(({ environment }) => Object.entries(environment))
    .flatMap(([variable, text]) => {
      const told = jsonOf(text);
      if (isConfig(told)) return [{ path: pathOf(told), config: told, ...(!variable.startsWith(OWN) && { variable }) }];
      return Object.values(Object(told))
        .filter(isConfig)
        .map((config) => ({ path: pathOf(config), config }));
    });
}

function jsonOf(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function isConfig(told: unknown): told is ShardedConfig {
  const { tableName, shardAttribute }: Partial<ShardedConfig> = Object(told);
  return typeof tableName === 'string' && typeof shardAttribute === 'string';
}

import {
  INDEXES,
  MIN_SHARDS,
  REGISTRY_FUNCTION_NAME,
  REGISTRY_TABLE_NAME,
  REPAIR,
  STREAM_NAME,
} from '../../lib/core/contract/function-environment';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalStack } from './run-local';

/** A deployed ordered producer and its stream. */
export interface KnownProducer {
  readonly functionPath: string;
  readonly streamName: string;
  /** Whether a record can name an owner, whose hash key the registry allocates. */
  readonly hasRegistry: boolean;
}

/** A function with one of these variables has the name of a stream, but does not write to the stream. */
const NOT_OF_A_PRODUCER = [REGISTRY_TABLE_NAME, REPAIR, MIN_SHARDS];

/** A sharded index, and a deployed function that queries it. */
export interface KnownIndex {
  readonly functionPath: string;
  /** The name of the index in requests. */
  readonly name: string;
  readonly config: ShardedIndexConfig;
}

export function producersOf({ functions }: LocalStack): KnownProducer[] {
  return functions.flatMap(({ path, environment }) => {
    const streamName = environment[STREAM_NAME];
    if (streamName === undefined || NOT_OF_A_PRODUCER.some((name) => name in environment)) return [];
    return [{ functionPath: path, streamName, hasRegistry: REGISTRY_FUNCTION_NAME in environment }];
  });
}

/** The indexes whose keys are all strings, because the keys of sample items are strings. */
export function indexesOf(stack: LocalStack): KnownIndex[] {
  return stack.functions.flatMap(({ path, environment }) => {
    const configs = JSON.parse(environment[INDEXES] ?? '{}') as Record<string, ShardedIndexConfig>;
    return Object.entries(configs)
      .filter(([, config]) => hasStringKeys(stack, config))
      .map(([name, config]) => ({ functionPath: path, name, config }));
  });
}

/** The configurations of all indexes of a table. An item has a shard attribute for each of these indexes. */
export function configsOfTable(stack: LocalStack, tableName: string): ShardedIndexConfig[] {
  return indexesOf(stack).flatMap(({ config }) => (config.tableName === tableName ? config : []));
}

function hasStringKeys({ tables }: LocalStack, config: ShardedIndexConfig): boolean {
  const { AttributeDefinitions = [] } = tables.find(({ name }) => name === config.tableName)?.definition ?? {};
  const types = new Map(AttributeDefinitions.map((attribute) => [attribute.AttributeName, attribute.AttributeType]));
  return [...config.tableKey, ...config.sortKeyAttributes].every((attribute) => types.get(attribute) === 'S');
}

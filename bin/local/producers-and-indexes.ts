import {
  MIN_SHARDS,
  REGISTRY_FUNCTION_NAME,
  REGISTRY_TABLE_NAME,
  REPAIR,
  STREAM_NAME,
} from '../../lib/core/contract/function-environment';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalStack } from './run-local';
import { configsByVariable, type Sharded } from './sharded-configs';

/** A deployed ordered producer and its stream. */
export interface KnownProducer {
  readonly functionPath: string;
  readonly streamName: string;
  /** Whether a record can name an owner, whose hash key the registry allocates. */
  readonly hasRegistry: boolean;
}

/** A function with one of these variables has the name of a stream, but does not write to the stream. */
const NOT_OF_A_PRODUCER = [REGISTRY_TABLE_NAME, REPAIR, MIN_SHARDS];

/** A sharded index with string keys, and a deployed function that queries it. */
export interface QueriedIndex extends Sharded {
  readonly config: ShardedIndexConfig;
  readonly query: NonNullable<Sharded['query']>;
}

export function producersOf({ functions }: LocalStack): KnownProducer[] {
  return functions.flatMap(({ path, environment }) => {
    const streamName = environment[STREAM_NAME];
    if (streamName === undefined || NOT_OF_A_PRODUCER.some((name) => name in environment)) return [];
    return [{ functionPath: path, streamName, hasRegistry: REGISTRY_FUNCTION_NAME in environment }];
  });
}

/** The indexes whose keys and values are strings, because the keys and values of sample items are strings. */
export function indexesOf(stack: LocalStack): QueriedIndex[] {
  return configsByVariable(stack).filter((sharded): sharded is QueriedIndex => {
    const { config, query } = sharded;
    if (query === undefined || config.indexName === undefined || !hasStringKeys(stack, config)) return false;
    return query.values?.every((value) => typeof value === 'string') ?? true;
  });
}

function hasStringKeys({ tables }: LocalStack, config: ShardedIndexConfig): boolean {
  const { AttributeDefinitions = [] } = tables.find(({ name }) => name === config.tableName)?.definition ?? {};
  const types = new Map(AttributeDefinitions.map((attribute) => [attribute.AttributeName, attribute.AttributeType]));
  return [...config.tableKey, ...config.sortKeyAttributes].every((attribute) => types.get(attribute) === 'S');
}

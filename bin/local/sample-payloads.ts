import {
  KEEPER_TABLE_NAME,
  REGISTRY_TABLE_NAME,
  SEGMENTS_AT_ONCE,
  TABLES,
} from '../../lib/core/contract/function-environment';
import type { CqlKeyType, ShardedKeyspacesConfig } from '../../lib/core/keyspaces';
import { parkingsOf } from './parkings';
import { producersOf } from './producers-and-indexes';
import type { LocalStack } from './run-local';
import { configsByVariable, type Sharded, valuesOf } from './sharded-configs';

/**
 * The sample events, by the construct path of the function. Each function of this library that a person can invoke has
 * a sample event.
 */
export function samplePayloads(stack: LocalStack): ReadonlyMap<string, object> {
  return new Map<string, object>([
    ...stack.eventSources.states.map(({ functionPath }) => [functionPath, NO_RECORDS] as const),
    ...parkingsOf(stack).map(({ definition }) => [definition.path, RETRY] as const),
    ...configsByVariable(stack).flatMap((sharded): [string, object][] => {
      const { config, query } = sharded;
      if (query === undefined) return [];
      return [[query.functionPath, { ...query.event, ...(config.valueAttribute && { value: sampleValue(sharded) }) }]];
    }),
    ...producersOf(stack).map(({ functionPath }) => [functionPath, SAMPLE_RECORDS] as const),
    ...stack.functions.flatMap(({ path, environment }): [string, object][] => {
      const [[table, config] = []] = Object.entries<Partial<ShardedKeyspacesConfig>>(
        JSON.parse(environment[TABLES] ?? '{}'),
      );
      const [bound] = valuesOf(environment) ?? [];
      if (config?.partitionKey) return [[path, { table, value: { ...rowKey(config.partitionKey), ...Object(bound) } }]];
      if (KEEPER_TABLE_NAME in environment) return [[path, LIST_OF_KEEPER]];
      if (REGISTRY_TABLE_NAME in environment) return [[path, LIST_OF_REGISTRY]];
      return SEGMENTS_AT_ONCE in environment ? [[path, SAMPLE_SEGMENT]] : [];
    }),
  ]);
}

/** A value that the query function of an index or a table may read: the value with the most shards of its own, if there is one. */
export function sampleValue(sharded: Pick<Sharded, 'config' | 'query'>): unknown {
  return sampleWeights(sharded).sort(([, a], [, b]) => b - a)[0]![0];
}

/**
 * The values of the items of a sample, with their weights: the values that have shards of their own, and that the query function
 * may read.
 */
export function sampleWeights({
  config,
  query,
}: Pick<Sharded, 'config' | 'query'>): [value: unknown, weight: number][] {
  const allowed = query?.values;
  const own = Object.entries(config.shards.byValue ?? {}).filter(([value]) => allowed?.includes(value) ?? true);
  if (own.length > 0) return own.map(([value, { write }]) => [value, write]);
  return (allowed ?? ['a', 'b']).map((value) => [value, 1]);
}

/** A value for each column of the partition key of a table of Amazon Keyspaces. */
function rowKey(columns: ShardedKeyspacesConfig['partitionKey']): object {
  return Object.fromEntries(columns.map(({ name, type }) => [name, SAMPLES[type] ?? 1]));
}

const SAMPLES: Partial<Record<CqlKeyType, unknown>> = {
  ascii: 'a',
  text: 'a',
  varchar: 'a',
  blob: 'YQ==',
  boolean: true,
  date: '2020-07-09',
  time: '08:30:00',
  timestamp: '2020-07-09T08:30:00.000Z',
  timeuuid: '00000000-0000-1000-8000-000000000000',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** An empty event, which every function that reads a stream accepts. */
const NO_RECORDS = { Records: [] };

/** The event with which the schedule of an ordered consumer invokes the function. */
const RETRY = { retryParked: true };

const LIST_OF_KEEPER = { list: true };

const LIST_OF_REGISTRY = { action: 'list' };

const SAMPLE_RECORDS = { records: [{ partitionKey: 'account-1', data: 'hello' }] };

/** The event with which the state machine of an item mover invokes the function for one segment of an audit. */
const SAMPLE_SEGMENT = { segment: 0, totalSegments: 1, request: { mode: 'audit' } };

import { SEGMENTS_AT_ONCE, TABLES } from '../../lib/core/contract/function-environment';
import type { CqlKeyType, ShardedKeyspacesConfig } from '../../lib/core/keyspaces';
import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import { parkingsOf } from './parkings';
import { producersOf } from './producers-and-indexes';
import type { LocalStack } from './run-local';
import { configsByVariable } from './sharded-configs';

/**
 * The sample events, by the construct path of the function. Each function of this library that a person can invoke has
 * a sample event.
 */
export function samplePayloads(stack: LocalStack): ReadonlyMap<string, object> {
  return new Map<string, object>([
    ...stack.eventSources.states.map(({ functionPath }) => [functionPath, NO_RECORDS] as const),
    ...parkingsOf(stack).map(({ definition }) => [definition.path, RETRY] as const),
    ...configsByVariable(stack).flatMap(({ config, query }): [string, object][] => {
      if (query === undefined) return [];
      return [[query.functionPath, { ...query.event, ...(config.valueAttribute && { value: sampleValue(config) }) }]];
    }),
    ...producersOf(stack).map(({ functionPath }) => [functionPath, SAMPLE_RECORDS] as const),
    ...stack.functions.flatMap(({ path, environment }): [string, object][] => {
      const [[table, config] = []] = Object.entries<Partial<ShardedKeyspacesConfig>>(
        JSON.parse(environment[TABLES] ?? '{}'),
      );
      if (config?.partitionKey) return [[path, { table, value: rowKey(config.partitionKey) }]];
      return SEGMENTS_AT_ONCE in environment ? [[path, SAMPLE_SEGMENT]] : [];
    }),
  ]);
}

/** A value of an index or table: the value with the most shards of its own, if there are such values. */
export function sampleValue({ shards: { byValue = {} } }: ShardedConfig): string {
  const [value = 'a'] = Object.keys(byValue).sort((a, b) => byValue[b]!.write - byValue[a]!.write);
  return value;
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

const SAMPLE_RECORDS = { records: [{ partitionKey: 'account-1', data: 'hello' }] };

/** The event with which the state machine of an item mover invokes the function for one segment of an audit. */
const SAMPLE_SEGMENT = { segment: 0, totalSegments: 1, request: { mode: 'audit' } };

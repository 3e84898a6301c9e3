import { shardedConfigs } from '../../../../../bin/local/console/sharded-configs';
import type { LocalStack } from '../../../../../bin/local/run-local';
import { INDEXES, TABLES } from '../../../../../lib/core/contract/function-environment';

const index = { tableName: 'Jobs', indexName: 'byStatus', shardAttribute: 'shard', shards: { default: {} } };
const table = { tableName: 'Days', shardAttribute: 'day', shards: { default: {} } };

const stackOf = (...environments: Record<string, string>[]) =>
  ({
    tables: [{ path: 'App/Jobs', name: 'Jobs' }],
    functions: environments.map((environment, n) => ({ path: `App/F${n}`, environment })),
  }) as unknown as LocalStack;

test('what a query function queries, by the name that an event gives it', () => {
  const environment = { [INDEXES]: JSON.stringify({ byStatus: index }), [TABLES]: JSON.stringify({ Days: table }) };
  expect(shardedConfigs(stackOf(environment))).toEqual([
    { config: index, path: 'App/Jobs', query: { functionPath: 'App/F0', event: { index: 'byStatus' } } },
    { config: table, path: 'Days', query: { functionPath: 'App/F0', event: { table: 'Days' } } },
  ]);
});

test('what is bound to a function of the app, once, and by the query function that comes behind it', () => {
  const bound = { BY_STATUS: JSON.stringify(index), NAME: 'Jobs', COUNT: '3', NOTHING: 'null' };
  expect(shardedConfigs(stackOf(bound))).toEqual([{ config: index, path: 'App/Jobs' }]);
  const querying = { [INDEXES]: JSON.stringify({ byStatus: index }) };
  const expected = [
    { config: index, path: 'App/Jobs', query: { functionPath: 'App/F1', event: { index: 'byStatus' } } },
  ];
  expect(shardedConfigs(stackOf(bound, querying))).toEqual(expected);
});

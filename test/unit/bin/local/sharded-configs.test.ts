import type { LocalStack } from '../../../../bin/local/run-local';
import { configsByVariable, shardedConfigs } from '../../../../bin/local/sharded-configs';
import { INDEX, INDEXES, TABLES } from '../../../../lib/core/contract/function-environment';
import { indexConfig } from '../../../support/index-config';

const byStatus = indexConfig({ tableName: 'Jobs' });
const { indexName, ...days } = indexConfig({ tableName: 'Days' });
const bound = JSON.stringify(byStatus);
const queried = JSON.stringify({ byStatus });

const stackOf = (...environments: Record<string, string>[]) =>
  ({
    tables: [{ path: 'App/Jobs', name: 'Jobs' }],
    functions: environments.map((environment, n) => ({ path: `App/F${n}`, environment })),
  }) as unknown as LocalStack;

test('shardedConfigs lists the indexes and tables of a query function with the names that its events use', () => {
  expect(shardedConfigs(stackOf({ [INDEXES]: queried, [TABLES]: JSON.stringify({ days }) }))).toEqual([
    { config: byStatus, path: 'App/Jobs', query: { functionPath: 'App/F0', event: { index: 'byStatus' } } },
    { config: days, path: 'Days', query: { functionPath: 'App/F0', event: { table: 'days' } } },
  ]);
});

test('if several functions use an index, shardedConfigs lists the index only once, with the query function', () => {
  expect(shardedConfigs(stackOf({ MY_INDEX: bound }, { [INDEX]: bound }, { [INDEXES]: queried }))).toEqual([
    { config: byStatus, path: 'App/Jobs', query: { functionPath: 'App/F2', event: { index: 'byStatus' } } },
  ]);
});

test('configsByVariable returns only the names of variables that the application has set', () => {
  const variables = configsByVariable(stackOf({ MY_INDEX: bound, [INDEX]: bound })).map(({ variable }) => variable);
  expect(variables).toEqual(['MY_INDEX', undefined]);
});

test.each(['', 'on', '3', 'null', '{', '{}', '[]', '{"tableName":"T"}', '{"a":null}'])(
  'shardedConfigs ignores a variable with %j',
  (text) => {
    expect(shardedConfigs(stackOf({ TEXT: text, [INDEXES]: text }))).toEqual([]);
  },
);

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

test('a query function knows indexes and tables by the names that an event gives them', () => {
  expect(shardedConfigs(stackOf({ [INDEXES]: queried, [TABLES]: JSON.stringify({ days }) }))).toEqual([
    { config: byStatus, path: 'App/Jobs', query: { functionPath: 'App/F0', event: { index: 'byStatus' } } },
    { config: days, path: 'Days', query: { functionPath: 'App/F0', event: { table: 'days' } } },
  ]);
});

test('an index that several functions know is listed once, with the query function', () => {
  expect(shardedConfigs(stackOf({ MY_INDEX: bound }, { [INDEX]: bound }, { [INDEXES]: queried }))).toEqual([
    { config: byStatus, path: 'App/Jobs', query: { functionPath: 'App/F2', event: { index: 'byStatus' } } },
  ]);
});

test('a variable of the application keeps its name, and a variable of the library does not', () => {
  const variables = configsByVariable(stackOf({ MY_INDEX: bound, [INDEX]: bound })).map(({ variable }) => variable);
  expect(variables).toEqual(['MY_INDEX', undefined]);
});

test.each(['', 'on', '3', 'null', '{', '{}', '[]', '{"tableName":"T"}', '{"a":null}'])(
  'a variable with %j has no configuration',
  (text) => {
    expect(shardedConfigs(stackOf({ TEXT: text, [INDEXES]: text }))).toEqual([]);
  },
);

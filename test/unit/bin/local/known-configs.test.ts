import type { LocalFunction, LocalTable } from '../../../../bin/local/assembly/deployment-plan';
import { knownConfigs } from '../../../../bin/local/known-configs';
import { INDEX, INDEXES } from '../../../../lib/core/contract/function-environment';
import { indexConfig } from '../../../support/index-config';

const tables = [{ path: 'Orders/Table', name: 'Orders-Table1' } as LocalTable];
const byStatus = indexConfig({ tableName: 'Orders-Table1' });
const told = (environment: Record<string, string>) =>
  knownConfigs([{ environment } as unknown as LocalFunction], tables);

test.each([
  ['a variable of an application, whose name is kept', { MY_INDEX: JSON.stringify(byStatus) }, 'MY_INDEX'],
  ['the variable of a function of the library', { [INDEX]: JSON.stringify(byStatus) }, undefined],
  ['one of several in a variable', { [INDEXES]: JSON.stringify({ byStatus }) }, undefined],
])('finds %s', (_, environment, variable) => {
  expect(told(environment)).toEqual([
    { path: 'Orders/Table/byStatus', config: byStatus, ...(variable && { variable }) },
  ]);
});

test('finds a table that is sharded by its own key by its path, and a table of elsewhere by its name', () => {
  const { indexName, ...invoices } = byStatus;
  const OTHER = JSON.stringify({ ...byStatus, tableName: 'Elsewhere' });
  expect(told({ INVOICES: JSON.stringify(invoices), OTHER }).map(({ path }) => path)).toEqual([
    'Orders/Table',
    'Elsewhere/byStatus',
  ]);
});

test.each(['', 'on', '{', '{}', '[]', '{"tableName":"T"}', '{"a":null}'])('takes %s for no configuration', (text) => {
  expect(told({ TEXT: text })).toEqual([]);
});

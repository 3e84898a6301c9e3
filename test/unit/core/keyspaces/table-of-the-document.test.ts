import {
  fanOutSelect,
  fanOutSelectCount,
  findStrayRows,
  InvalidTableConfigError,
  selectRow,
  shardColumns,
} from '../../../../lib/core';
import { allPages } from '../../../support/all-pages';
import { FakeCassandra } from '../../../support/fakes/fake-cassandra';
import { keyspacesConfig } from '../../../support/keyspaces-config';

/**
 * The table of "Write sharding in Amazon Keyspaces": PRIMARY KEY ((publish_date, shard)). A shard holds at most one row
 * of a day.
 */
const config = keyspacesConfig({
  partitionKey: [{ name: 'publish_date', type: 'date' }],
  clusteringColumns: [],
  columns: ['title', 'description'],
  shards: { default: { write: 200, read: 200 } },
  strategy: 'random',
});
const value = { publish_date: '2020-07-09' };

function blogs(): FakeCassandra {
  const table = FakeCassandra.of(config);
  for (let shard = 1; shard <= 200; shard += 3)
    table.insert({ ...value, shard, title: `title ${shard}`, description: 1 });
  table.insert({ publish_date: '2020-07-10', shard: 2, title: 'of another day', description: 1 });
  return table;
}

const stored = Array.from({ length: 67 }, (_, n) => 1 + 3 * n);

test.each(['ascending', 'descending', 'unordered'] as const)(
  'fanOutSelect returns all rows of a day of a table without clustering columns, page by page, in the order of their shards: %s',
  async (order) => {
    const table = blogs();
    const pages = await allPages((cursor) => fanOutSelect(table, config, { value, order, limit: 10, cursor }));
    expect(Math.max(...pages.map(({ rows }) => rows.length))).toBe(10);
    expect(pages.flatMap(({ rows }) => rows.map(({ shard }) => shard))).toEqual(
      order === 'descending' ? [...stored].reverse() : stored,
    );
    for (const { query } of table.sent) expect(query).not.toContain('ORDER BY');
  },
);

test('fanOutSelectCount counts the rows of a table without clustering columns', async () => {
  expect(await fanOutSelectCount(blogs(), config, { value })).toMatchObject({ count: stored.length });
});

test('shardColumns and findStrayRows reject a table without clustering columns, because a row would overwrite another row', async () => {
  const message = 'config.clusteringColumns must be one or more columns that identify the rows of a partition';
  expect(() => shardColumns(config, { ...value, title: 'a' })).toThrow(message);
  await expect(findStrayRows(blogs(), config)).rejects.toThrow(message);
  await expect(selectRow(blogs(), config, value)).rejects.toThrow('config.strategy must be calculated or product');
});

test('a table without clustering columns can only have random shards', async () => {
  const calculated = { ...config, strategy: 'calculated' as const };
  await expect(fanOutSelect(blogs(), calculated, { value })).rejects.toThrow(InvalidTableConfigError);
  await expect(fanOutSelect(blogs(), calculated, { value })).rejects.toThrow(
    'config.strategy must be random (without clustering columns, the shard of a row is not known from its key), got "calculated"',
  );
});

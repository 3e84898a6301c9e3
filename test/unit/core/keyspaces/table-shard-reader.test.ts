import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import type { FanOutSelectRequest } from '../../../../lib/core/keyspaces';
import { columnValue } from '../../../../lib/core/keyspaces/column-value';
import { rowOrder } from '../../../../lib/core/keyspaces/keyed-row';
import { rowSelect } from '../../../../lib/core/keyspaces/row-select';
import { TableShardReader } from '../../../../lib/core/keyspaces/table-shard-reader';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const config = keyspacesConfig();
const [id] = config.clusteringColumns;

/** The statements by which a shard is read up to the row 5 of another shard, and the page of the read. */
async function readUpTo5(where: FanOutSelectRequest['where']) {
  const sent: unknown[] = [];
  const execute = async (query: string, parameters: unknown[]) => {
    sent.push([query.split('"shard" = ?')[1], ...parameters.slice(2)]);
    return { rows: [] };
  };
  const select = rowSelect(config, { value: { day: 'd' }, where });
  const query = {
    client: { execute },
    config,
    select,
    order: rowOrder(config, select),
    cursor: undefined,
    columns: ['id'],
  };
  const reader = new TableShardReader(query, { number: 1, partition: select.partitions[0]!, shard: 1 });
  const page = await reader.read({ until: { item: { key: [columnValue('id', id!, 5)], row: {} }, shard: 2 } });
  return { sent, page };
}

test('a shard is read up to the row behind which the page needs nothing', async () => {
  expect((await readUpTo5(undefined)).sent).toEqual([[' AND "id" <= ?', 5]]);
});

test('a shard that begins behind this row is not read', async () => {
  expect(await readUpTo5({ id: { gt: 5 } })).toEqual({
    sent: [],
    page: { items: [], itemsRead: 0, consumedReadUnits: 0, itemSizes: [] },
  });
});

test.each([
  ['the row of its cursor, where the read begins with it', 0, [6, 5]],
  ['no row more, where the read begins behind the row of its cursor', 1, [5, 5]],
])('a shard leaves room for %s', async (_, firstOfItsKind, expected) => {
  const minute = { name: 'minute', type: 'int', order: 'ASC' } as const;
  const timed = keyspacesConfig({ clusteringColumns: [minute, id!] });
  const sizes: unknown[] = [];
  const execute = async (_query: string, _parameters: unknown[], { fetchSize }: { fetchSize?: number }) => {
    sizes.push(fetchSize);
    return { rows: [], pageState: `page ${sizes.length}` };
  };
  const select = rowSelect(timed, { value: { day: 'd' } });
  const item = { key: [columnValue('minute', minute, 3), columnValue('id', id!, 5)], row: {} };
  const cursor = { shard: 1, item, firstOfItsKind, sizes: new ItemSizes() };
  const query = { client: { execute }, config: timed, select, order: rowOrder(timed, select), cursor, columns: ['id'] };
  const reader = new TableShardReader(query, { number: 1, partition: select.partitions[0]!, shard: 1 });
  const { next } = await reader.read({ limit: 5 });
  await reader.read({ limit: 5, from: next });
  expect(sizes).toEqual(expected);
});

import { fanOutRows, fanOutSelectCount } from '../../../../lib/core/keyspaces';
import { FakeCassandra } from '../../../support/fakes/fake-cassandra';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const config = keyspacesConfig({ tableName: 'events', shards: { default: { write: 4, read: 4 } } });
const request = { value: { day: 'd' } };

function events(count: number): FakeCassandra {
  const compare = (a: string, b: string) => Number(a) - Number(b);
  const table = new FakeCassandra({
    partitionKey: ['day', 'shard'],
    clusteringColumns: [{ name: 'id', order: 'ASC', compare }],
  });
  for (let id = 0; id < count; id++) table.insert({ day: 'd', shard: 1 + (id % 4), id, body: 'x'.repeat(50) });
  return table;
}

async function idsOf(rows: AsyncIterable<Record<string, unknown>>): Promise<unknown[]> {
  const ids = [];
  for await (const { id } of rows) ids.push(id);
  return ids;
}

describe('fanOutRows', () => {
  test('returns all rows in one order, page by page', async () => {
    expect(await idsOf(fanOutRows(events(50), config, { ...request, limit: 7 }))).toEqual([...Array(50).keys()]);
  });

  test('reads the next page only after the consumer has taken all rows of the previous page', async () => {
    const table = events(100);
    const rows = fanOutRows(table, config, { ...request, limit: 10 });
    for (let taken = 0; taken < 10; taken++) await rows.next();
    const before = table.sent.length;
    await rows.next();
    expect([before, table.sent.length > before]).toEqual([expect.any(Number), true]);
  });
});

describe('fanOutSelectCount', () => {
  test('counts all rows, or only the rows that meet a condition, and reads only their keys', async () => {
    const table = events(130);
    expect(await fanOutSelectCount(table, config, request)).toMatchObject({
      count: 130,
      stats: { rowsRead: 130, shards: 4 },
    });
    expect(await fanOutSelectCount(table, config, { ...request, where: { id: { gte: 100 } } })).toMatchObject({
      count: 30,
    });
    expect(table.sent.every(({ query }) => query.startsWith('SELECT "id" FROM'))).toBe(true);
  });
});

import { fanOutRows, fanOutSelectCount } from '../../../../lib/core/keyspaces';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
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

  test('returns the rows of the other shards, and then throws an error that names the missing shard', async () => {
    const table = events(20);
    const execute = (...statement: Parameters<FakeCassandra['execute']>) =>
      statement[1][1] === 2
        ? Promise.reject(Object.assign(new Error('down'), { code: 0x1000 }))
        : table.execute(...statement);
    const options = { onShardFailure: 'partial', attempts: 1 } as const;
    const rows = fanOutRows({ execute }, config, request, options);
    const ids: unknown[] = [];
    const all = async () => {
      for await (const { id } of rows) ids.push(id);
    };
    await expect(all()).rejects.toMatchObject({ code: 'SHARDS_UNAVAILABLE', shards: [2] });
    expect(ids).toHaveLength(15);
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

  test('counts the rows of the other shards, and names the missing shard', async () => {
    const table = events(20);
    const execute = (...statement: Parameters<FakeCassandra['execute']>) =>
      statement[1][1] === 2
        ? Promise.reject(Object.assign(new Error('down'), { code: 0x1000 }))
        : table.execute(...statement);
    const options = { onShardFailure: 'partial', attempts: 1 } as const;
    const counted = await fanOutSelectCount({ execute }, config, request, options);
    expect(counted).toMatchObject({ count: 15, missingShards: [2] });
    expect(await fanOutSelectCount(table, config, request)).not.toHaveProperty('missingShards');
  });

  test('returns the count so far at its deadline, and continues to count from its cursor', async () => {
    const clock = new VirtualClock();
    const table = events(40);
    const execute = async (...statement: Parameters<FakeCassandra['execute']>) => {
      await clock.sleep(400);
      return table.execute(...statement);
    };
    const options = { clock, deadlineMs: 1_000 };
    const counts: number[] = [];
    let cursor: string | undefined;
    do {
      const counting = fanOutSelectCount({ execute }, config, { ...request, cursor }, options);
      const page = await clock.runUntil(counting);
      counts.push(page.count);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(counts.length).toBeGreaterThan(1);
    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
  });
});

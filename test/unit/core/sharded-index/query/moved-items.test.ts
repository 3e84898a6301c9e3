import { type DynamoDbItem, fanOutQuery, type ShardedTableConfig } from '../../../../../lib/core';
import { allPages } from '../../../../support/all-pages';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
import { JobsIndex, numbersOf } from '../../../../support/fakes/jobs-index';
import { indexConfig } from '../../../../support/index-config';

describe('fanOutQuery – the last item of a page moves to a later shard before the next page', () => {
  test.each<[string, Partial<ShardedTableConfig>, boolean]>([
    ['does not return the item again if the sort key decides the shard', {}, false],
    ['returns the item of the later shard if another attribute decides the shard', { shardedBy: ['client'] }, true],
    ['returns the item of the later shard if shards are random', { strategy: 'random', shardedBy: [] }, true],
  ])('%s', async (_, change, shown) => {
    const config: ShardedTableConfig = { ...invoices, ...change };
    const at = (shard: number, value = '7'): DynamoDbItem => ({
      InvoiceNumber: { S: `${value}-${shard}` },
      ClientTransactionId: { S: 't' },
      client: { S: 'c' },
    });
    const index = new FakeIndex(config);
    index.put(at(1));
    index.put(at(2, '8'));
    const { cursor } = await fanOutQuery(index, config, { values: ['7', '8'], limit: 1 });
    index.delete(at(1));
    index.put(at(3));
    const { items } = await fanOutQuery(index, config, { values: ['7', '8'], cursor });
    expect(items).toEqual([...(shown ? [at(3)] : []), at(2, '8')]);
  });
});

test('fanOutQuery – an item is in two shards, and a shard responds after the page has dropped its later items – a later page returns the dropped items', async () => {
  // In the second wave, shard 1 fills the page up to item 90, and then shard 0 returns item 150.
  const shards = [
    [100, 110, 120, 130, 140, 150, 160],
    [10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 101, 105],
  ];
  const client = new JobsIndex((shard, nth) => (shard === 0 && nth === 1 ? 5 : 1), { shards: 3, count: 0 });
  const { clock, config, index } = client;
  for (const [shard, numbers] of shards.entries()) {
    for (const number of numbers) index.put(client.job(number, shard));
  }
  index.putStray(client.job(70, 2));
  const pages = await allPages((cursor) =>
    clock.runUntil(fanOutQuery(client, config, { limit: 12, cursor }, { clock })),
  );
  expect(pages.flatMap(({ items }) => numbersOf(items))).toEqual(shards.flat().toSorted((a, b) => a - b));
});

test('fanOutQuery – items whose table keys differ in one attribute or in its type – returns each item', async () => {
  const config = indexConfig({ tableKey: ['tenant', 'id'], sortKeyAttributes: [], valueAttribute: undefined });
  const keys: DynamoDbItem[] = [
    { tenant: { S: 'a' }, id: { S: 'bc' } },
    { tenant: { S: 'ab' }, id: { S: 'c' } },
    { tenant: { S: 'ab' }, id: { N: '1' } },
    { tenant: { S: 'ab' }, id: { N: '2' } },
    { tenant: { S: 'ab' }, id: { B: Uint8Array.of(1) } },
    { tenant: { S: 'ab' }, id: { B: Uint8Array.of(2) } },
  ];
  const index = new FakeIndex(config);
  for (const key of keys) index.put({ ...key, shard: { N: '0' } });
  expect((await fanOutQuery(index, config, {})).items).toHaveLength(keys.length);
});

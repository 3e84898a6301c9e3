import { type DynamoDbItem, fanOutQuery, type ShardedTableConfig } from '../../../../../lib/core';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
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

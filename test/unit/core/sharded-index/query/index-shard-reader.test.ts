import {
  type DynamoDbItem,
  type FanOutRequest,
  fanOutQuery,
  type IndexQueryInput,
  type IndexQueryOutput,
  type ShardedConfig,
  type ShardedTableConfig,
} from '../../../../../lib/core';
import { checkedRequest } from '../../../../../lib/core/sharded-index/query/checked-request';
import { indexReaders } from '../../../../../lib/core/sharded-index/query/index-shard-reader';
import { itemBytes } from '../../../../../lib/core/sharded-index/query/item-bytes';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
import { indexConfig } from '../../../../support/index-config';

const byTime = indexConfig({
  shards: { default: { write: 2, read: 2 } },
  strategy: 'random',
  valueAttribute: undefined,
  sortKeyAttributes: ['at'],
  tableKey: ['id'],
});
const job = (id: string, at: string, shard: number): DynamoDbItem => ({
  id: { S: id },
  at: { S: at },
  shard: { N: String(shard) },
});

/** What a shard answers to a request, and what was asked. */
async function pageOf(config: ShardedConfig, request: FanOutRequest, output: IndexQueryOutput) {
  const asked: IndexQueryInput[] = [];
  const query = async (input: IndexQueryInput) => {
    asked.push(input);
    return output;
  };
  const page = await indexReaders(checkedRequest({ query }, config, request)).readers[0]!.read({
    signal: undefined,
  } as never);
  return { page, asked: asked[0]! };
}

describe('how large items are', () => {
  const Items = ['a', 'b', 'c', 'd'].map((id) => job(id, '2026', 0));
  const answer = { Items, Count: 4, ScannedCount: 4, ConsumedCapacity: { CapacityUnits: 1 } };
  const filter = { filterExpression: 'attribute_exists(note)' };
  const ofTable = {
    ...answer,
    Items: Items.map((item) => ({ ...item, InvoiceNumber: item.id!, ClientTransactionId: item.at! })),
  };
  const consistent = { value: '7', consistentRead: true, projection: ['id'] };

  test.each<[string, ShardedConfig, FanOutRequest, IndexQueryOutput, number[]]>([
    ['as they are', byTime, {}, answer, Items.map(itemBytes)],
    ['as it is', byTime, {}, { ...answer, Items: Items.slice(0, 1), ScannedCount: 1 }, [itemBytes(Items[0]!)]],
    [
      'the bytes that were paid for, where a projection leaves some out',
      byTime,
      { projection: ['id'] },
      answer,
      [2_048],
    ],
    ['half of that for a consistent read, which costs twice as much', invoices, consistent, ofTable, [1_024]],
    ['both bounds of it, where a filter hides all', byTime, filter, { ...answer, Items: [], Count: 0 }, [2_048, 1_024]],
    ['nothing, where nothing was read', byTime, filter, { ...answer, Items: [], Count: 0, ScannedCount: 0 }, []],
    [
      'nothing, where nobody says what it costs',
      byTime,
      { projection: ['id'] },
      { ...answer, ConsumedCapacity: {} },
      [],
    ],
  ])('is learned from an answer: %s', async (_, config, request, output, sizes) => {
    expect((await pageOf(config, request, output)).page.itemSizes).toEqual(sizes);
  });

  test('is learned from the first of them', async () => {
    const many = Array.from({ length: 1_000 }, (_, number) => job(`job-${number}`, '2026', 0));
    const { page } = await pageOf(byTime, {}, { Items: many, Count: 1_000, ScannedCount: 1_000 });
    expect(page.itemSizes.length).toBeLessThan(100);
  });
});

test('an answer needs no count beside its items, and may say that nothing follows', async () => {
  const { page } = await pageOf(
    byTime,
    {},
    { Items: [job('a', '2026', 0)], ScannedCount: 3, LastEvaluatedKey: null as never },
  );
  expect(page).toMatchObject({ itemsRead: 3, itemsHidden: 2, consumedReadUnits: 0 });
  expect(page).not.toHaveProperty('next');
});

describe('a request', () => {
  const nothing = { Items: [], Count: 0, ScannedCount: 0 };

  test('names its index, and a table where there is none, and says no more than it must', async () => {
    for (const config of [byTime, invoices]) {
      const { asked } = await pageOf(config, config === invoices ? { value: '7' } : {}, nothing);
      expect(asked).toMatchObject({ TableName: config.tableName, ...(config === byTime && { IndexName: 'byStatus' }) });
      expect(Object.values(asked)).not.toContain(undefined);
    }
  });

  test('of a table reads also what decides the shard of an item, which tells items apart', async () => {
    const config: ShardedTableConfig = { ...invoices, shardedBy: ['client'] };
    const { asked } = await pageOf(config, { value: '7', projection: ['amount'], consistentRead: true }, nothing);
    const read = asked.ProjectionExpression!.split(', ').map((name) => asked.ExpressionAttributeNames[name]);
    expect(read).toEqual(['amount', 'InvoiceNumber', 'ClientTransactionId', 'client']);
    expect(asked.ConsistentRead).toBe(true);
  });
});

describe('the item of a cursor that has moved to a later shard', () => {
  test('is not shown again, and others of its sort key are', async () => {
    const index = new FakeIndex(byTime);
    index.put(job('a', '2026', 0));
    index.put(job('b', '2026', 1));
    const { items, cursor } = await fanOutQuery(index, byTime, { limit: 1 });
    expect(items).toEqual([job('a', '2026', 0)]);
    index.put(job('a', '2026', 1));
    expect((await fanOutQuery(index, byTime, { cursor })).items).toEqual([job('b', '2026', 1)]);
  });

  test.each<[string, Partial<ShardedTableConfig>, boolean]>([
    ['is not shown again, of a table whose sort key decides the shard', {}, false],
    ['may be another item where further attributes decide the shard, and is shown', { shardedBy: ['client'] }, true],
    ['is another item where shards are drawn at random, and is shown', { strategy: 'random', shardedBy: [] }, true],
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

import { NumberValue } from '@aws-sdk/lib-dynamodb';
import {
  calculatedShard,
  findStrays,
  type ShardCount,
  type ShardedTableConfig,
  shardAttributes,
  shardKey,
  shardKeys,
  type TransactWrite,
  transactDelete,
  transactGet,
  transactPut,
  UncertainShardError,
} from '../../../../../lib/core';
import { FakeTable } from '../../../../support/fakes/fake-table';
import { invoices as articleTable } from '../../../../support/fakes/invoices';
import { TransactionalTable, textOf } from '../../../../support/fakes/transactional-table';
import { indexConfig } from '../../../../support/index-config';

/** The invoice table of the AWS blog: an invoice has up to 50,000 items, in the partition keys 121212-1 to 121212-5. */
function invoices(count: ShardCount, config: Partial<ShardedTableConfig> = {}): ShardedTableConfig {
  return { ...articleTable, shards: { default: count }, ...config };
}

const five = invoices({ write: 5, read: 5 });
const grown = invoices({ write: 6, read: 6, since: 5 });
const transactions = Array.from({ length: 120 }, (_, number) => ({ ClientTransactionId: `Client${number}_trans1` }));

describe('shardKey', () => {
  test('returns a partition key of the value, the separator and the shard, and the sort key', () => {
    const key = { ClientTransactionId: 'Client1_trans1', Invoice_Date: '2016-05-17' };
    const shard = 1 + calculatedShard('Client1_trans1', 5);
    expect(shardKey(five, '121212', key)).toEqual({
      InvoiceNumber: `121212-${shard}`,
      ClientTransactionId: 'Client1_trans1',
    });
  });

  test.each([[121212], [121212n], [NumberValue.from('121212')]])('accepts the number %p as a value', (value) => {
    const key = { ClientTransactionId: 'a' };
    expect(shardKey(five, value as number, key)).toEqual(shardKey(five, '121212', key));
    expect(shardAttributes(five, { ...key, InvoiceNumber: value })).toEqual({
      InvoiceNumber: shardKey(five, '121212', key).InvoiceNumber,
    });
  });

  test('returns the same partition key as shardAttributes', () => {
    for (const transaction of transactions) {
      const item = { InvoiceNumber: '121212', ...transaction };
      expect({ ...item, ...shardAttributes(five, item) }).toEqual(shardKey(five, '121212', transaction));
    }
  });

  test('calculates the shard from the attributes of shardedBy', () => {
    const config = invoices({ write: 5, read: 5 }, { shardedBy: ['client', 'day'] });
    const key = shardKey(config, '121212', { ClientTransactionId: 'a', client: 'c', day: 7 });
    expect(key.InvoiceNumber).toBe(`121212-${1 + calculatedShard('c#7', 5)}`);
    expect(() => shardKey(config, '121212', { ClientTransactionId: 'a', client: 'c' })).toThrow('item.day must be');
  });
});

describe('while the count grows from 5 to 6', () => {
  test('shardKeys returns one key for each possible shard of the item, from the old count to the new count', () => {
    const wide = invoices({ write: 40, read: 64, since: 3 });
    for (const transaction of transactions) {
      const places = Array.from({ length: 62 }, (_, index) =>
        calculatedShard(transaction.ClientTransactionId, 3 + index),
      );
      const keys = shardKeys(wide, 'v', transaction).map(({ InvoiceNumber }) => InvoiceNumber);
      expect([...keys].sort()).toEqual([...new Set(places)].map((shard) => `v-${1 + shard}`).sort());
      expect(keys[0]).toBe(`v-${1 + calculatedShard(transaction.ClientTransactionId, 40)}`);
    }
  });

  test('shardKey rejects every item, because the item can be at two keys', () => {
    for (const transaction of transactions) {
      expect(() => shardKey(grown, '121212', transaction)).toThrow(UncertainShardError);
    }
    expect(() => shardKey(grown, '121212', transactions[0]!)).toThrow('use shardKeys, transactGet, transactPut');
  });

  test('transactPut deletes the item at its other possible keys in the same transaction', () => {
    for (const transaction of transactions) {
      const item = { InvoiceNumber: '121212', ...transaction, amount: 5 };
      const [place, ...others] = shardKeys(grown, '121212', transaction);
      expect(transactPut(grown, item)).toEqual([
        { Put: { TableName: 'Invoices', Item: { ...place, amount: 5 } } },
        ...others.map((Key) => ({ Delete: { TableName: 'Invoices', Key } })),
      ]);
    }
  });

  test('transactPut with ifAbsent puts the item only if no item is at any of its possible keys', () => {
    const moved = transactions.find((transaction) => shardKeys(grown, '121212', transaction).length === 2)!;
    const [place, other] = shardKeys(grown, '121212', moved);
    const absent = {
      ConditionExpression: 'attribute_not_exists(#evenShardsKey)',
      ExpressionAttributeNames: { '#evenShardsKey': 'InvoiceNumber' },
    };
    expect(transactPut(grown, { InvoiceNumber: '121212', ...moved }, { ifAbsent: true })).toEqual([
      { Put: { TableName: 'Invoices', Item: place, ...absent } },
      { ConditionCheck: { TableName: 'Invoices', Key: other, ...absent } },
    ]);
    expect(transactGet(grown, '121212', moved)).toEqual([
      { Get: { TableName: 'Invoices', Key: place } },
      { Get: { TableName: 'Invoices', Key: other } },
    ]);
    expect(transactDelete(grown, '121212', moved)).toHaveLength(2);
  });
});

describe('transactPut with an index', () => {
  const byClient = indexConfig({
    tableName: 'Invoices',
    indexName: 'byClient',
    tableKey: five.tableKey,
    keyLayout: 'single-attribute',
    valueAttribute: 'client',
    shardAttribute: 'clientShard',
    sortKeyAttributes: [],
    shards: { default: { write: 4, read: 4 } },
  });
  const item = (number: number) => ({ InvoiceNumber: 'v', ...transactions[number]!, client: `c${number % 3}` });

  test.each([
    ['does not change', five],
    ['grows', grown],
    ['grows from 3 to 40', invoices({ write: 40, read: 64, since: 3 })],
  ])('writes an item that is no stray in the table and no stray in the index, while the count %s', async (_, table) => {
    for (const ifAbsent of [false, true]) {
      const stored = new FakeTable(table.tableKey);
      for (let number = 0; number < transactions.length; number++) {
        const writes = transactPut(table, item(number), { ifAbsent, indexes: [byClient] });
        const texts = Object.entries(putItem(writes)).map(([name, value]) => [name, { S: String(value) }] as const);
        stored.put(Object.fromEntries(texts));
      }
      for (const config of [table, byClient]) {
        const { itemsScanned, strays } = await findStrays(stored, config);
        expect([itemsScanned, Object.values(strays).some((count) => count > 0)]).toEqual([transactions.length, false]);
      }
    }
  });

  test('removes the shard of an item without the value of the index', () => {
    const read = {
      ...putItem(transactPut(five, item(1), { indexes: [byClient] })),
      InvoiceNumber: 'v',
      client: undefined,
    };
    expect(read).toHaveProperty('clientShard');
    expect(putItem(transactPut(five, read, { indexes: [byClient] }))).not.toHaveProperty('clientShard');
  });

  test('rejects an index of another table', () => {
    const other = { ...byClient, tableName: 'Orders' };
    expect(() => transactPut(five, item(1), { indexes: [other] })).toThrow('configurations of one table');
  });
});

function putItem([first]: TransactWrite[]): Record<string, unknown> {
  return (first as { Put: { Item: Record<string, unknown> } }).Put.Item;
}

describe('a table with shardedBy, where the sort key does not decide the shard', () => {
  const ofClients = (count: ShardCount) => ({
    ...invoices(count, { shardedBy: ['client'], tableKey: ['pk', 'sk'] }),
    valueAttribute: 'invoice',
    shardAttribute: 'pk',
    sortKeyAttributes: ['sk'],
  });
  const [fiveOfClients, growing] = [ofClients({ write: 5, read: 5 }), ofClients({ write: 12, read: 12, since: 5 })];
  const clients = Array.from({ length: 30 }, (_, number) => ({ invoice: 'v', sk: 'd1', client: `client${number}` }));

  test('transactPut and transactDelete never remove another item with the same sort key, at any shard count', () => {
    let refused = 0;
    for (const earlier of clients) {
      for (const later of clients.filter(({ client }) => client !== earlier.client)) {
        for (const config of [fiveOfClients, growing]) {
          for (const writes of [transactPut(growing, later), transactDelete(growing, 'v', later)]) {
            const table = new TransactionalTable(growing);
            table.transact(transactPut(config, earlier));
            if (!table.transact(writes)) refused += 1;
            expect(table.all().map(({ client }) => textOf(client!))).toContain(earlier.client);
          }
        }
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  test('transactPut and transactDelete replace and delete the item at each of its possible keys', () => {
    for (const item of clients) {
      const table = new TransactionalTable(growing);
      table.transact(transactPut(fiveOfClients, item));
      expect(table.transact(transactPut(growing, item))).toBe(true);
      expect(table.all()).toHaveLength(1);
      expect(table.transact(transactDelete(growing, 'v', item))).toBe(true);
      expect(table.all()).toEqual([]);
    }
  });

  test('transactPut has a condition on the attributes in shardedBy only while the count changes', () => {
    const [{ Put }] = transactPut(growing, clients[4]!) as [{ Put: object }];
    expect(Put).toMatchObject({
      ConditionExpression: 'attribute_not_exists(#evenShardsKey) OR (#evenShards0 = :evenShards0)',
      ExpressionAttributeNames: { '#evenShardsKey': 'pk', '#evenShards0': 'client' },
      ExpressionAttributeValues: { ':evenShards0': 'client4' },
    });
    expect(transactPut(fiveOfClients, clients[4]!)[0]).not.toHaveProperty('Put.ConditionExpression');
  });
});

test('transactPut – a table with random shards – returns a single put', () => {
  const random = invoices({ write: 1, read: 2 }, { strategy: 'random', shardedBy: [] });
  const Item = { InvoiceNumber: '121212-1', ClientTransactionId: 'a' };
  const put = transactPut(random, { ...Item, InvoiceNumber: '121212' });
  expect(put).toEqual([{ Put: { TableName: 'Invoices', Item } }]);
});

describe('shardKey, shardAttributes and transactPut – invalid input', () => {
  const key = { ClientTransactionId: 'a' };
  const random = invoices({ write: 5, read: 5 }, { strategy: 'random', shardedBy: [] });

  test.each<[code: string, message: string, call: () => unknown]>([
    ['INVALID_INDEX_VALUE', 'value must be a non-empty', () => shardKey(five, undefined as never, key)],
    ['INVALID_INDEX_VALUE', 'a value without the separator "-"', () => shardKey(five, '121212-3', key)],
    [
      'INVALID_INDEX_VALUE',
      'item.InvoiceNumber must be a value without the separator',
      () => shardAttributes(five, { InvoiceNumber: '121212-3', ...key }),
    ],
    [
      'INVALID_INDEX_VALUE',
      'item.InvoiceNumber must be a non-empty string or a finite number, got undefined',
      () => shardAttributes(five, key),
    ],
    ['INVALID_ARGUMENT', 'item.ClientTransactionId must be', () => shardKey(five, '121212', {})],
    [
      'INVALID_ARGUMENT',
      'item.ClientTransactionId must be',
      () => shardKey({ ...five, shardedBy: ['client'] }, '121212', { client: 'c' }),
    ],
    [
      'INVALID_INDEX_CONFIG',
      'config.indexName must be absent (the key of an item does not depend on the shard of an index)',
      () => shardKey(indexConfig({ tableKey: ['jobId', 'part'] }) as never, 'new', { jobId: 'a', part: 'b' }),
    ],
    ['INVALID_ARGUMENT', 'key must be an object', () => shardKey(five, '121212', null as never)],
    ['INVALID_INDEX_CONFIG', 'only a query finds an item', () => shardKey(random, '121212', key)],
    [
      'INVALID_ARGUMENT',
      'ifAbsent must be false',
      () => transactPut(random, { InvoiceNumber: '121212', ...key }, { ifAbsent: true }),
    ],
  ])('throw %s: %s', (code, message, call) => {
    expect(call).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  });
});

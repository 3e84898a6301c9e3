import {
  InvalidArgumentError,
  type ItemChanges,
  type ShardedIndexConfig,
  type ShardedTableConfig,
  shardAttributes,
  shardBatches,
  shardKey,
  shardPut,
  shardUpdate,
  UncertainShardError,
} from '../../../../../lib/core';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({
  tableName: 'Orders',
  tableKey: ['orderId'],
  keyLayout: 'single-attribute',
  shardAttribute: 'statusShard',
  sortKeyAttributes: [],
  shards: { default: { write: 5, read: 5 } },
});
const { valueAttribute, ...wholeTable } = byStatus;
const byTime: ShardedIndexConfig = { ...wholeTable, indexName: 'byTime', shardAttribute: 'timeShard' };
const order = { orderId: 'o-1', status: 'pending' };
const key = { orderId: 'o-1' };

const { indexName, ...shared } = byStatus;
const ordersOfDay: ShardedTableConfig = {
  ...shared,
  tableKey: ['day', 'orderId'],
  keyLayout: 'single-attribute',
  valueAttribute: 'day',
  shardAttribute: 'day',
  sortKeyAttributes: ['orderId'],
  shardedBy: ['orderId'],
  separator: '#',
  firstShard: 0,
};

describe('shardPut', () => {
  test('returns the input of PutItem with the shard of each index and the condition of the caller', () => {
    const condition = {
      ConditionExpression: 'attribute_not_exists(#id)',
      ExpressionAttributeNames: { '#id': 'orderId' },
    };
    expect(shardPut([byStatus, byTime], order, condition)).toEqual({
      TableName: 'Orders',
      Item: { ...order, ...shardAttributes(byStatus, order), ...shardAttributes(byTime, order) },
      ...condition,
    });
  });

  test('removes the shard of an item without a value, and does not change the item of the caller', () => {
    const { status, ...rest } = shardPut([byStatus, byTime], order).Item;
    const read = { ...rest };
    expect(shardPut([byStatus, byTime], read).Item).toEqual({ orderId: 'o-1', ...shardAttributes(byTime, order) });
    expect(read).toEqual(rest);
  });

  test('sets the partition key of an item if the table is sharded by its own key', () => {
    const item = { day: '2026-11-21', orderId: 'o-1' };
    expect(shardPut([ordersOfDay], item).Item).toEqual(shardKey(ordersOfDay, '2026-11-21', item));
    const grows = { ...ordersOfDay, shards: { default: { write: 5, read: 6 } } };
    expect(() => shardPut([grows], item)).toThrow(UncertainShardError);
  });

  test('calculates the shard of an index from the stored table key if the table is sharded by its own key', () => {
    const byStatusOfDays = { ...byStatus, tableKey: ordersOfDay.tableKey };
    for (let number = 0; number < 20; number++) {
      const item = { day: '2026-11-21', orderId: `o-${number}`, status: 'pending' };
      const { Item } = shardPut([byStatusOfDays, ordersOfDay], item);
      expect(Item).toEqual({ ...item, ...shardAttributes(ordersOfDay, item), statusShard: expect.anything() });
      expect(shardAttributes(byStatusOfDays, Item)).toEqual({ statusShard: Item.statusShard });
    }
  });

  test('accepts an index whose count changes, because an item always has one shard in the index', () => {
    const shrinks = { ...byStatus, shards: { default: { write: 5, read: 6 } } };
    expect(shardPut([shrinks], order)).toEqual(shardPut([byStatus], order));
  });

  test.each<[message: string, call: () => unknown]>([
    [
      'config.valueAttribute must be another attribute than day, which holds the shard of the table, got "day"',
      () => shardPut([{ ...byStatus, valueAttribute: 'day' }, ordersOfDay], { day: '2026-11-21', orderId: 'o-1' }),
    ],
    ['config.tableKey must be', () => shardBatches([{ ...byStatus, tableKey: [] }], { delete: [key] })],
    [
      'and attributes that decide the shard of a table, got "client"',
      () => shardUpdate([{ ...ordersOfDay, shardedBy: ['client'] }], { ...key, day: 'd#0' }, { set: { client: 'c' } }),
    ],
    ['configs must be configurations of one table, at least one', () => shardPut([], order)],
    ['got ["Orders","Jobs"]', () => shardPut([byStatus, { ...byTime, tableName: 'Jobs' }], order)],
    [
      'expression.ExpressionAttributeValues must be keyed by placeholders that do not start with evenShards',
      () => shardPut([byStatus], order, { ExpressionAttributeValues: { ':evenShards0': 1 } }),
    ],
  ])('rejects invalid arguments: %s', (message, call) => {
    expect(call).toThrow(InvalidArgumentError);
    expect(call).toThrow(message);
  });
});

test('shardBatches creates batches of at most 25 puts and deletes', () => {
  const put = Array.from({ length: 30 }, (_, number) => ({ orderId: `o-${number}`, status: 'pending' }));
  const batches = shardBatches([byStatus], { put, delete: [key, { orderId: 'o-2' }] });
  const writes = batches.flatMap(({ RequestItems }) => RequestItems.Orders!);
  expect(batches.map(({ RequestItems }) => RequestItems.Orders!.length)).toEqual([25, 7]);
  expect(writes).toEqual([
    ...put.map((item) => ({ PutRequest: { Item: { ...item, ...shardAttributes(byStatus, item) } } })),
    { DeleteRequest: { Key: key } },
    { DeleteRequest: { Key: { orderId: 'o-2' } } },
  ]);
  expect(shardBatches([byStatus], {})).toEqual([]);
});

describe('shardBatches of a table that is sharded by its own key', () => {
  const place = shardKey(ordersOfDay, '2026-11-21', key);

  test('deletes an item at the given key, whatever shard the key contains', () => {
    const places = [0, 1, 2, 3, 4].map((shard) => ({ ...place, day: `2026-11-21#${shard}` }));
    expect(shardBatches([ordersOfDay], { delete: places })).toEqual([
      { RequestItems: { Orders: places.map((Key) => ({ DeleteRequest: { Key } })) } },
    ]);
  });

  test('rejects deletes while the count changes, because the item may have moved', () => {
    const grows = { ...ordersOfDay, shards: { default: { write: 5, read: 6 } } };
    expect(() => shardBatches([grows], { delete: [place] })).toThrow(UncertainShardError);
  });

  test.each<[string, object, unknown]>([
    ['no shard', { day: '2026-11-21' }, '"2026-11-21"'],
    ['a shard above the read count', { day: '2026-11-21#5' }, '"2026-11-21#5"'],
    ['two separators', { day: '2026-11#21#1' }, '"2026-11#21#1"'],
  ])('rejects a key with %s, as shardUpdate does', (_, wrong, got) => {
    const allowed = `a value and a shard from 0 to 4, such as "value#0" (use a key from shardKey or from an item that was read), got ${got}`;
    const keyOf = { ...key, ...wrong };
    expect(() => shardBatches([ordersOfDay], { delete: [place, keyOf] })).toThrow(`delete[1].day must be ${allowed}`);
    const update = () => shardUpdate([ordersOfDay], keyOf, { set: { amount: 5 } });
    expect(update).toThrow(InvalidArgumentError);
    expect(update).toThrow(`key.day must be ${allowed}`);
    const random: ShardedTableConfig = { ...ordersOfDay, strategy: 'random', shardedBy: [] };
    expect(() => shardUpdate([random], keyOf, { set: { amount: 5 } })).toThrow(`key.day must be ${allowed}`);
  });
});

describe('shardUpdate with an expression of the caller', () => {
  test('merges clauses, condition, names and values', () => {
    const update = shardUpdate(
      [byStatus],
      key,
      { set: { status: 'shipped' }, remove: ['note'] },
      {
        UpdateExpression:
          'set #log = list_append(if_not_exists(#log, :none), :entry), address.street[0] = :street REMOVE old ' +
          'ADD version :one DELETE tags :tags',
        ConditionExpression: 'version = :seen',
        ExpressionAttributeNames: { '#log': 'log' },
        ExpressionAttributeValues: {
          ':none': [],
          ':entry': ['x'],
          ':street': 's',
          ':one': 1n,
          ':tags': 't',
          ':seen': 7,
        },
      },
    );
    expect(update).toEqual({
      UpdateExpression:
        'SET #evenShards0 = :evenShards0, #evenShards1 = :evenShards1, ' +
        '#log = list_append(if_not_exists(#log, :none), :entry), address.street[0] = :street ' +
        'REMOVE #evenShards2, old ADD version :one DELETE tags :tags',
      ConditionExpression: 'version = :seen',
      ExpressionAttributeNames: {
        '#log': 'log',
        '#evenShards0': 'status',
        '#evenShards1': 'statusShard',
        '#evenShards2': 'note',
      },
      ExpressionAttributeValues: {
        ':none': [],
        ':entry': ['x'],
        ':street': 's',
        ':one': 1n,
        ':tags': 't',
        ':seen': 7,
        ':evenShards0': 'shipped',
        ':evenShards1': shardAttributes(byStatus, { ...order, status: 'shipped' }).statusShard,
      },
    });
  });

  test('accepts a change of an attribute that does not decide a shard', () => {
    const expression = { UpdateExpression: 'SET amount = :five', ExpressionAttributeValues: { ':five': 5 } };
    const place = shardKey(ordersOfDay, '2026-11-21', key);
    expect(shardUpdate([ordersOfDay], place, {}, expression).UpdateExpression).toBe('SET amount = :five');
  });

  test.each<[string, string[], ItemChanges?]>([
    [
      'do not change keys, shards or values of indexes',
      [
        'SET #s = :x',
        'REMOVE status.x',
        'SET statusShard = :x',
        'REMOVE orderId',
        'REMOVE#s',
        'SET#s=:n',
        'REMOVE a,status',
      ],
    ],
    ['attributes that are not in changes', ['ADD note :one'], { set: { note: 1 } }],
    [
      'SET, REMOVE, ADD and DELETE clauses',
      [
        ...['version = :one', 'SET a = :x SET b = :x', 'SET a = :x, REMOVE b'],
        ...['SET add = :n', 'SET note = (:n', 'ADD note', 'SET note = "text"'],
      ],
    ],
  ])('rejects update expressions with the error "%s": %j', (message, expressions, changes = {}) => {
    for (const UpdateExpression of expressions) {
      const expression = { UpdateExpression, ExpressionAttributeNames: { '#s': 'status' } };
      const update = () => shardUpdate([byStatus], key, changes, expression);
      expect(update).toThrow(InvalidArgumentError);
      expect(update).toThrow(message);
    }
  });
});

import {
  type DynamoDbItem,
  type FanOutRequest,
  fanOutQuery,
  type ShardedIndexConfig,
  type SortKeyValue,
  shardAttributes,
} from '../../lib/core';
import { toAttributeValue } from '../../lib/core/sharded-index/query/sort-key-select';
import { dynaliteForTests } from '../support/dynalite';
import { createTable } from '../support/sharded-tables';

/** Tests the examples of the documents on which this library is based, on dynalite. */

const { dynamoDb } = dynaliteForTests();

const common = { keyLayout: 'single-attribute', strategy: 'random', shardAttribute: 'shard' } as const;

/** Writes items as an application does: each item has its shard, and a batch has 25 items. */
async function write(config: ShardedIndexConfig, items: readonly Record<string, SortKeyValue>[]): Promise<void> {
  const puts = items.map((item) => {
    const all = { ...item, ...shardAttributes(config, item) } as Record<string, SortKeyValue>;
    const Item = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, toAttributeValue(value)]));
    return { PutRequest: { Item } };
  });
  for (let from = 0; from < puts.length; from += 25) {
    await dynamoDb.batchWriteItem({ RequestItems: { [config.tableName]: puts.slice(from, from + 25) } });
  }
}

const texts = (items: readonly DynamoDbItem[], attribute: string) =>
  items.map((item) => (item[attribute] as { S: string }).S);

describe('"GSI Sharding in DynamoDB": 100 events, one every 15 minutes, over 5 random shards', () => {
  const config: ShardedIndexConfig = {
    ...common,
    tableName: 'gsi_sharding_test_1',
    indexName: 'time-index',
    tableKey: ['event_id'],
    sortKeyAttributes: ['time'],
    shards: { default: { write: 5, read: 5 } },
  };
  const events = Array.from({ length: 100 }, (_, number) => ({
    event_id: `event-${number}`,
    time: new Date(Date.UTC(2020, 0, 1, 0, 15 * number)).toISOString(),
  }));
  const firstTwelveHours: FanOutRequest = {
    sortKey: { between: ['2020-01-01T00:00:00.000Z', '2020-01-01T11:59:59.000Z'] },
  };
  const expected = events.slice(0, 48).map(({ event_id }) => event_id);

  beforeAll(async () => {
    await createTable(dynamoDb, config, { event_id: 'S', shard: 'N', time: 'S' });
    await write(config, events);
  });

  test('"If you don’t care the order": an unordered query returns the 48 events of the first twelve hours, shard by shard', async () => {
    const { items } = await fanOutQuery(dynamoDb, config, { ...firstTwelveHours, order: 'unordered' });
    expect(texts(items, 'event_id').sort()).toEqual([...expected].sort());
    const shards = items.map(({ shard }) => Number((shard as { N: string }).N));
    expect(shards).toEqual([...shards].sort());
  });

  test('"If you care the order": an ordered query returns the same events by time', async () => {
    const { items, stats } = await fanOutQuery(dynamoDb, config, firstTwelveHours);
    expect(texts(items, 'event_id')).toEqual(expected);
    expect(stats).toMatchObject({ shards: 5, requests: 5, waves: 1, itemsRead: 48 });
  });
});

describe('"GSI Sharding in DynamoDB": a random number from 1 to 100 in place of a constant', () => {
  const config: ShardedIndexConfig = {
    ...common,
    tableName: 'gsi_sharding_test_100',
    indexName: 'time-index',
    tableKey: ['event_id'],
    sortKeyAttributes: ['time'],
    firstShard: 1,
    shards: { default: { write: 100, read: 100 } },
  };
  const events = Array.from({ length: 1_000 }, (_, number) => ({
    event_id: `event-${number}`,
    time: new Date(Date.UTC(2020, 0, 1, 0, 15 * number)).toISOString(),
    kind: number % 10 === 0 ? 'commit' : 'push',
  }));

  beforeAll(async () => {
    await createTable(dynamoDb, config, { event_id: 'S', shard: 'N', time: 'S' });
    await write(config, events);
  }, 60_000);

  test('DynamoDB rejects a query with a condition on the time alone', async () => {
    const query = dynamoDb.query({
      TableName: config.tableName,
      IndexName: config.indexName,
      KeyConditionExpression: '#time > :time',
      ExpressionAttributeNames: { '#time': 'time' },
      ExpressionAttributeValues: { ':time': { S: '2020' } },
    });
    await expect(query).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('no shard holds more than three times its share of the items', async () => {
    const { items } = await fanOutQuery(dynamoDb, config, { order: 'unordered' });
    const held = Array<number>(101).fill(0);
    for (const { shard } of items) held[Number((shard as { N: string }).N)]! += 1;
    expect(items).toHaveLength(1_000);
    expect(held[0]).toBe(0);
    expect(Math.max(...held)).toBeLessThanOrEqual(30);
  });

  test('a page of 100 shards costs at least 50 read units, also for items that a filter hides', async () => {
    const all = await fanOutQuery(dynamoDb, config, {});
    expect(texts(all.items, 'event_id')).toEqual(events.map(({ event_id }) => event_id));
    // Of 250 runs, one has an empty shard. dynalite counts no units for its query, where DynamoDB counts half a unit.
    const consumedReadUnits = new Set(all.items.map(({ shard }) => (shard as { N: string }).N)).size / 2;
    expect(all.stats).toMatchObject({ shards: 100, requests: 100, waves: 1, consumedReadUnits });
    expect(consumedReadUnits).toBeGreaterThanOrEqual(49);
    const commits = await fanOutQuery(dynamoDb, config, {
      filterExpression: 'kind = :kind',
      expressionAttributeValues: { ':kind': { S: 'commit' } },
    });
    expect(commits.items).toHaveLength(100);
    expect(commits.stats.consumedReadUnits).toBe(consumedReadUnits);
  });
});

describe('"Designing Partition Keys": invoices with a suffix from 1 to 5', () => {
  /** In the document, the suffixes start at 1. Here they start at 0: 121212#0 to 121212#4. */
  const config: ShardedIndexConfig = {
    ...common,
    tableName: 'invoice-transactions',
    indexName: 'by-invoice',
    tableKey: ['transactionId'],
    valueAttribute: 'invoiceNumber',
    sortKeyAttributes: ['clientTransactionId'],
    shards: { default: { write: 5, read: 5 } },
  };
  const rows = [
    ['121212', 'Client1_trans1', '2016-05-17 01.36.45'],
    ['121212', 'Client1-trans2', '2016-05-18 01.36.30'],
    ['121212', 'Client2_trans1', '2016-06-15 01.36.20'],
    ['121212', 'Client2_trans2', '2016-07-1 01.36.15'],
    ['121213', 'Client1_trans1', '2016-07-2 01.36.15'],
  ] as const;

  beforeAll(async () => {
    await createTable(dynamoDb, config, { transactionId: 'S', shard: 'S', clientTransactionId: 'S' });
    await write(
      config,
      rows.map(([invoiceNumber, clientTransactionId, invoiceDate]) => ({
        transactionId: `${invoiceNumber}/${clientTransactionId}`,
        invoiceNumber,
        clientTransactionId,
        invoiceDate,
      })),
    );
  });

  test('one query returns the transactions of invoice 121212 that begin with Client1', async () => {
    const request = { value: '121212', sortKey: { beginsWith: 'Client1' } } as const;
    const { items, stats } = await fanOutQuery(dynamoDb, config, request);
    expect(texts(items, 'transactionId')).toEqual(['121212/Client1-trans2', '121212/Client1_trans1']);
    expect(stats.shards).toBe(5);
  });
});

describe('"Designing Partition Keys": transactions by an id of the database, and an index by their order', () => {
  const config: ShardedIndexConfig = {
    ...common,
    tableName: 'transactions',
    indexName: 'by-order',
    tableKey: ['TransactionID'],
    valueAttribute: 'OrderID',
    sortKeyAttributes: ['Order_Date'],
    shards: { default: { write: 2, read: 2 } },
  };
  const rows = [
    ['1111111', 'Customer1-1', '2016-05-17 01.36.45'],
    ['1111112', 'Customer1-2', '2016-05-18 01.36.30'],
    ['1111113', 'Customer2-1', '2016-05-18 01.36.30'],
  ].map(([TransactionID, OrderID, Order_Date]) => ({ TransactionID, OrderID, Order_Date }) as Record<string, string>);

  beforeAll(async () => {
    await createTable(dynamoDb, config, { TransactionID: 'S', shard: 'S', Order_Date: 'S' });
    await write(config, rows);
  });

  test('GetItem finds a transaction by its id, and a query of the index finds the transactions of an order', async () => {
    const Key = { TransactionID: { S: '1111112' } };
    const { Item } = await dynamoDb.getItem({ TableName: config.tableName, Key });
    expect(Item).toMatchObject({ OrderID: { S: 'Customer1-2' } });
    const { items } = await fanOutQuery(dynamoDb, config, { value: 'Customer1-1' });
    expect(texts(items, 'TransactionID')).toEqual(['1111111']);
  });
});

describe('"Designing Partition Keys": the index of the document, with the number as partition key and the country as sort key', () => {
  const config: ShardedIndexConfig = {
    ...common,
    tableName: 'invoices-by-number',
    indexName: 'by-number',
    tableKey: ['invoiceNumber'],
    sortKeyAttributes: ['country'],
    firstShard: 1,
    shards: { default: { write: 10, read: 10 } },
  };

  beforeAll(async () => {
    await createTable(dynamoDb, config, { invoiceNumber: 'S', shard: 'N', country: 'S' });
    await write(config, [
      { invoiceNumber: '121212', country: 'USA' },
      { invoiceNumber: '121213', country: 'USA' },
      { invoiceNumber: '121214', country: 'FRA' },
    ]);
  });

  test('a query with the sort key USA returns the invoices of the USA from the shards 1 to 10', async () => {
    const { items, stats } = await fanOutQuery(dynamoDb, config, { sortKey: { eq: 'USA' } });
    expect(texts(items, 'invoiceNumber').sort()).toEqual(['121212', '121213']);
    expect(stats.shards).toBe(10);
    const numbers = items.map(({ shard }) => Number((shard as { N: string }).N));
    expect(numbers.filter((number) => number < 1 || number > 10)).toEqual([]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../../bin/local/emulators/emulator-thread';
import {
  type DynamoDbItem,
  type FanOutRequest,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  findStrays,
  lightQueryClient,
  plainItem,
  type QueryClient,
  type ShardedConfig,
  shardAttributes,
} from '../../../lib/core';
import { allPages } from '../../support/all-pages';
import { describeWhere } from '../../support/describe-where';
import { invoices } from '../../support/fakes/invoices';
import { indexConfig } from '../../support/index-config';
import { type Cbor, DaxServer, THROTTLED } from './dax-server';

/**
 * Runs fan-out queries through the DAX clients: `npm run conformance dax`. The tests have no real DAX cluster. The
 * clients send the DAX protocol to a stand-in, which has a query cache in front of dynalite. The command installs the
 * clients from the package.json of this folder.
 */

const isInstalled = existsSync(join(__dirname, 'node_modules'));
const describeIf = describeWhere(isInstalled, '`npm run conformance dax`');

interface DaxClient extends QueryClient {
  shutdown(): void;
}
type DaxClass = new (config: object) => DaxClient;

const byStatus = indexConfig({
  tableName: 'Invoices',
  tableKey: ['InvoiceNumber', 'ClientTransactionId'],
  keyLayout: 'single-attribute',
  shardAttribute: 'byStatusShard',
  sortKeyAttributes: ['amount'],
  shards: { default: { write: 3, read: 3 } },
});
const TTL_MS = 60_000;

describeIf.each(['Dax', 'DaxDocument'])('fan-out queries through %s', (name) => {
  const require = createRequire(join(__dirname, 'package.json'));
  let emulator: Emulator;
  let dynamoDb: DynamoDB;
  let server: DaxServer;
  let dax: DaxClient;

  const put = async (number: number): Promise<void> => {
    const item = {
      InvoiceNumber: 'i',
      ClientTransactionId: `t-${String(number).padStart(3, '0')}`,
      status: 'open',
      amount: number % 7,
    };
    const stored = { ...item, ...shardAttributes(byStatus, item), ...shardAttributes(invoices, item) };
    // The shard is calculated from the whole key of the table.
    const keyed = { ...stored, ...shardAttributes(byStatus, { ...item, ...stored }) };
    const Item = Object.fromEntries(
      Object.entries(keyed).map(([key, value]) => [
        key,
        typeof value === 'number' ? { N: `${value}` } : { S: `${value}` },
      ]),
    );
    await dynamoDb.putItem({ TableName: 'Invoices', Item });
  };

  beforeAll(async () => {
    emulator = await startDynamoDbEmulator();
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
    const key = (hash: string, range: string) => [
      { AttributeName: hash, KeyType: 'HASH' as const },
      { AttributeName: range, KeyType: 'RANGE' as const },
    ];
    await dynamoDb.createTable({
      TableName: 'Invoices',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: key('InvoiceNumber', 'ClientTransactionId'),
      AttributeDefinitions: [
        { AttributeName: 'InvoiceNumber', AttributeType: 'S' },
        { AttributeName: 'ClientTransactionId', AttributeType: 'S' },
        { AttributeName: 'byStatusShard', AttributeType: 'S' },
        { AttributeName: 'amount', AttributeType: 'N' },
      ],
      GlobalSecondaryIndexes: [
        { IndexName: 'byStatus', KeySchema: key('byStatusShard', 'amount'), Projection: { ProjectionType: 'ALL' } },
      ],
    });
    for (let number = 0; number < 60; number++) await put(number);
    const cbor: Cbor = require('cbor');
    const keys = {
      Invoices: [
        ['InvoiceNumber', 'S'],
        ['ClientTransactionId', 'S'],
      ] as [string, 'S'][],
    };
    server = new DaxServer(dynamoDb, keys, cbor, TTL_MS);
    const endpoint = await server.start();
    useErrorOfNode();
    const library = require('@amazon-dax-sdk/lib-dax');
    const { Dax } = createRequire(require.resolve('@amazon-dax-sdk/lib-dax'))('@amazon-dax-sdk/client-dax');
    const Client: DaxClass = { ...library, Dax }[name];
    dax = new Client({ endpoint, region: 'us-east-1', credentials, maxRetries: 0 });
  }, 120_000);

  afterAll(async () => {
    dax?.shutdown();
    await server?.stop();
    dynamoDb?.destroy();
    await emulator?.stop();
  });

  beforeEach(() => {
    server.nowMs += 2 * TTL_MS;
  });

  const pages = async (client: QueryClient, config: ShardedConfig, request: FanOutRequest): Promise<DynamoDbItem[]> => {
    const read = await allPages((cursor) => fanOutQuery(client, config, { ...request, cursor }));
    return read.flatMap(({ items }) => items);
  };
  const transactions = (items: DynamoDbItem[]) => items.map((item) => plainItem(item).ClientTransactionId);

  test.each<[string, ShardedConfig, FanOutRequest]>([
    ['a table in pages', invoices, { value: 'i', limit: 13 }],
    ['a table backwards', invoices, { value: 'i', limit: 7, order: 'descending' }],
    ['a table consistently', invoices, { value: 'i', consistentRead: true }],
    ['the beginning of sort keys', invoices, { value: 'i', sortKey: { beginsWith: 't-01' } }],
    ['a range of sort keys', invoices, { value: 'i', sortKey: { between: ['t-010', 't-045'] }, limit: 9 }],
    ['an index in pages', byStatus, { value: 'open', limit: 11 }],
    ['an index with ties, backwards', byStatus, { value: 'open', limit: 4, order: 'descending' }],
    ['an index above a number', byStatus, { value: 'open', sortKey: { gt: 3 }, limit: 5 }],
    ['a projection', byStatus, { value: 'open', projection: ['ClientTransactionId'], limit: 20 }],
    [
      'a filter',
      invoices,
      {
        value: 'i',
        limit: 6,
        filterExpression: '#amount >= :least OR NOT #status = :status',
        expressionAttributeNames: { '#amount': 'amount', '#status': 'status' },
        expressionAttributeValues: { ':least': { N: '5' }, ':status': { S: 'open' } },
      },
    ],
  ])('read %s with the same result as without DAX', async (_, config, request) => {
    const expected = await pages(dynamoDb, config, request);
    expect(expected.length).toBeGreaterThan(5);
    expect(await pages(dax, config, request)).toEqual(expected);
  });

  test('fan-out queries count items and stream all items', async () => {
    expect((await fanOutCount(dax, invoices, { value: 'i' })).count).toBe(60);
    const streamed: DynamoDbItem[] = [];
    for await (const item of fanOutItems(dax, byStatus, { value: 'open' })) streamed.push(item);
    expect(streamed).toHaveLength(60);
  });

  test('100 reads of the same page consume read units once', async () => {
    const units: number[] = [];
    for (let request = 0; request < 100; request++) {
      units.push((await fanOutQuery(dax, invoices, { value: 'i', limit: 10 })).stats.consumedReadUnits);
    }
    expect(units[0]).toBeGreaterThan(0);
    expect(units.slice(1)).toEqual(Array.from({ length: 99 }, () => 0));
  });

  test('fan-out queries return responses from the query cache, unless the read is consistent', async () => {
    const request: FanOutRequest = { value: 'i', order: 'descending', limit: 3 };
    const before = transactions((await fanOutQuery(dax, invoices, request)).items);
    const newest = 900 + (name === 'Dax' ? 0 : 1);
    await put(newest);
    expect(transactions((await fanOutQuery(dax, invoices, request)).items)).toEqual(before);
    const consistent = await fanOutQuery(dax, invoices, { ...request, consistentRead: true });
    expect(transactions(consistent.items)[0]).toBe(`t-${newest}`);
    expect(transactions((await fanOutQuery(dax, invoices, request)).items)).toEqual(before);
    server.nowMs += TTL_MS;
    expect(transactions((await fanOutQuery(dax, invoices, request)).items)[0]).toBe(`t-${newest}`);
    await dynamoDb.deleteItem({
      TableName: 'Invoices',
      Key: {
        InvoiceNumber: {
          S: String(
            shardAttributes(invoices, { InvoiceNumber: 'i', ClientTransactionId: `t-${newest}` }).InvoiceNumber,
          ),
        },
        ClientTransactionId: { S: `t-${newest}` },
      },
    });
  });

  test('fan-out queries retry throttled requests', async () => {
    server.refusals.push(THROTTLED, THROTTLED);
    const { items, stats } = await fanOutQuery(dax, invoices, { value: 'i', limit: 10 }, { backoffBaseMs: 0 });
    expect(items).toHaveLength(10);
    expect(stats.throttled).toBe(2);
  });

  test('the light client and findStrays reject a client of DAX', async () => {
    expect(() => lightQueryClient(dax as never)).toThrow('not supported for DAX');
    if (name === 'Dax') return;
    await expect(findStrays(dax as never, byStatus)).rejects.toThrow('client must be a client with scan');
  });
});

/**
 * The client reports errors through an event emitter of Node.js, which does not recognise the error classes of the Jest
 * context.
 */
function useErrorOfNode(): void {
  try {
    readFileSync('');
  } catch (error) {
    globalThis.Error = Object.getPrototypeOf(error).constructor;
  }
}

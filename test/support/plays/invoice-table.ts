import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { App } from 'aws-cdk-lib';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { InvoiceStack } from '../../../examples/invoice-table/invoice-stack';
import { Invoices } from '../../../examples/invoice-table/invoices';
import type { SegmentEvent } from '../../../lambda/item-mover/segment-event';
import {
  cachedQueryClient,
  type FanOutRequest,
  fanOutItems,
  fanOutQuery,
  findStrays,
  type IndexShards,
  plainItem,
  planTableReshard,
  reshardItems,
  type ShardedTableConfig,
  shardBatches,
  shardKey,
  shardKeys,
  shardUpdate,
  type TransactWrite,
  transactDelete,
  transactGet,
  transactPut,
} from '../../../lib/core';
import {
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  TABLE,
  VERSION_ATTRIBUTE,
  WRITE_UNITS_PER_SECOND,
} from '../../../lib/core/contract/function-environment';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { allPages } from '../all-pages';
import { invoices as ofSeed } from '../fakes/invoices';

process.env.JSII_DEPRECATED = 'quiet';

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

interface Transaction {
  InvoiceNumber: string;
  ClientTransactionId: string;
  amount: number;
}

/**
 * The invoice table of "Designing Partition Keys". The items of an invoice are in the partitions `121212-1` to
 * `121212-5`, sorted by client and transaction.
 */
function invoices(tableName: string, shards: IndexShards): ShardedTableConfig {
  return { ...ofSeed, tableName, shards };
}

/** Finds two clients: the only shard of the first client is also a shard of the second client. */
function meeting(placesOf: (client: number) => unknown[]): [settled: number, moving: number] {
  const clients = Array.from({ length: 100 }, (_, client) => client);
  for (const settled of clients.filter((client) => placesOf(client).length === 1)) {
    const [place] = placesOf(settled);
    const moving = clients.find((client) => client !== settled && placesOf(client).slice(1).includes(place));
    if (moving !== undefined) return [settled, moving];
  }
  throw new Error('no two clients share a shard');
}

const FIVE: IndexShards = { default: { write: 5, read: 5 } };

/**
 * Tests the invoice table of "Designing Partition Keys" on a service, with the core and with the deployed functions.
 */
export function describeInvoiceTable(
  start: () => Promise<{ endpoint: string; stop(): Promise<void> }>,
  { histories }: { histories: number },
): void {
  describe('a sharded table', () => {
    let service: Awaited<ReturnType<typeof start>>;
    let dynamoDb: DynamoDB;
    let documents: DynamoDBDocument;
    let tables = 0;
    jest.setTimeout(60_000);
    beforeAll(async () => {
      service = await start();
      dynamoDb = new DynamoDB({ region: 'us-east-1', credentials: CREDENTIALS, endpoint: service.endpoint });
      documents = DynamoDBDocument.from(dynamoDb);
    });
    afterAll(async () => {
      dynamoDb?.destroy();
      await service?.stop();
    });

    /** Invokes a bundle with the events one after the other, in one execution environment. */
    async function invoke<Answer>(
      bundle: string,
      events: object[],
      environment: Record<string, string>,
    ): Promise<Answer[]> {
      const program = `
        const { handler } = require(${JSON.stringify(join(process.cwd(), 'dist/lambda', bundle))});
        (async () => {
          const answers = [];
          for (const event of ${JSON.stringify(events)})
            answers.push(await handler(event, { getRemainingTimeInMillis: () => 40_000 }));
          console.log(JSON.stringify(answers));
        })();`;
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], {
        env: {
          ...process.env,
          AWS_LAMBDA_FUNCTION_NAME: 'It',
          AWS_ENDPOINT_URL_DYNAMODB: service.endpoint,
          AWS_REGION: 'us-east-1',
          AWS_ACCESS_KEY_ID: 'local',
          AWS_SECRET_ACCESS_KEY: 'local',
          ...environment,
        },
        maxBuffer: 50_000_000,
      });
      // The last line of the output has the response. The lines before contain metrics.
      return JSON.parse(stdout.trim().split('\n').at(-1)!);
    }

    async function createTable(): Promise<string> {
      const TableName = `Invoices-${tables++}`;
      await dynamoDb.createTable({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['InvoiceNumber', 'ClientTransactionId'].map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        KeySchema: [
          { AttributeName: 'InvoiceNumber', KeyType: 'HASH' },
          { AttributeName: 'ClientTransactionId', KeyType: 'RANGE' },
        ],
      });
      for (;;) {
        const { Table } = await dynamoDb.describeTable({ TableName });
        if (Table?.TableStatus === 'ACTIVE') return TableName;
      }
    }

    const transactions: Transaction[] = Array.from({ length: 120 }, (_, number) => ({
      InvoiceNumber: '121212',
      ClientTransactionId: `Client${number % 12}_trans${String(number).padStart(3, '0')}`,
      amount: number,
    }));
    const ids = (items: readonly { ClientTransactionId: string }[]): string[] =>
      items.map(({ ClientTransactionId }) => ClientTransactionId);
    const ofClient1 = ids(transactions)
      .filter((id) => id.startsWith('Client1_'))
      .sort();

    async function filled(): Promise<ShardedTableConfig> {
      const config = invoices(await createTable(), FIVE);
      for (const input of shardBatches([config], { put: transactions })) await documents.batchWrite(input);
      return config;
    }

    test('stores the items of an invoice with the partition keys 121212-1 to 121212-5, and returns the items of one client in order, page by page', async () => {
      const config = await filled();
      const partitions = new Set<string>();
      const request: FanOutRequest = { value: '121212', sortKey: { beginsWith: 'Client1_' }, consistentRead: true };
      const pages = await allPages((cursor) => fanOutQuery(dynamoDb, config, { ...request, limit: 4, cursor }));
      const shown = pages.flatMap(({ items }) => items.map(plainItem<Transaction>));
      expect(ids(shown)).toEqual(ofClient1);
      for (const { InvoiceNumber } of shown) partitions.add(InvoiceNumber);
      for await (const item of fanOutItems(dynamoDb, config, { value: '121212' })) {
        partitions.add(plainItem<Transaction>(item).InvoiceNumber);
      }
      expect([...partitions].sort()).toEqual([1, 2, 3, 4, 5].map((shard) => `121212-${shard}`));
    });

    test('gets, updates and deletes a single item with requests to one shard', async () => {
      const config = await filled();
      const { tableName: TableName } = config;
      const Key = shardKey(config, '121212', { ClientTransactionId: 'Client1_trans001' });
      const update = shardUpdate(
        [config],
        Key,
        {},
        {
          UpdateExpression: 'ADD amount :five',
          ConditionExpression: 'amount = :one',
          ExpressionAttributeValues: { ':five': 5, ':one': 1 },
        },
      );
      await documents.update({ TableName, Key, ...update });
      await expect(documents.get({ TableName, Key })).resolves.toMatchObject({ Item: { amount: 6 } });
      await documents.delete({ TableName, Key });
      await expect(documents.get({ TableName, Key })).resolves.not.toHaveProperty('Item');
    });

    test('rejects the cursor of another table', async () => {
      const [one, other] = [await filled(), await filled()];
      const { cursor } = await fanOutQuery(dynamoDb, one, { value: '121212', limit: 5 });
      await expect(fanOutQuery(dynamoDb, other, { value: '121212', limit: 5, cursor })).rejects.toMatchObject({
        code: 'INVALID_CURSOR',
      });
    });

    test('the query function returns pages in order, counts items, and uses its cache until the items expire', async () => {
      const config = await filled();
      const environment = {
        EVEN_SHARDS_TABLES: JSON.stringify({ Invoices: config }),
        EVEN_SHARDS_CACHE_MS: '60000',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1769',
      };
      const event = { table: 'Invoices', value: '121212', sortKey: { beginsWith: 'Client1_' } };
      const events = [
        ...Array(100).fill(event),
        { ...event, fresh: true },
        { ...event, consistentRead: true },
        { table: 'Invoices', value: '121212', select: 'count' },
      ];
      const answers = await invoke<FunctionAnswer>('query-fanout', events, environment);
      const [first, ...others] = answers.slice(0, 100);
      expect(ids(first!.items as Transaction[])).toEqual(ofClient1);
      for (const other of others) expect(other.items).toEqual(first!.items);
      const units = answers.map(({ stats }) => stats.consumedReadUnits);
      expect(units.slice(0, 100)).toEqual([5 * 0.5, ...Array(99).fill(0)]);
      expect(units.slice(100, 102)).toEqual([5 * 0.5, 5]);
      expect(answers[102]).toMatchObject({ count: 120 });
    }, 60_000);

    describe('in examples/invoice-table', () => {
      let stack: LocalStack;
      let table: ShardedTableConfig;
      beforeAll(async () => {
        const app = new App();
        new InvoiceStack(app, 'Example', { env: { account: '111111111111', region: 'us-east-1' } });
        stack = await startLocal({ app: app.synth().directory, dynamodbEndpoint: service.endpoint });
        table = invoices(stack.tables[0]!.name, FIVE);
      });
      afterAll(() => stack?.stop());
      const page = { table: 'Invoices', value: '343434', sortKey: { beginsWith: 'Client2_' }, limit: 5 };
      const answer = async (event: object) => (await stack.invoke('Example/Query/Function', event)) as FunctionAnswer;
      const added = transactions.slice(0, 40).map((each) => ({ ...each, InvoiceNumber: '343434', changedAt: '1' }));
      const ofClient2 = ids(
        added.filter(({ ClientTransactionId }) => ClientTransactionId.startsWith('Client2_')),
      ).sort();

      test('the deployed query function returns pages in order, with cursors', async () => {
        for (const input of shardBatches([table], { put: added })) await documents.batchWrite(input);
        const pages = await allPages((cursor) => answer({ ...page, limit: 2, ...(cursor && { cursor }) }));
        expect(ids(pages.flatMap(({ items }) => items as Transaction[]))).toEqual(ofClient2);
        expect((await answer(page)).items).toHaveLength(ofClient2.length);
      });

      test('the application adds, finds, sums and removes transactions, and adds no transaction twice', async () => {
        const example = new Invoices(dynamoDb, table);
        const transaction = { ...added[0]!, InvoiceNumber: '565656' };
        for (const each of added) await example.add({ ...each, InvoiceNumber: '565656' });
        await expect(example.add(transaction)).rejects.toThrow('conditional request failed');
        expect(await example.find('565656', transaction.ClientTransactionId)).toEqual(transaction);
        expect((await example.beginningWith('565656', 'Client2_')).ids).toEqual(ofClient2);
        const sum = added.reduce((total, { amount }) => total + amount, 0);
        expect(await example.total('565656')).toBe(sum);
        await example.remove('565656', added[7]!.ClientTransactionId);
        expect(await example.find('565656', added[7]!.ClientTransactionId)).toBeUndefined();
        expect(await example.total('565656')).toBe(sum - added[7]!.amount);
      });

      test('the application finds the rows of the document that begin with Client1: Client1-trans2 and Client1_trans1', async () => {
        const example = new Invoices(dynamoDb, table);
        for (const ClientTransactionId of ['Client1_trans1', 'Client1-trans2', 'Client2_trans1', 'Client2_trans2']) {
          await example.add({ InvoiceNumber: '121213', ClientTransactionId, amount: 1, changedAt: '2016-05-17' });
        }
        const { ids: found } = await example.beginningWith('121213', 'Client1');
        expect(found).toEqual(['Client1-trans2', 'Client1_trans1']);
      });

      test('during a change of the shard count, the application adds no transaction twice, and finds and removes each transaction', async () => {
        const before = new Invoices(dynamoDb, table);
        const after = new Invoices(dynamoDb, { ...table, shards: { default: { write: 6, read: 6, since: 5 } } });
        const grown = added.map((each) => ({ ...each, InvoiceNumber: '787878' }));
        for (const each of grown) await before.add(each);
        for (const each of grown) {
          await expect(after.add(each)).rejects.toThrow(/conditional request failed|ConditionalCheckFailed/);
          expect(await after.find('787878', each.ClientTransactionId)).toEqual(each);
          await after.remove('787878', each.ClientTransactionId);
        }
        expect(await after.total('787878')).toBe(0);
      });
    });

    test('the function of TableItemMover counts the items and then moves them', async () => {
      const { tableName } = await filled();
      const environment = {
        [TABLE]: JSON.stringify(invoices(tableName, { default: { write: 6, read: 6, since: 5 } })),
        [VERSION_ATTRIBUTE]: 'amount',
        [READ_UNITS_PER_SECOND]: '1000',
        [WRITE_UNITS_PER_SECOND]: '1000',
        [SEGMENTS_AT_ONCE]: '1',
      };
      const event = { segment: 0, totalSegments: 1, request: {} };
      const audit = { ...event, request: { mode: 'audit' } };
      const answers = await invoke<SegmentEvent>('item-mover', [audit, event, audit], environment);
      const [before, moving, after] = answers.map(({ totals }) => totals!);
      expect(before!.strays.misplaced).toBeGreaterThan(5);
      expect(moving).toMatchObject({ moved: before!.strays.misplaced, refused: 0, itemsScanned: 120 });
      expect(after).toMatchObject({ strays: { misplaced: 0 }, moved: 0 });
      const known = invoices(tableName, { default: { write: 6, read: 6 } });
      expect(ids((await fanOutQuery(dynamoDb, known, { value: '121212' })).items.map(plainItem<Transaction>))).toEqual(
        ids(transactions).sort(),
      );
    });

    test('no write is lost if 8 writers write while items move from 5 shards to 6', async () => {
      const { tableName: TableName } = await filled();
      const config = invoices(TableName, { default: { write: 6, read: 6, since: 5 } });
      const before = await findStrays(dynamoDb, config);
      expect(before.strays.misplaced).toBeGreaterThan(5);
      const oracle = new Map(transactions.map((each) => [each.ClientTransactionId, { ...each, version: 0, notes: 0 }]));
      let writing = true;
      const writer = async (number: number): Promise<void> => {
        const own = transactions
          .filter((_, at) => at % 8 === number)
          .map(({ ClientTransactionId }) => ClientTransactionId);
        for (let turn = 1; writing; turn++) {
          const id = own[turn % own.length]!;
          const item = { InvoiceNumber: '121212', ClientTransactionId: id, amount: turn, version: turn, notes: 0 };
          if (turn % 3 === 0) {
            await untilItPasses(() => documents.transactWrite({ TransactItems: transactPut(config, item) }));
            oracle.set(id, item);
            continue;
          }
          await untilItPasses(async () => {
            const { Responses = [] } = await documents.transactGet({
              TransactItems: transactGet(config, '121212', item),
            });
            const { InvoiceNumber, ClientTransactionId } = Responses.find(({ Item }) => Item !== undefined)!.Item!;
            await documents.update({
              TableName,
              Key: { InvoiceNumber, ClientTransactionId },
              UpdateExpression: 'SET version = :version ADD notes :one',
              ConditionExpression: 'attribute_exists(InvoiceNumber)',
              ExpressionAttributeValues: { ':version': turn, ':one': 1 },
            });
          });
          const known = oracle.get(id)!;
          oracle.set(id, { ...known, version: turn, notes: known.notes + 1 });
        }
      };
      const writers = Array.from({ length: 8 }, (_, number) => writer(number));
      const reports = await Promise.all(
        [0, 1].map((segment) =>
          reshardItems(dynamoDb, config, {
            versionAttribute: 'version',
            segment,
            totalSegments: 2,
            backoffBaseMs: 5,
          }),
        ),
      );
      writing = false;
      await Promise.all(writers);
      expect(reports.reduce((sum, { outcomes }) => sum + outcomes.moved, 0)).toBeGreaterThan(0);
      expect(reports.reduce((sum, { outcomes }) => sum + outcomes.refused, 0)).toBe(0);
      const after = invoices(TableName, { default: { write: 6, read: 6 } });
      expect((await findStrays(dynamoDb, after)).strays.misplaced).toBe(0);
      const found: object[] = [];
      for await (const item of fanOutItems(dynamoDb, after, { value: '121212', consistentRead: true })) {
        const { InvoiceNumber: _, ...stored } = plainItem<Transaction & { notes?: number; version?: number }>(item);
        found.push({ version: 0, notes: 0, ...stored });
      }
      const expected = [...oracle.values()].map(({ InvoiceNumber: _, ...written }) => written);
      const sorted = (items: object[]) => items.map((item) => JSON.stringify(Object.entries(item).sort())).sort();
      expect(sorted(found)).toEqual(sorted(expected));
    });

    /**
     * Repeats a write until it succeeds, as an application does after a cancelled transaction or after an update of an
     * item that has moved.
     */
    async function untilItPasses(write: () => Promise<unknown>): Promise<void> {
      for (;;) {
        try {
          return void (await write());
        } catch (error) {
          const passing = [
            'TransactionCanceledException',
            'TransactionConflictException',
            'ConditionalCheckFailedException',
          ];
          if (!passing.includes((error as Error).name)) throw error;
        }
      }
    }

    test(`returns the same pages as an oracle in ${histories} random histories, in which the shard count grows between pages`, async () => {
      for (let seed = 0; seed < histories; seed++) await playHistory(seed);
    }, 600_000);

    async function playHistory(seed: number): Promise<void> {
      const random = seededRandom(seed);
      const below = (count: number): number => Math.floor(random() * count);
      const tableName = await createTable();
      const [from, to] = [1 + below(6), 1 + below(6)];
      const steps = planTableReshard({ default: { write: from, read: from } }, { default: to });
      const stages = [
        { default: { write: from, read: from } },
        ...steps.flatMap((step) => (step.action === 'deploy' ? [step.shards] : [])),
      ];
      // After a move, the last stage requires that all items were moved. These histories do not move all items, so they
      // end before that stage.
      const last = steps.some(({ action }) => action === 'move') ? stages.length - 2 : stages.length - 1;
      let stage = 0;
      const config = () => invoices(tableName, stages[Math.min(last, stage + below(2))]!);
      const oracle = new Map<string, number>();
      const write = async (): Promise<void> => {
        const writes = Array.from({ length: 1 + below(5) }, async (_, writer) => {
          // Each concurrent writer writes its own items, so that the oracle knows the last write of each item.
          const ClientTransactionId = `t${writer}${below(9)}`;
          const amount = below(100);
          const item = { InvoiceNumber: '7', ClientTransactionId, amount };
          const kind = below(3);
          const config_ = config();
          if (kind === 0) {
            await apply(transactDelete(config_, '7', item));
            oracle.delete(ClientTransactionId);
          } else if (kind === 1) {
            const put = apply(transactPut(config_, item, { ifAbsent: true }));
            if (oracle.has(ClientTransactionId)) await expect(put).rejects.toThrow('ConditionalCheckFailed');
            else await put;
            oracle.set(ClientTransactionId, oracle.get(ClientTransactionId) ?? amount);
          } else {
            await apply(transactPut(config_, item));
            oracle.set(ClientTransactionId, amount);
          }
        });
        await Promise.all(writes);
      };
      const apply = async (writes: ReturnType<typeof transactPut>): Promise<void> => {
        await documents.transactWrite({ TransactItems: writes });
      };
      for (let writes = below(12); writes > 0; writes--) await write();
      for (let read = 0; read < 3; read++) {
        const order = below(2) === 0 ? 'ascending' : 'descending';
        const pages = await allPages(async (cursor) => {
          const limit = 1 + below(6);
          const request: FanOutRequest = { value: '7', order, limit, cursor, consistentRead: random() < 0.5 };
          const page = await fanOutQuery(dynamoDb, config(), request);
          if (random() < 0.3) stage = Math.min(last, stage + 1);
          return page;
        });
        const shown = ids(pages.flatMap(({ items }) => items.map(plainItem<Transaction>)));
        const expected = [...oracle.keys()].sort();
        expect([seed, shown]).toEqual([seed, order === 'ascending' ? expected : expected.reverse()]);
        await write();
      }
      for (const [ClientTransactionId, amount] of oracle) {
        const TransactItems = transactGet(config(), '7', { ClientTransactionId });
        const found = (await documents.transactGet({ TransactItems })).Responses;
        expect(found!.flatMap(({ Item }) => Item?.amount ?? [])).toEqual([amount]);
      }
      await dynamoDb.deleteTable({ TableName: tableName });
    }

    test('during a change of the shard count, no put or delete removes another item with the same sort key', async () => {
      const config = { ...invoices(await createTable(), FIVE), shardedBy: ['client'] };
      const growing: ShardedTableConfig = { ...config, shards: { default: { write: 12, read: 12, since: 5 } } };
      const itemOf = (client: number) => ({
        InvoiceNumber: '9',
        ClientTransactionId: 'one',
        client: `client-${client}`,
      });
      const placesOf = (client: number) =>
        shardKeys(growing, '9', itemOf(client)).map(({ InvoiceNumber }) => InvoiceNumber);
      const [settled, moving] = meeting(placesOf);
      const send = (TransactItems: TransactWrite[]) => documents.transactWrite({ TransactItems });
      await send(transactPut(growing, itemOf(settled)));
      await expect(send(transactPut(growing, itemOf(moving)))).rejects.toThrow('ConditionalCheckFailed');
      await expect(send(transactDelete(growing, '9', itemOf(moving)))).rejects.toThrow('ConditionalCheckFailed');
      await send(transactPut(growing, { ...itemOf(settled), amount: 2 }));
      const { items } = await fanOutQuery(dynamoDb, growing, { value: '9', consistentRead: true });
      expect(items.map(plainItem)).toEqual([expect.objectContaining({ client: `client-${settled}`, amount: 2 })]);
      await send(transactDelete(growing, '9', itemOf(settled)));
      await send(transactPut(growing, itemOf(moving)));
    });

    test('a cached client of the SDK returns pages from its cache', async () => {
      const config = await filled();
      const kept = new Map<string, string>();
      const client = cachedQueryClient(dynamoDb, kept as never);
      const request = { value: '121212', limit: 25 };
      const [first, second] = [await fanOutQuery(client, config, request), await fanOutQuery(client, config, request)];
      expect(second.items).toEqual(first.items);
      expect([first.stats.consumedReadUnits > 0, second.stats.consumedReadUnits]).toEqual([true, 0]);
    });
  });
}

interface FunctionAnswer {
  items?: object[];
  cursor?: string;
  count: number;
  stats: { consumedReadUnits: number };
}

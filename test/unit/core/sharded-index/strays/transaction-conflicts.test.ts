import { readFileSync } from 'node:fs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument, type PutCommandInput } from '@aws-sdk/lib-dynamodb';
import { transformSync } from '@swc/core';
import { reshardItems, type ShardedTableConfig, shardKeys } from '../../../../../lib/core';
import { FakeTable } from '../../../../support/fakes/fake-table';
import { invoices } from '../../../../support/fakes/invoices';
import { TransactionConflicts } from '../../../../support/transaction-conflicts';

/** Writers and movers of the same items, with the conflicts of transactions that no emulator raises. */

const OPTIONS = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
const ITEMS = 64;
const HOLD_MS = 40;
const TableName = invoices.tableName;

/** The retries in the guide adopt.md. */
function putOfGuide(): (documents: DynamoDBDocument, input: PutCommandInput) => Promise<object> {
  const blocks = readFileSync('docs/guides/adopt.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms);
  const [code] = [...blocks].map(([, block]) => block!).filter((block) => block.includes('function putDuringMoves'));
  const { code: compiled } = transformSync(`${code}\nexport { putDuringMoves };`, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  const exported: { putDuringMoves?: ReturnType<typeof putOfGuide> } = {};
  new Function('exports', 'require', compiled)(exported, require);
  return exported.putDuringMoves!;
}

let proxy: TransactionConflicts;
let client: DynamoDB;
let documents: DynamoDBDocument;

async function open(foreign: number): Promise<void> {
  const table = new FakeTable(invoices.tableKey);
  proxy = await TransactionConflicts.open(table, { tableKey: invoices.tableKey, holdMs: HOLD_MS, foreign });
  client = new DynamoDB({ ...OPTIONS, endpoint: proxy.endpoint });
  documents = DynamoDBDocument.from(client);
}
afterEach(() => {
  client?.destroy();
  proxy?.close();
});

const bodyOf = (n: number) => ({ InvoiceNumber: '121212', ClientTransactionId: `t-${n}` });

test('plain writers that retry as the guide says lose no write while a mover moves their items, and the guide predicts the number of conflicts', async () => {
  const config: ShardedTableConfig = {
    ...invoices,
    shards: { default: { write: 8, read: 8, since: 1 } },
  };
  const placesOf = (n: number) =>
    shardKeys(config, '121212', bodyOf(n)).map(({ InvoiceNumber }) => ({ ...bodyOf(n), InvoiceNumber }));
  await open(0.1);
  for (let n = 0; n < ITEMS; n++) await documents.put({ TableName, Item: { ...placesOf(n).at(-1)!, written: 0 } });

  const put = putOfGuide();
  const written = new Map<number, number>();
  let [isMoving, writes, conflicted] = [true, 0, 0];
  /** Puts the item at its present place. The mover can move the item between two attempts. */
  const write = async (n: number): Promise<void> => {
    const value = (written.get(n) ?? 0) + 1;
    for (let at = 0; ; at++) {
      const places = placesOf(n);
      const Item = { ...places[at % places.length]!, written: value };
      let attempts = 0;
      const counting = {
        put: (input: PutCommandInput) => {
          attempts += 1;
          return documents.put(input);
        },
      } as DynamoDBDocument;
      try {
        await put(counting, {
          ...{ TableName, Item, ConditionExpression: 'attribute_exists(#id)' },
          ExpressionAttributeNames: { '#id': 'InvoiceNumber' },
        });
        written.set(n, value);
        return;
      } catch (error) {
        if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
      } finally {
        writes += 1;
        if (attempts > 1) conflicted += 1;
      }
    }
  };
  const writer = async (first: number) => {
    for (let n = first; isMoving; n = (n + 8) % ITEMS) await write(n);
  };
  const startMs = performance.now();
  const moving = reshardItems(client, config, { versionAttribute: null }).finally(() => {
    isMoving = false;
  });
  const [report] = await Promise.all([moving, ...Array.from({ length: 8 }, (_, first) => writer(first))]);
  const seconds = (performance.now() - startMs) / 1_000;

  expect(report.outcomes.refused).toBe(0);
  expect(report.outcomes.moved).toBeGreaterThan(ITEMS / 2);
  for (let n = 0; n < ITEMS; n++) {
    const stored = await Promise.all(placesOf(n).map((Key) => documents.get({ TableName, Key, ConsistentRead: true })));
    expect(stored.map(({ Item }) => Item?.written)).toEqual([
      written.get(n) ?? 0,
      ...placesOf(n)
        .slice(1)
        .map(() => undefined),
    ]);
  }
  // The guide: writes a second × moves a second × seconds of a transaction / items of the table.
  const held = proxy.heldSeconds.reduce((sum, each) => sum + each, 0) / proxy.heldSeconds.length;
  const predicted = ((writes / seconds) * (proxy.heldSeconds.length / seconds) * held * seconds) / ITEMS;
  const chance = 3 * Math.sqrt(predicted);
  expect(conflicted).toBeGreaterThanOrEqual(0.4 * predicted - chance);
  expect(conflicted).toBeLessThan(2.5 * predicted + chance);
}, 60_000);

test('the SDK does not retry a put that conflicts with a transaction, and a mover sends fewer transactions while the conflict lasts', async () => {
  const config: ShardedTableConfig = {
    ...invoices,
    shards: { default: { write: 8, read: 8, since: 1 } },
  };
  await open(0);
  const n = Array.from({ length: 50 }, (_, each) => each).find(
    (each) => shardKeys(config, '121212', bodyOf(each)).length > 1,
  )!;
  const Item = { ...bodyOf(n), InvoiceNumber: String(shardKeys(config, '121212', bodyOf(n)).at(-1)!.InvoiceNumber) };
  await documents.put({ TableName, Item });
  const HELD_MS = 300;
  const holding = proxy.hold(
    { InvoiceNumber: { S: Item.InvoiceNumber }, ClientTransactionId: { S: `t-${n}` } },
    HELD_MS,
  );
  await expect(documents.put({ TableName, Item })).rejects.toThrow('Transaction is ongoing for the item');
  expect(proxy.rejected).toBe(1);
  expect((await reshardItems(client, config, { versionAttribute: null })).outcomes).toEqual({
    moved: 1,
    settled: 0,
    refused: 0,
  });
  await holding;
  const [times] = [...proxy.attempts.values()];
  // The longest waits are 50, 100, 200 ms, and so on. Without a wait, hundreds of transactions fit into the conflict.
  expect(times!.length).toBeGreaterThan(1);
  expect(times!.length).toBeLessThan(15);
  const waits = times!.slice(1).map((time, at) => time - times![at]!);
  for (const [at, wait] of waits.entries()) expect(wait).toBeLessThan(50 * 2 ** at + 400);
}, 60_000);

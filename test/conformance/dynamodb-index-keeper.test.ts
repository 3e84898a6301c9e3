import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue, CreateTableCommandInput, DynamoDB } from '@aws-sdk/client-dynamodb';
import { fanOutItems, type ShardedIndexConfig } from '../../lib/core';
import { keyTextOf } from '../../lib/core/sharded-index/keeper/table-change';
import { itemBytes } from '../../lib/core/sharded-index/query/item-bytes';
import { seededRandom } from '../../lib/testing/seeded-random';
import { indexConfig } from '../support/index-config';
import { LambdaFunction } from '../support/lambda-function';
import { randomRuns } from '../support/random-runs';
import { TableStream } from '../support/table-stream';
import { describeOnDynamoDbEmulators, serviceForTests } from './dynamodb-emulators';

/**
 * Plain writers beside the bundled functions of one keeper or two keepers, on a table with random keys and indexes. The functions
 * read the stream of the emulator, some records more than once. A proxy throttles requests, lets requests conflict and drops
 * responses, because the emulator never does so.
 */

type Item = Record<string, AttributeValue>;
type KeyType = 'S' | 'N' | 'B';

const WRITES = 90;
const VIEWS = ['NEW_AND_OLD_IMAGES', 'NEW_IMAGE', 'OLD_IMAGE', 'KEYS_ONLY'] as const;
const KEY_TYPES: readonly KeyType[] = ['S', 'N', 'B'];
const SORT_KEYS: Record<string, KeyType> = { createdAt: 'S', size: 'N', digest: 'B' };
const VALUES: Record<'S' | 'N', readonly AttributeValue[]> = {
  S: [{ S: 'open' }, { S: 'done' }, { S: 'ä€😀' }],
  N: [{ N: '7' }, { N: '-0.5' }, { N: '1E21' }],
};
/** Values that an index cannot have. DynamoDB accepts them in an attribute that is not a key. */
const INVALID_VALUES: readonly AttributeValue[] = [
  { NULL: true },
  { S: '' },
  { S: 'o#1' },
  { S: 'l'.repeat(2_047) },
  { BS: [Uint8Array.of(1, 255)] },
  { M: { a: { L: [{ B: Uint8Array.of(2) }] } } },
];

/** The errors of the proxy. It drops a lost response after the emulator has handled the request. */
const FAULTS = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'ReplicatedWriteConflictException',
  'InternalServerError',
  'lost',
] as const;

/** The random choices of a run. */
interface Plan {
  view: (typeof VIEWS)[number];
  tableKey: Record<string, KeyType>;
  indexes: ShardedIndexConfig[];
  /** The types of the values of the indexes. */
  valueTypes: Record<string, 'S' | 'N'>;
  /** The counts of an earlier release of the keeper. Absent if one keeper runs. */
  earlier: ShardedIndexConfig[] | undefined;
  faultRate: number;
}

class Random {
  readonly next: () => number;
  constructor(seed: number) {
    this.next = seededRandom(seed);
  }
  below(count: number): number {
    return Math.floor(this.next() * count);
  }
  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

function planOf(random: Random, number: number): Plan {
  const tableKey: Record<string, KeyType> = { jobId: random.oneOf(KEY_TYPES) };
  // DynamoDB returns the attributes of a map in any order, so the name of the sort key is before the name of the partition key.
  if (random.next() < 0.5) tableKey.area = random.oneOf(KEY_TYPES);
  const valueTypes: Record<string, 'S' | 'N'> = { status: 'S', level: 'N' };
  const indexCount = number % 4 === 3 ? 20 : 1 + random.below(3);
  const earlierCount = random.oneOf([undefined, undefined, 1, 2]);
  const indexOf = (at: number, count: number, choices: Random): ShardedIndexConfig => {
    const keyLayout = choices.oneOf(['multi-attribute', 'single-attribute'] as const);
    const sortKeyAttributes = Object.keys(SORT_KEYS).filter(() => choices.next() < 0.4);
    return indexConfig({
      indexName: `index${at}`,
      tableKey: Object.keys(tableKey),
      keyLayout,
      shardAttribute: `shard${at}`,
      valueAttribute: choices.oneOf(['status', 'level', 'status', undefined]),
      sortKeyAttributes: keyLayout === 'single-attribute' ? sortKeyAttributes.slice(0, 1) : sortKeyAttributes,
      strategy: choices.oneOf(['calculated', 'random'] as const),
      sparse: choices.next() < 0.3,
      firstShard: choices.oneOf([0, 1]),
      shards: {
        // Readers query more shards than writers use while a count changes.
        default: { write: count, read: count + choices.below(2) },
        ...(choices.next() < 0.3 && { byValue: { open: { write: 2 * count, read: 2 * count } } }),
      },
    });
  };
  const seeds = Array.from({ length: indexCount }, () => random.below(2 ** 30));
  const indexesOf = (count: number) => seeds.map((seed, at) => indexOf(at, count, new Random(seed)));
  return {
    view: VIEWS[number % VIEWS.length]!,
    tableKey,
    valueTypes,
    indexes: indexesOf(indexCount > 3 ? 2 : 4),
    earlier: earlierCount === undefined ? undefined : indexesOf(earlierCount),
    faultRate: random.oneOf([0, 0.25, 0.5]),
  };
}

function tableOf({ tableKey, indexes, valueTypes, view }: Plan): CreateTableCommandInput {
  const types: Record<string, string> = { ...tableKey };
  const hash = (AttributeName: string, type: string) => {
    types[AttributeName] = type;
    return { AttributeName, KeyType: 'HASH' as const };
  };
  const GlobalSecondaryIndexes = indexes.map(
    ({ indexName, keyLayout, valueAttribute, shardAttribute, sortKeyAttributes }) => {
      const isOneAttribute = keyLayout === 'single-attribute' && valueAttribute !== undefined;
      const value =
        isOneAttribute || valueAttribute === undefined ? [] : [hash(valueAttribute, valueTypes[valueAttribute]!)];
      const range = sortKeyAttributes.map((AttributeName) => {
        types[AttributeName] = SORT_KEYS[AttributeName]!;
        return { AttributeName, KeyType: 'RANGE' as const };
      });
      return {
        IndexName: indexName,
        KeySchema: [...value, hash(shardAttribute, isOneAttribute ? 'S' : 'N'), ...range],
        Projection: { ProjectionType: 'ALL' as const },
      };
    },
  );
  return {
    TableName: 'Jobs',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: Object.keys(tableKey).map((AttributeName, at) => ({
      AttributeName,
      KeyType: at === 0 ? 'HASH' : 'RANGE',
    })),
    GlobalSecondaryIndexes,
    StreamSpecification: { StreamEnabled: true, StreamViewType: view },
    AttributeDefinitions: Object.entries(types).map(([AttributeName, type]) => ({
      AttributeName,
      AttributeType: type as KeyType,
    })),
  };
}

const KEEPER_TABLE: CreateTableCommandInput = {
  TableName: 'Keeper',
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [
    { AttributeName: 'id', KeyType: 'HASH' },
    { AttributeName: 'item', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: ['id', 'item'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
};

/** The requests of the keepers to the table of the user. */
class Seen {
  updates = 0;
  reads = 0;
  faults = 0;
  readonly problems: unknown[] = [];
  /** When a writer has written an item, and the delays of the corrections. */
  readonly writtenAt = new Map<string, number>();
  readonly delays: number[] = [];
}

/** A proxy between the keepers and the emulator that makes a part of the requests fail. */
async function startProxy(endpoint: string, random: Random, { faultRate, indexes }: Plan, seen: Seen): Promise<Server> {
  const shardAttributes = indexes.map(({ shardAttribute }) => shardAttribute);
  const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const input = JSON.parse(body);
    const operation = String(request.headers['x-amz-target']).split('.')[1];
    const isOfTable = input.TableName === 'Jobs';
    // The keeper's own table fails seldom, because a failure of its state fails the whole batch.
    const fault = random.next() < (isOfTable ? faultRate : faultRate / 10) ? random.oneOf(FAULTS) : undefined;
    if (fault !== undefined) seen.faults += 1;
    if (fault !== undefined && fault !== 'lost') {
      response.writeHead(fault === 'InternalServerError' ? 500 : 400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${fault}`, message: 'later' }));
      return;
    }
    if (isOfTable && operation !== 'UpdateItem') seen.reads += 1;
    const { 'content-length': _, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(endpoint, { method: 'POST', headers, body });
    if (isOfTable && operation === 'UpdateItem') {
      expectOnlyShards(input, shardAttributes);
      if (answer.ok) {
        seen.updates += 1;
        const key = textOfKey(input.Key);
        const writtenAt = seen.writtenAt.get(key);
        if (writtenAt !== undefined) seen.delays.push(performance.now() - writtenAt);
        seen.writtenAt.delete(key);
      }
    }
    if (fault === 'lost') {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(await answer.text());
  };
  const server = createServer((request, response) => {
    answerTo(request, response).catch((error) => {
      seen.problems.push(error);
      request.socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

/** The text of a key in a request, whose binary values are texts, or in the types of the SDK. */
function textOfKey(key: Item): string {
  const binary = Object.entries(key).map(([name, { B, ...rest }]) => [
    name,
    B === undefined ? rest : { B: typeof B === 'string' ? Buffer.from(B, 'base64') : B },
  ]);
  return keyTextOf(Object.fromEntries(binary));
}

/** A correction changes only shard attributes, of an item that exists. */
function expectOnlyShards(
  input: { [name: string]: string } & { ExpressionAttributeNames: Record<string, string> },
  shardAttributes: readonly string[],
): void {
  const { UpdateExpression = '', ConditionExpression = '', ExpressionAttributeNames: names } = input;
  const changed = [...UpdateExpression.matchAll(/#\w+/g)].map(([name]) => names[name]);
  expect(shardAttributes).toEqual(expect.arrayContaining(changed));
  expect(ConditionExpression).toMatch(/^attribute_exists\(/);
}

/** Programs without the code of this library. The model has the attributes that they have written to each item. */
class PlainWriters {
  readonly model = new Map<string, Item>();
  writes = 0;
  private readonly turns = new Map<string, Promise<void>>();

  constructor(
    private readonly dynamodb: DynamoDB,
    private readonly plan: Plan,
    private readonly random: Random,
    private readonly seen: Seen,
  ) {}

  /** Writes an item. The writers of an item take turns, so that the model is exact. */
  async write(): Promise<void> {
    const Key = this.key();
    const text = textOfKey(Key);
    const turn = (this.turns.get(text) ?? Promise.resolve()).then(() => this.writeItem(Key, text));
    this.turns.set(text, turn);
    await turn;
  }

  private async writeItem(Key: Item, text: string): Promise<void> {
    const { dynamodb, random, model } = this;
    const before = model.get(text);
    const kind = random.oneOf(['put', 'put', 'put', 'set', 'set', 'remove', 'delete', 'recreate', 'whole', 'transact']);
    const Item = this.item(Key);
    if (kind === 'put') await this.send(text, Item, () => dynamodb.putItem({ TableName: 'Jobs', Item }));
    if (kind === 'transact') {
      await this.send(text, Item, () =>
        dynamodb.transactWriteItems({ TransactItems: [{ Put: { TableName: 'Jobs', Item } }] }),
      );
    }
    if (kind === 'delete' || kind === 'recreate') {
      await this.send(text, undefined, () => dynamodb.deleteItem({ TableName: 'Jobs', Key }));
    }
    if (kind === 'recreate') await this.send(text, Item, () => dynamodb.putItem({ TableName: 'Jobs', Item }));
    if (kind === 'set' || kind === 'remove') {
      const name = random.oneOf(['status', 'level', 'note', 'createdAt', 'size', 'digest']);
      const { [name]: value } = Item;
      const { [name]: _, ...others } = before ?? Key;
      const isSet = kind === 'set' && value !== undefined;
      await this.send(text, isSet ? { ...others, [name]: value } : others, () =>
        dynamodb.updateItem({
          ...{ TableName: 'Jobs', Key, ExpressionAttributeNames: { '#name': name } },
          UpdateExpression: isSet ? 'SET #name = :value' : 'REMOVE #name',
          ...(isSet && { ExpressionAttributeValues: { ':value': value } }),
        }),
      );
    }
    if (kind === 'whole' && before !== undefined) {
      const note = { S: `saved ${this.writes}` };
      const { Item: read } = await dynamodb.getItem({ TableName: 'Jobs', Key, ConsistentRead: true });
      await sleep(random.below(40));
      await this.send(text, { ...before, note }, () =>
        dynamodb.putItem({ TableName: 'Jobs', Item: { ...read, note } }),
      );
    }
  }

  /** Sends a write. DynamoDB rejects a write with an invalid key of an index. */
  private async send(text: string, after: Item | undefined, write: () => Promise<object>): Promise<void> {
    this.writes += 1;
    this.seen.writtenAt.set(text, performance.now());
    try {
      await write();
    } catch (error) {
      expect((error as Error).name).toMatch(/^(ValidationException|TransactionCanceledException)$/);
      return;
    }
    if (after === undefined) this.model.delete(text);
    else this.model.set(text, after);
  }

  private key(): Item {
    const values: Record<KeyType, (n: number) => AttributeValue> = {
      S: (n) => ({ S: `job-${n}` }),
      N: (n) => ({ N: `${n}` }),
      B: (n) => ({ B: Uint8Array.of(n, 255) }),
    };
    const { jobId, area } = this.plan.tableKey;
    return { jobId: values[jobId!](this.random.below(12)), ...(area && { area: values[area](this.random.below(2)) }) };
  }

  private item(Key: Item): Item {
    const { random } = this;
    const value = (type: 'S' | 'N') =>
      random.next() < 0.1 ? random.oneOf(INVALID_VALUES) : random.oneOf(VALUES[type]);
    const often = (item: Item): Item => (random.next() < 0.85 ? item : {});
    return {
      ...Key,
      ...often({ status: value('S') }),
      ...often({ level: value('N') }),
      ...often({ createdAt: { S: `${random.below(1_000)}` } }),
      ...often({ size: { N: `${random.below(1_000)}` } }),
      ...often({ digest: { B: Uint8Array.of(random.below(256)) } }),
      note: { S: `${this.writes}` },
    };
  }
}

/** Delivers the records of the stream to a keeper, some of them twice, and repeats a batch from its first failed record. */
class Delivery {
  private readonly earlier: object[][] = [];

  constructor(
    private readonly stream: TableStream,
    readonly keeper: LambdaFunction,
    private readonly random: Random,
  ) {}

  /** Delivers the new records. Returns their number. */
  async deliver(): Promise<number> {
    let records = 0;
    for await (const batch of this.stream.batches()) {
      if (this.random.next() < 0.2 && this.earlier.length > 0) await this.invoke(this.random.oneOf(this.earlier));
      await this.invoke(batch);
      this.earlier.push(batch);
      records += batch.length;
    }
    return records;
  }

  private async invoke(batch: object[]): Promise<void> {
    for (let from = 0; from < batch.length; ) {
      const Records = batch.slice(from);
      const { response, error } = await this.keeper.invoke({ Records }, 30_000);
      // Lambda delivers a batch again if the function fails, for example because its own table is throttled.
      if (response === undefined) {
        if (!/^(later|Unknown|socket hang up|read ECONNRESET)/.test(error!.message)) throw new Error(error!.message);
        continue;
      }
      const [failure] = JSON.parse(response).batchItemFailures;
      from = failure === undefined ? batch.length : from + indexOf(Records, failure.itemIdentifier);
    }
  }
}

function indexOf(records: readonly object[], sequenceNumber: string): number {
  return records.findIndex(
    (record) => (record as { dynamodb: { SequenceNumber: string } }).dynamodb.SequenceNumber === sequenceNumber,
  );
}

async function allItems(dynamodb: DynamoDB): Promise<Item[]> {
  const items: Item[] = [];
  for (let ExclusiveStartKey: Item | undefined; ; ) {
    const page = await dynamodb.scan({ TableName: 'Jobs', ConsistentRead: true, ExclusiveStartKey });
    items.push(...page.Items!);
    ExclusiveStartKey = page.LastEvaluatedKey;
    if (ExclusiveStartKey === undefined) return items;
  }
}

/** Queries of each value of an index find exactly the items with this value and with the sort key. */
async function expectFound(
  dynamodb: DynamoDB,
  config: ShardedIndexConfig,
  plan: Plan,
  items: readonly Item[],
): Promise<void> {
  const { valueAttribute, sortKeyAttributes } = config;
  const textsOf = (found: readonly Item[]) =>
    found.map((item) => keyTextOf(pick(item, Object.keys(plan.tableKey)) as never)).sort();
  const sorted = items.filter((item) => sortKeyAttributes.every((name) => item[name] !== undefined));
  const values = valueAttribute === undefined ? [undefined] : VALUES[plan.valueTypes[valueAttribute]!];
  for (const value of values) {
    const expected = sorted.filter((item) => value === undefined || isSame(item[valueAttribute!], value));
    const found: Item[] = [];
    const plain =
      value?.N === '1E21' ? { N: '1000000000000000000000' } : value?.N === undefined ? value?.S : Number(value.N);
    for await (const item of fanOutItems(dynamodb, config, { ...(plain !== undefined && { value: plain }) })) {
      found.push(item as Item);
    }
    expect([config, value, textsOf(found)]).toEqual([config, value, textsOf(expected)]);
  }
}

function isSame(a: AttributeValue | undefined, b: AttributeValue): boolean {
  return b.N === undefined ? a?.S === b.S : a?.N !== undefined && Number(a.N) === Number(b.N);
}

function pick(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(names.map((name) => [name, item[name]!]));
}

function without(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));
}

/** An item as text, with one notation of each number. */
function canonical(item: Item): string {
  const entries = Object.entries(item).map(([name, value]) => [
    name,
    value.N === undefined ? value : { N: Number(value.N) },
  ]);
  return JSON.stringify(
    entries.sort(([a], [b]) => (a! < b! ? -1 : 1)),
    (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value),
  );
}

describeOnDynamoDbEmulators('an index keeper beside plain writers', (emulator) => {
  const service = serviceForTests(emulator.start, { isForEachTest: true });

  const startKeeper = (at: string, indexes: readonly ShardedIndexConfig[], correct = true) =>
    LambdaFunction.start({
      name: 'index-keeper',
      endpoint: at,
      environment: {
        EVEN_SHARDS_INDEXES: JSON.stringify(Object.fromEntries(indexes.map((each) => [each.indexName, each]))),
        EVEN_SHARDS_KEEPER_TABLE_NAME: 'Keeper',
        EVEN_SHARDS_CORRECTS_ITEMS: String(correct),
        EVEN_SHARDS_READ_UNITS_PER_SECOND: '1000',
      },
    });

  const FIRST_SEED = Number(process.env.MODEL_SEED ?? 1);
  test.each(Array.from({ length: randomRuns(4) }, (_, n) => FIRST_SEED + n))(
    'after the last write, queries find every item, no write of a program is lost, and the corrections are few (seed %i)',
    async (seed) => {
      const { dynamodb, endpoint } = service;
      const plan = planOf(new Random(seed), seed);
      await dynamodb.createTable(tableOf(plan));
      await dynamodb.createTable(KEEPER_TABLE);
      const seen = new Seen();
      const proxy = await startProxy(endpoint, new Random(seed + 1), plan, seen);
      const at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const deliveries = await Promise.all(
        [plan.indexes, ...(plan.earlier ? [plan.earlier] : [])].map(
          async (indexes, n) =>
            new Delivery(await TableStream.of(endpoint, 'Jobs'), await startKeeper(at, indexes), new Random(seed + n)),
        ),
      );
      const writers = new PlainWriters(dynamodb, plan, new Random(seed + 2), seen);
      try {
        let isWriting = true;
        const keeping = deliveries.map(async (delivery) => {
          while (isWriting) await delivery.deliver().then(() => sleep(20));
        });
        await Promise.all(
          Array.from({ length: 3 }, async () => {
            for (let n = 0; n < WRITES / 3; n++) await writers.write();
          }),
        );
        isWriting = false;
        await Promise.all(keeping);
        // A correction of one keeper is a record for the other keeper.
        for (let records = 1; records > 0; ) {
          records = 0;
          for (const delivery of deliveries) records += await delivery.deliver();
        }

        expect(seen.problems).toEqual([]);
        const items = await allItems(dynamodb);
        const shardAttributes = plan.indexes.map(({ shardAttribute }) => shardAttribute);
        const ofWriters = items.map((item) => canonical(without(item, shardAttributes))).sort();
        expect(ofWriters).toEqual([...writers.model.values()].map(canonical).sort());
        for (const config of plan.indexes) await expectFound(dynamodb, config, plan, items);
        const most = plan.earlier === undefined ? 1.1 : 2.2;
        expect(seen.updates).toBeLessThanOrEqual(most * writers.writes);
        if (plan.view.startsWith('NEW')) expect(seen.reads).toBe(0);
        if (plan.faultRate > 0) expect(seen.faults).toBeGreaterThan(10);
        const delays = seen.delays.sort((a, b) => a - b);
        const median = delays[Math.floor(delays.length / 2)]!;
        const { view, tableKey, indexes, faultRate } = plan;
        console.info(
          `${JSON.stringify({ seed, view, tableKey, indexes: indexes.length, keepers: deliveries.length, faultRate })}: ` +
            `${writers.writes} writes, ${seen.updates} corrections, ${seen.reads} reads, ${seen.faults} faults, median delay ${Math.round(median)} ms`,
        );
        // A second keeper doubles the work of this process.
        if (faultRate === 0 && plan.view.startsWith('NEW') && deliveries.length === 1)
          expect(median).toBeLessThan(2_000);
      } finally {
        for (const { keeper } of deliveries) await keeper.stop();
        proxy.closeAllConnections();
        proxy.close();
      }
    },
    240_000,
  );

  test('an item without room for the shard attributes of all indexes gets some of them, is named and set aside, and does not stop its batch', async () => {
    const { dynamodb, endpoint } = service;
    const shards = { default: { write: 2, read: 2 } };
    const byStatus = indexConfig({ shardAttribute: 'statusShard', shards });
    const byDay = indexConfig({
      ...{
        indexName: 'byDay',
        keyLayout: 'single-attribute',
        valueAttribute: 'day',
        shardAttribute: 'dayShard',
        shards,
      },
    });
    const indexes = [byStatus, byDay];
    const plan: Plan = {
      ...{ view: 'NEW_IMAGE', tableKey: { jobId: 'S' }, indexes, valueTypes: { status: 'S', day: 'S' } },
      ...{ earlier: undefined, faultRate: 0 },
    };
    await dynamodb.createTable(tableOf(plan));
    await dynamodb.createTable(KEEPER_TABLE);
    const keeper = await startKeeper(endpoint, indexes);
    const delivery = new Delivery(await TableStream.of(endpoint, 'Jobs'), keeper, new Random(1));
    const limit = 400 * 1024;
    const item = (jobId: string): Item => ({
      ...{ jobId: { S: jobId }, status: { S: 'open' }, day: { S: 'monday'.repeat(20) }, createdAt: { S: '1' } },
    });
    const large = { ...item('large'), data: { S: '' } };
    // Room for the attribute "statusShard" with a number of one digit, but not for the attribute "dayShard".
    large.data = { S: 'x'.repeat(limit - itemBytes(large as never) - 15) };
    try {
      await dynamodb.putItem({ TableName: 'Jobs', Item: large });
      await dynamodb.putItem({ TableName: 'Jobs', Item: item('small') });
      let rounds = 0;
      while ((await delivery.deliver()) > 0) rounds += 1;
      expect(rounds).toBeLessThan(5);
      const items = await allItems(dynamodb);
      const shardsOf = (jobId: string) =>
        [byStatus, byDay].map(
          ({ shardAttribute }) => items.find((each) => each.jobId!.S === jobId)![shardAttribute] !== undefined,
        );
      expect([shardsOf('small'), shardsOf('large')]).toEqual([
        [true, true],
        [true, false],
      ]);
      const { response } = await keeper.invoke({ list: true });
      expect(JSON.parse(response!).items).toMatchObject([{ key: { jobId: 'large' }, reason: 'rejected' }]);
      await expectFound(dynamodb, byStatus, { ...plan, valueTypes: { status: 'S' } }, items);
    } finally {
      await keeper.stop();
    }
  }, 120_000);
});

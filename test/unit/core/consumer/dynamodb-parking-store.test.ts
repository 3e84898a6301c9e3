import { createHash } from 'node:crypto';
import {
  DynamoDbParkingStore,
  MemoryParkingStore,
  type ParkedKey,
  type ParkedRecord,
  type ParkingItem,
  type ParkingTableClient,
} from '../../../../lib/core/consumer';
import type { BaseParkingStore } from '../../../../lib/core/consumer/base-parking-store';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../../../../lib/core/contract/function-environment';
import { allOf } from '../../../support/all-of';
import { ParkingTable } from '../../../support/fakes/parking-table';

function storeOn(table: ParkingTable, answers: Partial<ParkingTableClient> = {}): DynamoDbParkingStore {
  return new DynamoDbParkingStore(table.client(answers), { tableName: 'Parked', consumer: 'c' });
}

const parkedKey = (partitionKey: string, next: number): ParkedKey => ({
  ...{ partitionKey, first: 0, next, parkedUpTo: {}, since: 0, tries: 2, retries: 0, dueAt: 0, dead: false },
});
const record = (partitionKey: string, text: string, more: Partial<ParkedRecord> = {}): ParkedRecord => ({
  ...{ partitionKey, data: Buffer.from(text), subSequenceNumber: 0, positions: [{ series: 's', number: text }] },
  ...more,
});

test('resume of a DynamoDbParkingStore uses the time of day of its options', async () => {
  const options = { tableName: 'Parked', consumer: 'c', timeOfDay: () => 7 };
  const store = new DynamoDbParkingStore(new ParkingTable().client({}), options);
  await store.save(parkedKey('a', 1), [record('a', '1')]);
  await store.resume('a');
  expect((await store.find(['a'])).get('a')).toMatchObject({ since: 7, dueAt: 7, tries: 0 });
});

test('DynamoDbParkingStore returns each record as it was parked', async () => {
  const store = storeOn(new ParkingTable());
  const records = [
    record('a', '1'),
    record('a', '2', { explicitHashKey: 2n ** 128n - 1n }),
    record('a', '3', { sequence: { producerId: 'p', sequenceNumber: 2n ** 100n } }),
    record('a', '4', { subSequenceNumber: 7 }),
    record('a', '', { isCorrupt: true }),
  ];
  const key = await store.save(parkedKey('a', records.length), records);
  expect(await allOf(store.records(key!))).toStrictEqual(records);
});

test.each([
  [10_000, 300, 3],
  [1_000, 4_000, 2],
  [2_000, 0, 1],
  [1, 10 * 2 ** 20, 4],
])(
  'save – %d records of %d bytes – takes %d transactions that DynamoDB accepts',
  async (count, length, transactions) => {
    const table = new ParkingTable();
    const sent: number[][] = [];
    const store = storeOn(table, {
      transactWriteItems: async (input) => {
        sent.push(input.TransactItems.map(({ Put }) => Put?.Item.bytes?.B.length ?? 0));
        return table.transactWriteItems(input);
      },
    });
    const records = Array.from({ length: count }, (_, index) =>
      record('a', `${index}`, { data: Buffer.alloc(length) }),
    );
    const key = await store.save(parkedKey('a', count), records);
    expect((await allOf(store.records(key!))).map(({ data }) => data.length)).toEqual(records.map(() => length));
    expect(sent).toHaveLength(transactions);
    for (const bytes of sent) {
      expect(bytes.length).toBeLessThanOrEqual(100);
      expect(Math.max(...bytes)).toBeLessThan(390_000);
      expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(3.7e6);
    }
  },
);

describe('a damaged table', () => {
  let table: ParkingTable;
  let store: DynamoDbParkingStore;
  let key: ParkedKey;
  beforeEach(async () => {
    table = new ParkingTable();
    store = storeOn(table);
    key = (await store.save(parkedKey('a', 2), [record('a', '1'), record('a', '2')]))!;
    await store.save(parkedKey('b', 1), [record('b', '1')]);
  });
  const itemWith = (attribute: string): ParkingItem => table.all.find((item) => attribute in item)!;

  test.each<[string, ParkingItem]>([
    ['a key without its revision', { revision: undefined! }],
    ['a key whose state is not JSON', { state: { S: '{' } }],
    ['a key whose state is null', { state: { S: 'null' } }],
    ['a key whose state lacks its counts', { state: { S: '{"parkedUpTo":{}}' } }],
  ])('is rejected with %s', async (_, damage) => {
    Object.assign(itemWith('revision'), damage);
    const damaged = { code: 'CORRUPT_PARKED_RECORD' };
    await expect(store.find(['a'])).rejects.toMatchObject(damaged);
    await expect(store.find(['a', 'b'])).rejects.toMatchObject(damaged);
    const listed: string[] = [];
    const list = async () => {
      for await (const { partitionKey } of store.parked()) listed.push(partitionKey);
    };
    await expect(list()).rejects.toMatchObject(damaged);
    expect(listed).toEqual(['b']);
  });

  test.each<[string, (bytes: string) => string]>([
    ['no bytes', () => ''],
    ['a missing byte', (bytes) => bytes.slice(0, -1)],
    ['an additional byte', (bytes) => `${bytes}x`],
  ])('is rejected if the records have %s', async (_, damage) => {
    const item = itemWith('bytes');
    item.bytes = { B: Buffer.from(damage(Buffer.from(item.bytes!.B!).toString())) };
    await expect(allOf(store.records(key))).rejects.toMatchObject({ code: 'CORRUPT_PARKED_RECORD' });
  });
});

test('find reads unprocessed keys again, and keys reads all pages', async () => {
  const table = new ParkingTable();
  const names = Array.from({ length: 250 }, (_, number) => `key ${number}`);
  for (const name of names) await storeOn(table).save(parkedKey(name, 1), [record(name, '1')]);
  const store = storeOn(table, {
    batchGetItem: async ({ RequestItems: { Parked } }) => {
      const [first, ...others] = Parked!.Keys;
      // DynamoDB accepts at most 100 keys.
      expect(others.length).toBeLessThan(100);
      const { Responses } = table.batchGetItem({ RequestItems: { Parked: { Keys: [first!] } } });
      return { Responses, UnprocessedKeys: others.length === 0 ? {} : { Parked: { Keys: others } } };
    },
    query: async (input) => {
      const { Items } = table.query(input as never);
      const rest = Items.filter(({ part }) => part!.S! > (input.ExclusiveStartKey?.part.S ?? ''));
      return { Items: rest.slice(0, 1), ...(rest.length > 1 && { LastEvaluatedKey: rest[0] }) };
    },
  });
  expect([...(await store.find(names)).keys()].sort()).toEqual([...names].sort());
  const listed = await allOf(store.keys());
  expect(listed.map(({ partitionKey }) => partitionKey).sort()).toEqual([...names].sort());
});

const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('base64url')}`;

test.each([
  ['is short', 'k'.repeat(498), 'k'.repeat(498)],
  ['is long', 'k'.repeat(499), hashOf('k'.repeat(499))],
  ['is empty', '', hashOf('')],
  ['looks like a hash', 'sha256:x', hashOf('sha256:x')],
])('the item name of a key that %s is the same as in earlier versions', async (_, key, name) => {
  const table = new ParkingTable();
  await storeOn(table).save(parkedKey(key, 1), [record(key, '1')]);
  expect(table.all.find((item) => 'revision' in item)!.part!.S).toBe(name);
});

test.each<[string, object]>([
  ['tableName', { tableName: '' }],
  ['consumer', { consumer: '' }],
  ['rememberDays', { rememberDays: 0 }],
  ['rememberDays', { rememberDays: Number.NaN }],
])('DynamoDbParkingStore rejects the wrong %s: %j', (field, options) => {
  const whole = { tableName: 'Parked', consumer: 'c'.repeat(128), rememberDays: 0.5 };
  const client = new ParkingTable() as never;
  expect(new DynamoDbParkingStore(client, whole).consumer).toBe(whole.consumer);
  expect(() => new DynamoDbParkingStore(client, { ...whole, ...options })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
  );
});

const rowsIn = (table: ParkingTable): ParkingItem[] => table.all.filter((item) => 'bytes' in item);

test('save – the records that this process has read are done – deletes their items', async () => {
  const table = new ParkingTable();
  const store = storeOn(table);
  let key = (await store.save(parkedKey('a', 1), [record('a', '1')]))!;
  for (const text of ['2', '3']) key = (await store.save({ ...key, next: key.next + 1 }, [record('a', text)]))!;
  await allOf(store.records(key));
  key = (await store.save({ ...key, first: 1 }))!;
  expect(rowsIn(table)).toHaveLength(2);
  await store.save({ ...key, first: 3 });
  expect(rowsIn(table)).toHaveLength(0);
});

test('every read of a key is strongly consistent', async () => {
  const table = new ParkingTable();
  const reads: unknown[] = [];
  const store = storeOn(table, {
    getItem: async (input) => {
      reads.push(input.ConsistentRead);
      return table.getItem(input);
    },
    query: async (input) => {
      reads.push(input.ConsistentRead);
      return table.query(input);
    },
    batchGetItem: async (input) => {
      reads.push(...Object.values(input.RequestItems).map(({ ConsistentRead }) => ConsistentRead));
      return table.batchGetItem(input);
    },
  });
  for (const name of ['a', 'b']) await store.save(parkedKey(name, 1), [record(name, '1')]);
  const [key] = (await store.find(['a'])).values();
  await store.find(['a', 'b']);
  await allOf(store.keys());
  await allOf(store.records(key!));
  await store.remove({ ...key!, first: 1 });
  expect(reads.length).toBeGreaterThan(6);
  expect(new Set(reads)).toEqual(new Set([true]));
});

describe('DynamoDbParkingStore.fromEnvironment', () => {
  const whole = { [PARKING_TABLE_NAME]: 'Parked', [CONSUMER_NAME]: 'c' };
  const { env } = process;
  afterEach(() => {
    process.env = env;
  });

  test('reads the names of the table and the consumer from environment variables', async () => {
    process.env = { ...env, ...whole };
    const tableNames: string[] = [];
    const getItem = async ({ TableName }: { TableName: string }) => {
      tableNames.push(TableName);
      return {};
    };
    const store = DynamoDbParkingStore.fromEnvironment(new ParkingTable().client({ getItem }));
    await store.find(['a']);
    expect([store.consumer, tableNames]).toEqual(['c', ['Parked']]);
  });

  test.each([PARKING_TABLE_NAME, CONSUMER_NAME])('throws if %s is missing', (name) => {
    process.env = { ...env, ...whole };
    delete process.env[name];
    expect(() => DynamoDbParkingStore.fromEnvironment({} as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'environment' }),
    );
  });
});

test.each<[string, () => BaseParkingStore]>([
  ['DynamoDbParkingStore', () => storeOn(new ParkingTable())],
  ['MemoryParkingStore', () => new MemoryParkingStore()],
])('if two processes change the same version of a key in a %s, the second change is rejected', async (_, made) => {
  const store = made();
  const key = (await store.save(parkedKey('a', 1), [record('a', '1')]))!;
  const changed = await store.save({ ...key, tries: 3 });
  expect(changed).toMatchObject({ tries: 3 });
  expect(await store.save({ ...key, tries: 4 })).toBeUndefined();
  expect((await allOf(store.records(changed!))).map(({ data }) => String(data))).toEqual(['1']);
  const longer = (await store.save({ ...changed!, next: 2 }, [record('a', '2')]))!;
  expect(await allOf(store.records(changed!))).toHaveLength(1);
  expect(await store.remove(key)).toBe(false);
  expect(await store.remove({ ...longer, first: 2 })).toBe(true);
  expect(await store.find(['a'])).toEqual(new Map());
});

test('the mark of a part of the keys is removed six hours after the process that set the mark was killed before it parked a key', async () => {
  const table = new ParkingTable();
  const killed = storeOn(table, { transactWriteItems: () => new Promise(() => {}) });
  void killed.save(parkedKey('a', 1), [record('a', '1')]);
  await new Promise(setImmediate);
  const now = Date.now();
  for (const [hours, marks] of [
    [5, 2],
    [7, 0],
  ] as const) {
    const spy = jest.spyOn(Date, 'now').mockReturnValue(now + hours * 60 * 60_000);
    expect(await allOf(storeOn(table).keys())).toEqual([]);
    spy.mockRestore();
    expect(Object.keys(table.all[0]!).filter((name) => /^(p\d|t)/.test(name))).toHaveLength(marks);
  }
});

test('find – a process parks two keys, and another process reads all keys before the first key is written – finds both keys', async () => {
  const table = new ParkingTable();
  let resume = (): void => {};
  const slow = storeOn(table, {
    transactWriteItems: async (input) => {
      if (input.TransactItems[0]!.Put!.Item.partitionKey!.S === 'a') {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      return table.transactWriteItems(input);
    },
  });
  const saved = slow.save(parkedKey('a', 1), [record('a', '1')]);
  await slow.save(parkedKey('b', 1), [record('b', '1')]);
  await allOf(storeOn(table).keys());
  resume();
  await saved;
  expect([...(await storeOn(table).find(['a', 'b'])).keys()]).toEqual(['a', 'b']);
});

test('remove – another process removes the mark of the same part of the keys first – succeeds', async () => {
  const table = new ParkingTable();
  const store = storeOn(table, {
    query: async (input) => {
      const page = table.query(input);
      await allOf(storeOn(table).keys());
      return page;
    },
  });
  const key = (await store.save(parkedKey('a', 1), [record('a', '1')]))!;
  expect(await store.remove({ ...key, first: 1 })).toBe(true);
});

test('remove – a save of several transactions was interrupted – deletes the items of the save, and its later transactions have no effect', async () => {
  const table = new ParkingTable();
  const key = (await storeOn(table).save(parkedKey('a', 1), [record('a', '1')]))!;
  let resume = (): void => {};
  let transactions = 0;
  const slow = storeOn(table, {
    transactWriteItems: async (input) => {
      transactions += 1;
      if (transactions === 2) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      return table.transactWriteItems(input);
    },
  });
  const large = record('a', '2', { data: Buffer.alloc(4_000_000) });
  const appended = slow.save({ ...key, next: 2 }, [large]);
  await new Promise(setImmediate);
  const now = (await storeOn(table).find(['a'])).get('a')!;
  const done = (await storeOn(table).save({ ...now, first: now.next }))!;
  expect(await storeOn(table).remove(done)).toBe(true);
  resume();
  expect(await appended).toBeUndefined();
  expect(table.all.map(({ id }) => JSON.parse(id!.S!)[1])).toEqual(['marks']);
});

test.each(['ThrottlingError', 'ProvisionedThroughputExceeded', 'TransactionConflict'])(
  'save – DynamoDB cancels the transaction for %s – sends it again',
  async (Code) => {
    const table = new ParkingTable();
    const cancelled = { name: 'TransactionCanceledException', CancellationReasons: [{ Code: 'None' }, { Code }] };
    let requests = 0;
    const store = storeOn(table, {
      transactWriteItems: async (input) => {
        requests += 1;
        if (requests < 3) throw Object.assign(new Error('cancelled'), cancelled);
        return table.transactWriteItems(input);
      },
    });
    const key = (await store.save(parkedKey('a', 1), [record('a', '1')]))!;
    expect(requests).toBe(3);
    expect(await allOf(store.records(key))).toHaveLength(1);
  },
);

import {
  type DynamoDbItem,
  findStrays,
  reshardItems,
  type ShardedTableConfig,
  type Stray,
  shardKeys,
} from '../../../../../lib/core';
import { serviceError } from '../../../../../lib/testing/service-error';
import { FakeTable } from '../../../../support/fakes/fake-table';
import { invoices as articleTable } from '../../../../support/fakes/invoices';

/** The configuration in the `move` step of a change from 5 shards to 6. */
const invoices: ShardedTableConfig = { ...articleTable, shards: { default: { write: 6, read: 6, since: 5 } } };
const options = { versionAttribute: 'changedAt' };

const body = (number: number) => ({ InvoiceNumber: '121212', ClientTransactionId: `t-${number}` });
const places = (number: number, config = invoices): DynamoDbItem[] =>
  shardKeys(config, '121212', body(number)).map((place) => ({
    InvoiceNumber: { S: String(place.InvoiceNumber) },
    ClientTransactionId: { S: `t-${number}` },
  }));
const five = { ...invoices, shards: { default: { write: 5, read: 5 } } };
const stored = (place: DynamoDbItem, changedAt = '1'): DynamoDbItem => ({
  ...place,
  amount: { N: '5' },
  tags: { SS: ['a', 'b'] },
  changedAt: { S: changedAt },
});

/** Items 0 to 119 at their keys for five shards. With six shards, 24 items have another key. */
function grown(pageItems?: number): FakeTable {
  const table = new FakeTable(invoices.tableKey, pageItems);
  for (let number = 0; number < 120; number++) table.put(stored(places(number, five)[0]!));
  return table;
}
const moving = Array.from({ length: 120 }, (_, number) => number).filter((number) => places(number).length > 1);
const [first] = moving as [number];

/** A table with one item, which is at its key for five shards. */
function withOne(): FakeTable {
  const table = new FakeTable(invoices.tableKey);
  table.put(stored(places(first)[1]!));
  return table;
}

/** Calls `action` before the first transaction. */
function beforeFirstTransaction(table: FakeTable, action: () => void): FakeTable {
  const transact = table.transactWriteItems.bind(table);
  let done = false;
  table.transactWriteItems = async (input) => {
    if (!done) action();
    done = true;
    return transact(input);
  };
  return table;
}

test.each([
  [140, null, { moved: 1, settled: 0, refused: 0 }],
  [141, null, { moved: 0, settled: 0, refused: 1 }],
  [141, 'a0', { moved: 1, settled: 0, refused: 0 }],
])(
  'reshardItems – an item with %i attributes in addition to its key, and the versionAttribute %p – the outcomes are %j',
  async (count, versionAttribute, outcomes) => {
    const table = new FakeTable(invoices.tableKey);
    const attributes = Array.from({ length: count }, (_, number) => [`a${number}`, { N: '1' }] as const);
    table.put({ ...places(first)[1]!, ...Object.fromEntries(attributes) });
    expect((await reshardItems(table, invoices, { versionAttribute })).outcomes).toEqual(outcomes);
  },
);

test('reshardItems – earlier writers calculated the shards from another attribute, and no writer is active – moves each item to the key of shardKey', async () => {
  const table = new FakeTable(five.tableKey);
  for (let number = 0; number < 50; number++) {
    table.put({ ...places(number, five)[0]!, InvoiceNumber: { S: `121212-${1 + (number % 5)}` } });
  }
  const { outcomes } = await reshardItems(table, five, { versionAttribute: null });
  expect(outcomes.moved).toBeGreaterThan(20);
  expect(outcomes.refused).toBe(0);
  expect(table.items.size).toBe(50);
  for (let number = 0; number < 50; number++) expect(table.read(places(number, five)[0]!)).toBeDefined();
});

describe('findStrays – a table that is sharded by its own key', () => {
  test('counts items in the shard of an earlier shard count as misplaced, but not as hidden', async () => {
    const table = grown(7);
    const report = await findStrays(table, invoices);
    expect(report).toMatchObject({ itemsScanned: 120, strays: { misplaced: moving.length }, hidden: 0 });
    expect(moving).toHaveLength(24);
    expect(table.transactions).toEqual([]);
  });

  const calculated = invoices;
  const random: ShardedTableConfig = { ...invoices, strategy: 'random', shardedBy: [] };

  test.each<[key: string, stray: string, config: ShardedTableConfig]>([
    ['121212-9', 'outOfRange, hidden', calculated],
    ['121212', 'malformed, hidden', calculated],
    ['121212-x', 'malformed, hidden', calculated],
    ['121212-0', 'malformed, hidden', calculated],
    ['121212-01', 'malformed, hidden', calculated],
    ['12-12-1', 'malformed, hidden', calculated],
    ['121212-6', 'none', random],
    ['121212-7', 'misplaced', { ...random, shards: { default: { write: 6, read: 7 } } }],
    ['121212-7', 'outOfRange, hidden', random],
  ])('an item with the partition key %s – the reported stray is: %s', async (key, stray, config) => {
    const table = new FakeTable(config.tableKey);
    table.put({ InvoiceNumber: { S: key }, ClientTransactionId: { S: 't-1' } });
    const found: string[] = [];
    await findStrays(
      table,
      { ...config, shards: { default: { ...config.shards.default, since: undefined } } },
      {
        onStray: ({ reason, hidden, stored }) => {
          expect(stored).toEqual({ S: key });
          found.push(`${reason}${hidden ? ', hidden' : ''}`);
        },
      },
    );
    expect(found.join() || 'none').toBe(stray);
  });

  test('reports an item that has an attribute with the name of the value attribute, and an item without the attribute that decides its shard', async () => {
    const config: ShardedTableConfig = { ...five, valueAttribute: 'number', shardedBy: ['client'] };
    const table = new FakeTable(config.tableKey);
    const put = (sortKey: string, item: DynamoDbItem) =>
      table.put({ InvoiceNumber: { S: '7-1' }, ClientTransactionId: { S: sortKey }, ...item });
    put('a', { number: { N: '8' }, client: { S: 'c' } });
    put('b', { client: { S: 'c' } });
    put('c', { number: { N: '7' } });
    put('d', { InvoiceNumber: { S: '7-9' }, number: { N: '7' }, client: { S: 'c' } });
    const found = new Map<string, string>();
    await findStrays(table, config, {
      onStray: ({ key, reason }) => void found.set((key.ClientTransactionId as { S: string }).S, reason),
    });
    expect(Object.fromEntries(found)).toEqual({
      a: 'otherValue',
      b: 'otherValue',
      c: 'invalidValue',
      d: 'outOfRange',
    });
  });
});

describe('reshardItems – a table that is sharded by its own key', () => {
  test('moves each item with all attributes, and leaves no item at the old key', async () => {
    const table = grown(9);
    const report = await reshardItems(table, invoices, options);
    expect(report).toMatchObject({ outcomes: { moved: 24, settled: 0, refused: 0 }, consumedWriteUnits: 4 * 24 });
    expect(table.items.size).toBe(120);
    for (let number = 0; number < 120; number++) {
      expect(table.read(places(number)[0]!)).toEqual(stored(places(number)[0]!));
    }
    expect(
      (await findStrays(table, { ...invoices, shards: { default: { write: 6, read: 6 } } })).strays.misplaced,
    ).toBe(0);
  });

  test('drains the shards above the write count', async () => {
    const draining = { ...invoices, shards: { default: { write: 2, read: 6 } } };
    const table = grown();
    await reshardItems(table, draining, options);
    for (const { InvoiceNumber } of table.items.values())
      expect((InvoiceNumber as { S: string }).S).toMatch(/^121212-[12]$/);
    expect(table.items.size).toBe(120);
  });

  const [target, source] = places(first) as [DynamoDbItem, DynamoDbItem];
  const { changedAt: _, ...unversioned } = stored(source);
  const late = { ...stored(source, '2'), note: { S: 'late' } };
  const moveByHand = (table: FakeTable) => {
    table.delete(source);
    table.put(stored(target, '2'));
  };

  test.each<[string, 'moved' | 'settled', (table: FakeTable) => void, DynamoDbItem[], DynamoDbItem?]>([
    ['changes it', 'moved', (table) => table.put(late), [{ ...late, ...target }]],
    ['deletes it', 'settled', (table) => table.delete(source), []],
    ['puts it at its new key', 'settled', moveByHand, [stored(target, '2')]],
    ['adds the version attribute', 'moved', (table) => table.put(stored(source)), [stored(target)], unversioned],
  ])(
    'keeps the change of another writer to an item during the move: the writer %s – the item is %s',
    async (_, outcome, change, expected, before = stored(source)) => {
      const table = new FakeTable(invoices.tableKey);
      table.put(before);
      beforeFirstTransaction(table, () => change(table));
      const { outcomes } = await reshardItems(table, invoices, options);
      expect(outcomes).toEqual({ moved: 0, settled: 0, refused: 0, [outcome]: 1 });
      expect([...table.items.values()]).toEqual(expected);
    },
  );

  test.each<[string, string | undefined]>([
    ['deleted', undefined],
    ['changed so that its key is right', 'a'],
  ])('sends no transaction for an item that another writer has %s since the scan', async (_, client) => {
    const config: ShardedTableConfig = { ...five, shardedBy: ['client'] };
    const [place] = shardKeys(config, '7', { ...body(0), client: 'a' });
    const key = { InvoiceNumber: { S: String(place!.InvoiceNumber) }, ClientTransactionId: { S: 't-0' } };
    const table = new FakeTable(config.tableKey);
    table.put({ ...key, client: { S: 'b' } });
    const scan = table.scan.bind(table);
    table.scan = async (input) => {
      const page = await scan(input);
      table.delete(key);
      if (client !== undefined) table.put({ ...key, client: { S: client } });
      return page;
    };
    expect((await reshardItems(table, config, options)).outcomes).toEqual({ moved: 0, settled: 1, refused: 0 });
    expect(table.transactions).toEqual([]);
  });

  test('without a versionAttribute, detects a change of any attribute that the scan has read', async () => {
    const table = withOne();
    beforeFirstTransaction(table, () => table.put({ ...stored(places(first)[1]!), amount: { N: '6' } }));
    await reshardItems(table, invoices, { versionAttribute: null });
    expect([...table.items.values()]).toEqual([{ ...stored(places(first)[0]!), amount: { N: '6' } }]);
    const { Delete } = Object.assign({}, ...table.transactions[0]!.TransactItems);
    expect(Object.values(Delete.ExpressionAttributeNames)).toEqual(['InvoiceNumber', 'amount', 'tags', 'changedAt']);
  });

  test('does not move an item if another item is at its new key', async () => {
    const table = withOne();
    table.put(stored(places(first)[0]!, '2'));
    const problems: unknown[] = [];
    const { outcomes } = await reshardItems(table, invoices, {
      ...options,
      onStray: (_, outcome, problem) => void problems.push([outcome, problem]),
    });
    expect(outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
    expect(problems).toEqual([['refused', 'an item already exists at one of its places']]);
    expect(table.items.size).toBe(2);
  });

  test('checks the other possible keys of an item before it moves the item', async () => {
    const table = new FakeTable(invoices.tableKey);
    const far = { InvoiceNumber: { S: '121212-9' }, ClientTransactionId: { S: `t-${first}` } };
    table.put(stored(far));
    table.put(stored(places(first)[1]!, '2'));
    const { outcomes } = await reshardItems(table, invoices, { ...options, concurrency: 1 });
    expect(outcomes.moved + outcomes.refused).toBe(2);
    expect(table.items.size).toBe(2);
    expect(table.read(far)).toEqual(stored(far));
  });

  test('rejects an item whose partition key has no shard, and continues', async () => {
    const table = new FakeTable(invoices.tableKey);
    const config = { 'config of another entity': { S: 'x' } };
    table.put({ InvoiceNumber: { S: 'CONFIG' }, ClientTransactionId: { S: 't' }, ...config });
    expect((await reshardItems(table, invoices, options)).outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
    expect(table.transactions).toEqual([]);
  });

  test('draws another random shard if an item is at the key in the drawn shard, and rejects the item after several attempts', async () => {
    const random: ShardedTableConfig = {
      ...invoices,
      shardedBy: [],
      strategy: 'random',
      shards: { default: { write: 2, read: 3 } },
    };
    const at = (shard: number): DynamoDbItem => ({
      InvoiceNumber: { S: `121212-${shard}` },
      ClientTransactionId: { S: 't' },
    });
    const table = new FakeTable(invoices.tableKey);
    for (const shard of [1, 3]) table.put({ ...at(shard), from: { N: `${shard}` } });
    const drawing = jest.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.9);
    expect((await reshardItems(table, random, options)).outcomes.moved).toBe(1);
    drawing.mockRestore();
    expect(table.read(at(2))).toEqual({ ...at(2), from: { N: '3' } });
    table.put({ ...at(3), from: { N: '3' } });
    expect((await reshardItems(table, random, options)).outcomes.refused).toBe(1);
    expect(table.items.size).toBe(3);
  });

  const cancelled = (Code: string) =>
    Object.assign(serviceError('TransactionCanceledException', 'cancelled'), {
      CancellationReasons: [{ Code: 'None' }, { Code }],
    });

  test.each<[string, Error, boolean]>([
    ['a conflict with another transaction', cancelled('TransactionConflict'), true],
    ['a throttled partition', cancelled('ProvisionedThroughputExceeded'), true],
    ['a throttled account', cancelled('ThrottlingError'), true],
    ['a transaction in progress', serviceError('TransactionInProgressException'), true],
    ['an item that DynamoDB rejects', cancelled('ValidationError'), false],
  ])('sends a transaction again after the error %s only if a retry can help', async (_, error, helps) => {
    const table = withOne();
    const transact = table.transactWriteItems.bind(table);
    let failures = 2;
    table.transactWriteItems = async (input) => (failures-- > 0 ? Promise.reject(error) : transact(input));
    const settled: unknown[] = [];
    const onStray = (_: Stray, ...outcome: unknown[]): void => void settled.push(outcome);
    await reshardItems(table, invoices, { ...options, backoffBaseMs: 0, onStray });
    expect(settled).toEqual([helps ? ['moved', undefined] : ['refused', 'cancelled']]);
  });

  test('throws if DynamoDB cancels a transaction without a reason', async () => {
    const table = withOne();
    const cause = serviceError('TransactionCanceledException');
    table.transactWriteItems = () => Promise.reject(cause);
    await expect(reshardItems(table, invoices, options)).rejects.toMatchObject({ cause });
  });

  test('rejects each item whose transaction is invalid, and continues', async () => {
    const table = grown(5);
    table.transactWriteItems = async () => {
      throw Object.assign(new Error('too large'), { name: 'ValidationException' });
    };
    const { outcomes } = await reshardItems(table, invoices, options);
    expect(outcomes).toEqual({ moved: 0, settled: 0, refused: moving.length });
  });

  test.each([undefined, 'ClientTransactionId', 5])('rejects the versionAttribute %j before it reads', async (given) => {
    const table = grown();
    const moving = reshardItems(table, invoices, { versionAttribute: given as never });
    await expect(moving).rejects.toThrow('[INVALID_ARGUMENT] versionAttribute must be');
    expect(table.scans).toEqual([]);
  });
});

import {
  calculatedShard,
  type DynamoDbItem,
  findStrays,
  InvalidArgumentError,
  InvalidCursorError,
  type ReshardItemsOptions,
  type ReshardItemsReport,
  reshardItems,
  type ShardedIndexConfig,
  type StrayScanError,
} from '../../../../../lib/core';
import { serviceError } from '../../../../../lib/testing/service-error';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { FakeTable, movedTo } from '../../../../support/fakes/fake-table';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({
  tableName: 'Orders',
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  sortKeyAttributes: [],
  shards: { default: { write: 4, read: 4 } },
});
const byTime: ShardedIndexConfig = { ...byStatus, valueAttribute: undefined };

const key = (number: number): DynamoDbItem => ({ id: { S: `o-${number}` } });
const shardOf = (number: number, status = 'sent') => ({ S: `${status}#${calculatedShard(`o-${number}`, 4)}` });

function tableOf(count: number, pageItems?: number): FakeTable {
  const table = new FakeTable(['id'], pageItems);
  for (let number = 0; number < count; number++) table.put({ ...key(number), status: { S: 'sent' }, sum: { N: '5' } });
  return table;
}

/** Calls `action` between the scan and the first update. */
function beforeFirstUpdate(table: FakeTable, action: () => void): FakeTable {
  const update = table.updateItem.bind(table);
  let done = false;
  table.updateItem = async (input) => {
    if (!done) action();
    done = true;
    return update(input);
  };
  return table;
}

describe('reshardItems', () => {
  test('sets the shards of all items of a table, and changes no other attribute', async () => {
    const table = tableOf(100, 9);
    const report = await reshardItems(table, byStatus);
    expect(report).toMatchObject({
      itemsScanned: 100,
      strays: { missing: 100 },
      hidden: 100,
      outcomes: { moved: 100, settled: 0, refused: 0 },
      consumedWriteUnits: 300,
    });
    expect(report.resumePoint).toBeUndefined();
    expect(table.read(key(7))).toEqual({ ...key(7), status: { S: 'sent' }, sum: { N: '5' }, shard: shardOf(7) });
    expect((await findStrays(table, byStatus)).strays.missing).toBe(0);
  });

  test('writes eight items in parallel by default', async () => {
    const table = tableOf(30);
    const update = table.updateItem.bind(table);
    let [inFlight, most] = [0, 0];
    table.updateItem = async (input) => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      return update(input);
    };
    await reshardItems(table, byStatus);
    expect(most).toBe(8);
  });

  test('retries updates with growing delays while transactions of the application contain the items', async () => {
    const clock = new VirtualClock();
    const table = tableOf(20);
    const update = table.updateItem.bind(table);
    const attempts = new Map<string, number>();
    table.updateItem = async (input) => {
      const id = input.Key.id!.S!;
      attempts.set(id, (attempts.get(id) ?? 0) + 1);
      if (attempts.get(id)! <= 4) throw Object.assign(new Error('in use'), { name: 'TransactionConflictException' });
      return update(input);
    };
    const run = reshardItems(table, byStatus, { clock, random: () => 0.999, concurrency: 20 });
    expect((await clock.runUntil(run)).outcomes).toEqual({ moved: 20, settled: 0, refused: 0 });
    expect([...attempts.values()]).toEqual(Array.from({ length: 20 }, () => 5));
    expect(clock.now()).toBeCloseTo(50 * (2 ** 4 - 1), -2);
  });

  test('drains the shards above the write count', async () => {
    const draining = { ...byStatus, shards: { default: { write: 2, read: 4 } } };
    const table = tableOf(100);
    await reshardItems(table, byStatus);
    await reshardItems(table, draining);
    for (const { shard } of table.items.values()) expect((shard as { S: string }).S).toMatch(/^sent#[01]$/);
  });

  test('removes the shard of an item without a value', async () => {
    const table = new FakeTable(['id']);
    table.put({ ...key(1), shard: { S: 'sent#1' } });
    expect((await reshardItems(table, byStatus)).outcomes.moved).toBe(1);
    expect(table.read(key(1))).toEqual(key(1));
  });

  const paid = { ...key(0), status: { S: 'paid' } };
  const fixed = { ...key(0), status: { S: 'sent' }, shard: shardOf(0), sum: { N: '6' } };
  const changed = { ...key(0), status: { S: 'sent' }, sum: { N: '6' } };

  test.each<[string, 'moved' | 'settled', ShardedIndexConfig, (table: FakeTable) => void, DynamoDbItem | undefined]>([
    ['deletes it', 'settled', byStatus, (table) => table.delete(key(0)), undefined],
    ['deletes it (an index over the whole table)', 'settled', byTime, (table) => table.delete(key(0)), undefined],
    ['changes its value', 'moved', byStatus, (table) => table.put(paid), { ...paid, shard: shardOf(0, 'paid') }],
    ['corrects its shard', 'settled', byStatus, (table) => table.put(fixed), fixed],
    ['changes another attribute', 'moved', byStatus, (table) => table.put(changed), fixed],
  ])(
    'keeps the change of another writer to an item during the move: the writer %s – the item is %s',
    async (_, outcome, config, change, expected) => {
      const table = tableOf(1);
      const getItem = jest.spyOn(table, 'getItem');
      const { outcomes } = await reshardItems(
        beforeFirstUpdate(table, () => change(table)),
        config,
      );
      expect(outcomes).toEqual({ moved: 0, settled: 0, refused: 0, [outcome]: 1 });
      expect(table.read(key(0))).toEqual(expected);
      for (const [input] of getItem.mock.calls) expect(input).toMatchObject({ ConsistentRead: true });
    },
  );

  test.each(['ValidationException', 'ItemCollectionSizeLimitExceededException'])(
    'continues after an item that DynamoDB rejects with %s, and after a value of an invalid type',
    async (name) => {
      const table = tableOf(3);
      table.put({ ...key(3), status: { BOOL: true } });
      const update = table.updateItem.bind(table);
      table.updateItem = async (input) => {
        if ((input.Key.id as { S: string }).S !== 'o-1') return update(input);
        throw Object.assign(new Error('Item size has exceeded the maximum'), { name });
      };
      const refusals: unknown[] = [];
      const report = await reshardItems(table, byStatus, {
        onStray: (stray, outcome, problem) => {
          if (outcome === 'refused') refusals.push([stray.key.id, problem]);
        },
      });
      expect(report.outcomes).toEqual({ moved: 2, settled: 0, refused: 2 });
      expect(refusals).toHaveLength(2);
      expect(refusals).toEqual(
        expect.arrayContaining([
          [{ S: 'o-1' }, 'Item size has exceeded the maximum'],
          [{ S: 'o-3' }, 'the value is not a non-empty string or a number'],
        ]),
      );
    },
  );

  describe('with an item that the index rejects', () => {
    /** A table with one item. Its index rejects keys of more than 2,048 bytes. */
    function tableWith(item: DynamoDbItem): FakeTable {
      const table = tableOf(0);
      table.put({ ...key(0), ...item });
      const update = table.updateItem.bind(table);
      table.updateItem = async (input) => {
        if (Buffer.byteLength(movedTo(input) ?? '') > 2_048)
          throw serviceError('ValidationException', 'Size of hashkey has exceeded the maximum size limit of2048 bytes');
        return update(input);
      };
      return table;
    }

    test.each<[string, DynamoDbItem]>([
      ['too long', { status: { S: 'x'.repeat(2_047) } }],
      ['null', { status: { NULL: true } }],
      ['empty', { status: { S: '' } }],
      ['of another type', { status: { L: [{ S: 'sent' }] } }],
    ])(
      'removes the shard of the earlier value if the value is %s, and counts the item as refused',
      async (_, value) => {
        const table = tableWith({ ...value, shard: shardOf(0), sum: { N: '5' } });
        const refused = { outcomes: { moved: 0, settled: 0, refused: 1 } };
        expect(await reshardItems(table, byStatus)).toMatchObject({ ...refused, consumedWriteUnits: 3 });
        expect(table.read(key(0))).toEqual({ ...key(0), ...value, sum: { N: '5' } });
        expect(await reshardItems(table, byStatus)).toMatchObject({ ...refused, consumedWriteUnits: 0 });
      },
    );

    test('keeps the shard that another writer gives the item during the move', async () => {
      const table = tableWith({ status: { NULL: true }, shard: shardOf(0) });
      const written = { ...key(0), status: { S: 'paid' }, shard: shardOf(0, 'paid') };
      const changed = beforeFirstUpdate(table, () => table.put(written));
      expect((await reshardItems(changed, byStatus)).outcomes.settled).toBe(1);
      expect(table.read(key(0))).toEqual(written);
    });

    test('keeps a shard in which queries for the value find the item', async () => {
      const config = { ...byStatus, shards: { default: { write: 12, read: 12 } } };
      const number = Array.from({ length: 100 }, (_, n) => n).find((n) => calculatedShard(`o-${n}`, 12) >= 10)!;
      const found = { ...key(number), status: { S: 'x'.repeat(2_046) }, shard: { S: `${'x'.repeat(2_046)}#9` } };
      const table = tableWith(found);
      expect(await reshardItems(table, config)).toMatchObject({ strays: { misplaced: 1 }, outcomes: { refused: 1 } });
      expect(table.read(key(number))).toEqual(found);
    });
  });

  test('stays within writeUnitsPerSecond', async () => {
    const clock = new VirtualClock();
    const run = reshardItems(tableOf(200), byStatus, { writeUnitsPerSecond: 30, clock });
    const report = await clock.runUntil(run);
    const perSecond = report.consumedWriteUnits / (clock.now() / 1_000);
    expect(perSecond).toBeGreaterThan(28);
    expect(perSecond).toBeLessThan(33);
  });

  test('stops when its signal aborts during a wait, and continues after the items that were written', async () => {
    const clock = new VirtualClock();
    const table = tableOf(100);
    const controller = new AbortController();
    clock.schedule(() => controller.abort(), 5_000);
    const options = { writeUnitsPerSecond: 30, clock, concurrency: 3 };
    const first = await clock.runUntil(reshardItems(table, byStatus, { ...options, signal: controller.signal }));
    expect(clock.now()).toBeLessThan(5_200);
    expect(first.outcomes.moved).toBeGreaterThan(40);
    const rest = await clock.runUntil(reshardItems(table, byStatus, { ...options, resumeFrom: first.resumePoint! }));
    expect(first.outcomes.moved + rest.outcomes.moved).toBe(100);
    expect(first.itemsScanned + rest.itemsScanned).toBe(100);
    expect(table.updates).toHaveLength(100);
  });

  test.each([11, 12, 16])(
    'throws an error with its report after a failed write, and the next run continues from this report: write %d',
    async (failing) => {
      const table = tableOf(30, 10);
      const update = table.updateItem.bind(table);
      let updates = 0;
      table.updateItem = async (input) => {
        if (++updates === failing) throw Object.assign(new Error('not allowed'), { name: 'AccessDeniedException' });
        return update(input);
      };
      const failure = await reshardItems(table, byStatus, { concurrency: 1 }).catch((error: unknown) => error);
      const { report } = failure as StrayScanError;
      const [done, left] = [failing - 1, 31 - failing];
      expect(report).toMatchObject({ itemsScanned: done, outcomes: { moved: done } });
      const rest = await reshardItems(table, byStatus, { resumeFrom: report.resumePoint! });
      expect(rest).toMatchObject({ itemsScanned: left, outcomes: { moved: left } });
    },
  );

  test.each([
    ['moved', { S: 'sent' }],
    ['refused', { BOOL: true }],
  ] as const)(
    'the reports of all runs count each of the %s items once, although onStray throws',
    async (outcome, status) => {
      const table = tableOf(60, 20);
      for (let number = 0; number < 60; number++) table.put({ ...key(number), status });
      const sums = { itemsScanned: 0, strays: 0, outcomes: 0 };
      let [resumeFrom, calls]: [string | undefined, number] = [undefined, 0];
      do {
        let calledTimes = 0;
        const onStray = () => {
          if (++calledTimes === 4) throw new Error('disk full');
        };
        const options: ReshardItemsOptions = {
          concurrency: 4,
          onStray,
          ...(resumeFrom !== undefined && { resumeFrom }),
        };
        const report: ReshardItemsReport = await reshardItems(table, byStatus, options).catch(({ report }) => report);
        sums.itemsScanned += report.itemsScanned;
        sums.strays += report.strays.missing + report.strays.invalidValue;
        sums.outcomes += report.outcomes[outcome];
        resumeFrom = report.resumePoint;
        calls += 1;
      } while (resumeFrom !== undefined);
      expect(calls).toBeGreaterThan(5);
      expect(sums).toEqual({ itemsScanned: 60, strays: 60, outcomes: 60 });
    },
  );

  test.each<[string, object]>([
    ['an onStray that is no function', { onStray: 5 }],
    ['a writeUnitsPerSecond of 0', { writeUnitsPerSecond: 0 }],
    ['a concurrency of 0', { concurrency: 0 }],
  ])('rejects %s, and writes nothing', async (_, options) => {
    const table = tableOf(3);
    await expect(reshardItems(table, byStatus, options)).rejects.toBeInstanceOf(InvalidArgumentError);
    expect([table.scans, table.updates]).toEqual([[], []]);
  });

  test('rejects a resume point that findStrays has returned', async () => {
    const table = tableOf(3);
    const { resumePoint } = await findStrays(table, byStatus, { signal: AbortSignal.abort() });
    await expect(reshardItems(table, byStatus, { resumeFrom: resumePoint! })).rejects.toBeInstanceOf(
      InvalidCursorError,
    );
    expect(table.updates).toEqual([]);
  });
});

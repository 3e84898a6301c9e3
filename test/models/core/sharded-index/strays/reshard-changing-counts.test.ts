import {
  calculatedShard,
  findStrays,
  InvalidCursorError,
  reshardItems,
  type ShardedConfigSource,
  type ShardedIndexConfig,
} from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { FakeTable, movedTo } from '../../../../support/fakes/fake-table';
import { indexConfig } from '../../../../support/index-config';

const ITEMS = 60;

const byStatus = indexConfig({
  tableName: 'Orders',
  tableKey: ['id'],
  keyLayout: 'single-attribute',
  sortKeyAttributes: [],
});

/** An index whose counts a test changes. */
class ChangingIndex implements ShardedConfigSource {
  readonly initial = byStatus;
  private config: ShardedIndexConfig;

  constructor(write: number, read: number) {
    this.config = countsOf(write, read);
  }

  set(write: number, read: number): void {
    this.config = countsOf(write, read);
  }

  async forReading(): Promise<ShardedIndexConfig> {
    return this.config;
  }
}

function countsOf(write: number, read: number): ShardedIndexConfig {
  return { ...byStatus, shards: { default: { write: 1, read: 1 }, byValue: { sent: { write, read } } } };
}

/** Returns a table with pages of ten items. The items are at their places for this count. */
function tableBy(count: number): FakeTable {
  const table = new FakeTable(['id'], 10);
  for (let number = 0; number < ITEMS; number++) {
    const id = `o-${number}`;
    table.put({ id: { S: id }, status: { S: 'sent' }, shard: { S: `sent#${calculatedShard(id, count)}` } });
  }
  return table;
}

const shardsOf = (table: FakeTable): number[] =>
  [...table.items.values()].map(({ shard }) => Number((shard as { S: string }).S.split('#')[1]));

/** Runs an action before this page of a scan. */
function atPage(table: FakeTable, page: number, action: () => void): FakeTable {
  const scan = table.scan.bind(table);
  table.scan = async (input) => {
    if (table.scans.length === page - 1) action();
    return scan(input);
  };
  return table;
}

describe('reshardItems of an index whose counts change during the scan', () => {
  test('starts again if a count decreases, because items of earlier pages are in the shards to drain', async () => {
    const index = new ChangingIndex(8, 8);
    const table = atPage(tableBy(8), 4, () => index.set(2, 8));
    const { itemsScanned, resumePoint } = await reshardItems(table, index);
    expect(Math.max(...shardsOf(table))).toBe(1);
    expect([itemsScanned, resumePoint]).toEqual([40 + ITEMS, undefined]);
  });

  test('starts again if a count decreases on the last page', async () => {
    const index = new ChangingIndex(8, 8);
    const table = atPage(tableBy(8), 6, () => index.set(2, 8));
    await reshardItems(table, index);
    expect(Math.max(...shardsOf(table))).toBe(1);
  });

  test('starts again if a count decreases and then increases while the items of one page are moved', async () => {
    const index = new ChangingIndex(8, 8);
    const read = index.forReading.bind(index);
    let questions = 0;
    index.forReading = async () => {
      questions += 1;
      if (questions === 4) index.set(2, 8);
      if (questions === 6) index.set(8, 8);
      return read();
    };
    const { itemsScanned } = await reshardItems(tableBy(1), index);
    expect(itemsScanned).toBe(10 + ITEMS);
  });

  test('after a stop, starts again from the beginning if a count decreased on the last page before the stop', async () => {
    const index = new ChangingIndex(8, 8);
    const stop = new AbortController();
    const table = atPage(tableBy(8), 4, () => index.set(2, 8));
    const update = table.updateItem.bind(table);
    table.updateItem = async (input) => {
      if (table.updates.length === 1) stop.abort();
      return update(input);
    };
    const { resumePoint } = await reshardItems(table, index, { concurrency: 1, signal: stop.signal });
    await reshardItems(table, index, { resumeFrom: resumePoint! });
    expect(Math.max(...shardsOf(table))).toBe(1);
  });

  test('continues if a count increases, and moves items by the new count', async () => {
    const index = new ChangingIndex(2, 8);
    const table = atPage(tableBy(1), 4, () => index.set(8, 8));
    expect((await reshardItems(table, index)).itemsScanned).toBe(ITEMS);
    expect(Math.max(...shardsOf(table))).toBeGreaterThan(1);
  });

  test('uses the decreased count if a count decreases while the scan waits for write units', async () => {
    const clock = new VirtualClock();
    const index = new ChangingIndex(8, 8);
    const table = tableBy(1);
    clock.schedule(() => index.set(2, 8), 30_000);
    const moved: [number, number][] = [];
    const update = table.updateItem.bind(table);
    table.updateItem = async (input) => {
      moved.push([clock.now(), Number(movedTo(input)!.split('#')[1])]);
      return update(input);
    };
    await clock.runUntil(reshardItems(table, index, { clock, writeUnitsPerSecond: 0.5 }));
    const shards = (late: boolean) => moved.filter(([at]) => at >= 30_000 === late).map(([, shard]) => shard);
    expect(Math.max(...shards(false))).toBeGreaterThan(1);
    expect(Math.max(...shards(true))).toBe(1);
    expect(Math.max(...shardsOf(table))).toBe(1);
  });

  test('checks an item again with the current counts if another writer has changed the item', async () => {
    const index = new ChangingIndex(8, 8);
    const table = tableBy(1);
    const update = table.updateItem.bind(table);
    table.updateItem = async (input) => {
      if (table.updates.length === 0) {
        index.set(2, 8);
        table.put({ ...table.read(input.Key)!, shard: { S: 'sent#7' } });
      }
      return update(input);
    };
    await reshardItems(table, index, { concurrency: 1 });
    expect(Math.max(...shardsOf(table))).toBe(1);
  });

  test('rejects a resume point that was written with other counts', async () => {
    const index = new ChangingIndex(8, 8);
    const stop = new AbortController();
    const table = atPage(tableBy(8), 3, () => stop.abort());
    const { resumePoint } = await reshardItems(table, index, { signal: stop.signal });
    expect((await reshardItems(table, index, { resumeFrom: resumePoint! })).itemsScanned).toBeLessThan(ITEMS);
    index.set(8, 9);
    await expect(reshardItems(table, index, { resumeFrom: resumePoint! })).rejects.toThrow(InvalidCursorError);
  });

  test('reports its progress if it can no longer read the counts', async () => {
    const index = new ChangingIndex(8, 8);
    const table = atPage(tableBy(8), 3, () => {
      index.forReading = () => Promise.reject(new Error('the table of counts is down'));
    });
    const failure = await reshardItems(table, index).catch((error) => error);
    expect(failure).toMatchObject({ code: 'STRAY_SCAN_FAILED', report: { itemsScanned: 20 } });
    expect(failure.message).toContain('the table of counts is down');
    const { itemsScanned } = await reshardItems(table, new ChangingIndex(8, 8), {
      resumeFrom: failure.report.resumePoint,
    });
    expect(itemsScanned).toBe(40);
  });
});

describe('findStrays of an index whose counts change during the scan', () => {
  test('does not report an item as hidden if readers with the current counts query its shard', async () => {
    const index = new ChangingIndex(1, 1);
    const table = atPage(tableBy(1), 4, () => {
      index.set(8, 8);
      for (const item of table.items.values()) table.put({ ...item, shard: { S: 'sent#7' } });
    });
    expect(await findStrays(table, index)).toMatchObject({ itemsScanned: ITEMS, hidden: 0 });
  });
});

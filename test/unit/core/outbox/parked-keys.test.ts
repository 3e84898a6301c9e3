import type { HeldRange, OutboxDatabase, OutboxRow, ParkedRow } from '../../../../lib/core/outbox/outbox-database';
import { ParkedKeys, type PutRows } from '../../../../lib/core/outbox/parked-keys';
import type { RelaySettings } from '../../../../lib/core/outbox/relay-options';
import type { RelaySummary } from '../../../../lib/core/outbox/relay-summary';
import { VirtualClock } from '../../../../lib/testing';

const MOST_KEYS = 10_000;

/** Parked keys of a range of which an earlier worker has left so many in the table. */
async function loaded(count: number): Promise<ParkedKeys> {
  const database: Pick<OutboxDatabase, 'parkedKeys'> = {
    parkedKeys: async (_, limit) =>
      Array.from({ length: Math.min(count, limit) }, (__, number) => ({ partitionKey: `key-${number}`, tries: 0 })),
  };
  const parked = new ParkedKeys(
    database as OutboxDatabase,
    { number: 1 } as HeldRange,
    { clock: new VirtualClock() } as unknown as RelaySettings,
    {} as RelaySummary,
    async () => {},
    () => {},
  );
  await parked.load();
  return parked;
}

test.each([
  [0, false],
  [MOST_KEYS - 1, false],
  [MOST_KEYS, true],
  [MOST_KEYS + 1, true],
])('with %i parked keys, more rows are held back: %s', async (count, isFull) => {
  expect((await loaded(count)).isFull).toBe(isFull);
});

test('a key that is left in the table is not known', async () => {
  const parked = await loaded(MOST_KEYS + 1);
  expect([`key-${MOST_KEYS - 1}`, `key-${MOST_KEYS}`].map((key) => parked.has(key))).toEqual([true, false]);
});

describe('the rows of a key that go to two streams', () => {
  const rowOf = (id: bigint): ParkedRow => {
    const sequence = { producerId: 'outbox', sequenceNumber: id };
    const read = { id, hasEnded: false };
    return { id, partitionKey: 'key', data: new Uint8Array(), sequence, read, tries: 0 };
  };
  const [first, second] = [rowOf(1n), rowOf(2n)];

  /** Parked keys over a table, and what is put of them. */
  function parkedOver(isRefused: (row: OutboxRow, put: number) => boolean) {
    let table: ParkedRow[] = [];
    const puts: bigint[][] = [];
    let reads = 0;
    const clock = new VirtualClock();
    const database: Partial<OutboxDatabase> = {
      park: async (_, rows) => {
        table = [...table, ...(rows as ParkedRow[])].sort((a, b) => Number(a.id - b.id));
        return true;
      },
      readParked: async (_, [key], { maxRows }) => {
        reads += 1;
        const found = table.filter(({ id }) => id > key!.afterId).slice(0, maxRows);
        await clock.sleep(1);
        return found;
      },
      removeParked: async (gone) => {
        table = table.filter((row) => !gone.includes(row));
      },
      countTry: async () => {},
    };
    const put: PutRows = async (rows, ends) => {
      if (rows.length > 0) puts.push(rows.map(({ id }) => id));
      for (const row of rows) {
        if (isRefused(row, puts.length)) ends.rejected(row, new Error('refused'));
        else ends.delivered(row);
      }
    };
    const settings = { clock, windowRows: 10, windowBytes: 1_000, retryMs: 1, onRejected: () => {} };
    const parked = new ParkedKeys(
      database as OutboxDatabase,
      { number: 1 } as HeldRange,
      settings as unknown as RelaySettings,
      {} as RelaySummary,
      put,
      () => {},
    );
    const untilEmpty = async (): Promise<void> => {
      while (parked.has('key')) await clock.sleep(1);
    };
    return { parked, puts, clock, untilEmpty, left: () => table.map(({ id }) => id), reads: () => reads };
  }

  test('are all put, though one stream takes a later row than the other refuses', async () => {
    const { parked, puts, clock, untilEmpty, left } = parkedOver((row, put) => put === 1 && row === first);
    for (const row of [first, second]) parked.expect(row);
    await parked.park([first, second]);
    const running = parked.run();
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([puts, left()]).toEqual([[[1n, 2n], [1n]], []]);
  });

  test('are put in order, though one is refused while a later one is in the table', async () => {
    const { parked, puts, clock, untilEmpty, left } = parkedOver(() => false);
    parked.expect(second);
    await parked.park([second]);
    const running = parked.run();
    parked.reject(first);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([puts.flat(), left()]).toEqual([[1n, 2n], []]);
  });

  test('are all put, though one comes to the table when a later one is gone', async () => {
    const { parked, puts, clock, untilEmpty, left } = parkedOver(() => false);
    for (const row of [first, second]) parked.expect(row);
    await parked.park([second]);
    const running = parked.run();
    await clock.runUntil(clock.sleep(10));
    await parked.park([first]);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([puts, left()]).toEqual([[[2n], [1n]], []]);
  });

  test('are read when they are in the table, and not over and over before', async () => {
    const { parked, puts, clock, untilEmpty, reads } = parkedOver(() => false);
    parked.expect(first);
    const running = parked.run();
    await clock.runUntil(clock.sleep(100));
    const readsBefore = reads();
    await parked.park([first]);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([readsBefore, puts]).toEqual([0, [[1n]]]);
  });

  test('are read no more when none is in the table but one is still to be parked', async () => {
    const { parked, puts, clock, untilEmpty, reads } = parkedOver(() => false);
    for (const row of [first, second]) parked.expect(row);
    await parked.park([first]);
    const running = parked.run();
    await clock.runUntil(clock.sleep(100));
    const readsBefore = reads();
    await parked.park([second]);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    // The first read finds the row, the second that there is no other.
    expect([readsBefore, puts]).toEqual([2, [[1n], [2n]]]);
  });
});

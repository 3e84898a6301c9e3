import type { HeldRange, OutboxDatabase, OutboxRow, ParkedRow } from '../../../../lib/core/outbox/outbox-database';
import { OutboxLeaseError, OutboxRowError } from '../../../../lib/core/outbox/outbox-errors';
import { ParkedKeys, type PutRows } from '../../../../lib/core/outbox/parked-keys';
import type { RelaySettings } from '../../../../lib/core/outbox/relay-options';
import { noRelaySummary, type RelaySummary } from '../../../../lib/core/outbox/relay-summary';
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

test('keys that were left in the table follow when half of the others are gone', async () => {
  const clock = new VirtualClock();
  const left = new Set(Array.from({ length: MOST_KEYS + 1 }, (_, number) => `key ${number}`));
  const loads: number[] = [];
  const database: Partial<OutboxDatabase> = {
    parkedKeys: async (_, limit) => {
      loads.push(left.size);
      return [...left].slice(0, limit).map((partitionKey) => ({ partitionKey, tries: 0 }));
    },
    readParked: async (_, keys) =>
      keys
        .filter(({ partitionKey }) => left.has(partitionKey))
        .map(({ partitionKey }) => ({ id: 1n, partitionKey, tries: 0 }) as ParkedRow),
    removeParked: async (gone) => {
      for (const { partitionKey } of gone) left.delete(partitionKey);
    },
    countTry: async () => {},
  };
  let changes = 0;
  let puts = 0;
  const parked = new ParkedKeys(
    database as OutboxDatabase,
    { number: 1 } as HeldRange,
    { clock, windowRows: 100, windowBytes: 100, retryMs: 60_000, onRejected: () => {} } as unknown as RelaySettings,
    noRelaySummary(),
    async (rows, ends) => {
      for (const row of rows) {
        if (row.partitionKey !== 'key 0') ends.delivered(row);
        else ends.rejected(row, new Error('refused'));
      }
      if (rows.length > 1 && rows.some(({ partitionKey }) => partitionKey === 'key 0')) puts += 1;
    },
    () => {
      changes += 1;
    },
  );
  await parked.load();
  expect(changes).toBe(1);
  const running = parked.run();
  const untilEmpty = async (): Promise<void> => {
    while (left.size > 1) await clock.sleep(1);
  };
  await clock.runUntil(untilEmpty());
  parked.stop();
  await clock.runUntil(running);
  expect(loads).toHaveLength(2);
  expect(loads[1]).toBeLessThan(MOST_KEYS / 2 + 200);
  expect(parked.isFull).toBe(false);
  // A key of which a row was refused is put by itself, before the others follow and afterwards.
  expect(puts).toBe(1);
  // Whoever waits for room hears of each put.
  expect(changes).toBeGreaterThan(MOST_KEYS / 32);
});

test('a range that another worker has is not begun', async () => {
  const database: Partial<OutboxDatabase> = { parkedKeys: async () => undefined };
  const settings = { clock: new VirtualClock() } as unknown as RelaySettings;
  const [range, summary] = [{ number: 1 } as HeldRange, noRelaySummary()];
  const parked = new ParkedKeys(
    database as OutboxDatabase,
    range,
    settings,
    summary,
    async () => {},
    () => {},
  );
  await expect(parked.load()).rejects.toThrow(OutboxLeaseError);
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
  let [first, second, third] = [rowOf(1n), rowOf(2n), rowOf(3n)];
  beforeEach(() => {
    [first, second, third] = [rowOf(1n), rowOf(2n), rowOf(3n)];
  });

  /** Parked keys over a table, and what is put of them. */
  function parkedOver(
    isRefused: (row: OutboxRow, put: number) => boolean,
    { maxTries, ...lost }: { maxTries?: number } & Partial<OutboxDatabase> = {},
  ) {
    let table: ParkedRow[] = [];
    const puts: bigint[][] = [];
    const readBehind: bigint[] = [];
    const told: OutboxRowError[] = [];
    const summary = noRelaySummary();
    const withoutRow = (gone: OutboxRow) => table.filter(({ id }) => id !== gone.id);
    const clock = new VirtualClock();
    const database: Partial<OutboxDatabase> = {
      park: async (_, rows) => {
        table = [...table, ...(rows as ParkedRow[])].sort((a, b) => Number(a.id - b.id));
        return true;
      },
      readParked: async (_, [key], { maxRows }) => {
        readBehind.push(key!.afterId);
        const found = table.filter(({ id }) => id > key!.afterId).slice(0, maxRows);
        await clock.sleep(1);
        return found;
      },
      removeParked: async (gone) => {
        for (const row of gone) table = withoutRow(row);
      },
      countTry: async (row) => {
        table = table.map((each) => (each.id === row.id ? { ...each, tries: each.tries + 1 } : each));
      },
      giveUp: async (row) => {
        table = withoutRow(row);
      },
      ...lost,
    };
    const put: PutRows = async (rows, ends) => {
      const going = rows.filter((row) => ends.mayGo(row));
      if (going.length > 0) puts.push(going.map(({ id }) => id));
      for (const row of going) {
        if (isRefused(row, puts.length)) ends.rejected(row, new Error('refused'));
        else ends.delivered(row);
      }
    };
    const onRejected = (error: OutboxRowError) => void told.push(error);
    const settings = { clock, windowRows: 10, windowBytes: 1_000, retryMs: 1, maxTries, onRejected };
    const parked = new ParkedKeys(
      database as OutboxDatabase,
      { number: 1 } as HeldRange,
      settings as unknown as RelaySettings,
      summary,
      put,
      () => {},
    );
    const untilEmpty = async (): Promise<void> => {
      while (parked.has('key')) await clock.sleep(1);
    };
    const all = async (rows: OutboxRow[]): Promise<void> => {
      for (const row of rows) parked.expect(row);
      await parked.park(rows);
      const running = parked.run();
      await clock.runUntil(untilEmpty());
      parked.stop();
      await clock.runUntil(running);
    };
    const left = () => table.map(({ id }) => id);
    return { parked, puts, clock, untilEmpty, all, left, readBehind, told, summary };
  }

  test('are given up after so many tries, each by itself, and those behind go on together', async () => {
    const { all, puts, told, summary } = parkedOver((row, put) => put === 1 || row.id === 1n, { maxTries: 3 });
    await all([first, second, third]);
    expect(puts).toEqual([[1n, 2n, 3n], [1n], [1n], [1n], [2n, 3n]]);
    expect(told.map(({ id, tries, isGivenUp }) => [id, tries, isGivenUp])).toEqual([
      [1n, 1, false],
      [1n, 2, false],
      [1n, 3, true],
    ]);
    expect(summary).toMatchObject({ parked: 3, rejections: 3, givenUp: 1 });
    expect(first.read.hasEnded).toBe(true);
  });

  test('are tried one by one until the one that was to blame is gone', async () => {
    const { all, puts, told } = parkedOver((row, put) => put === 1 || (row.id === 2n && put === 3));
    await all([first, second, third, rowOf(4n)]);
    expect(puts).toEqual([[1n, 2n, 3n, 4n], [1n], [2n], [2n], [3n, 4n]]);
    expect(told.map(({ id }) => id)).toEqual([2n]);
  });

  test('are parked when they are rejected, while nothing else happens, and are tried one by one', async () => {
    const { parked, puts, clock, untilEmpty } = parkedOver(() => false);
    const running = parked.run();
    await clock.runUntil(clock.sleep(10));
    for (const row of [first, second]) parked.reject(row);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect(puts).toEqual([[1n], [2n]]);
  });

  test.each<[string, Partial<OutboxDatabase>]>([
    ['parks', { park: async () => false }],
    ['reads what is parked', { readParked: async () => undefined }],
  ])('end their range where another worker has it when this one %s', async (_, lost) => {
    const { parked, clock } = parkedOver(() => false, lost);
    parked.reject(first);
    await expect(clock.runUntil(parked.run())).rejects.toThrow(OutboxLeaseError);
  });

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

  test('that are refused while their range ends are not counted: another worker may have them', async () => {
    const { parked, clock, told, left } = parkedOver(() => true);
    parked.reject(first);
    const running = parked.run();
    // To read takes a millisecond.
    await clock.runUntil(clock.sleep(0.5));
    parked.stop();
    await clock.runUntil(running);
    expect([told, left()]).toEqual([[], [1n]]);
  });

  test('say why they were refused, and in a log only what a log may have', async () => {
    const { parked, clock, told } = parkedOver(() => true);
    parked.reject(first);
    const running = parked.run();
    await clock.runUntil(clock.sleep(2));
    parked.stop();
    await clock.runUntil(running);
    const [message, summary] = ['row 1 was rejected, try 1: refused', 'row 1 was rejected, try 1: Error'];
    expect(told[0]).toMatchObject({
      message: expect.stringContaining(message),
      summary: expect.stringContaining(summary),
    });
    const cause = new OutboxLeaseError(7);
    const own = new OutboxRowError(1n, 'key', 1, false, { cause });
    expect(own.summary).toContain(`try 1: ${cause.summary}`);
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

  test('are put in order, though one is refused when a later one has been read', async () => {
    const { parked, puts, clock, untilEmpty, left } = parkedOver(() => false);
    parked.expect(second);
    await parked.park([second]);
    const running = parked.run();
    // To read takes a millisecond.
    await clock.runUntil(clock.sleep(0.5));
    parked.reject(first);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([puts.flat(), left()]).toEqual([[1n, 2n], []]);
  });

  test('are put in order, though a later one comes to the table while the first waits to be tried again', async () => {
    const { parked, puts, clock, untilEmpty, left } = parkedOver((_, put) => put <= 2);
    parked.expect(first);
    await parked.park([first]);
    const running = parked.run();
    await clock.runUntil(clock.sleep(2.5));
    parked.expect(second);
    await parked.park([second]);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([puts.flat(), left()]).toEqual([[1n, 1n, 1n, 2n], []]);
  });

  test('are all put, though some come to the table when a later one is gone', async () => {
    const { parked, puts, clock, untilEmpty, left } = parkedOver(() => false);
    for (const row of [first, second, third]) parked.expect(row);
    await parked.park([third]);
    const running = parked.run();
    await clock.runUntil(clock.sleep(10));
    await parked.park([first, second]);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([puts, left()]).toEqual([[[3n], [1n, 2n]], []]);
  });

  test('are read when they are in the table, and not over and over before', async () => {
    const { parked, puts, clock, untilEmpty, readBehind } = parkedOver(() => false);
    parked.expect(first);
    const running = parked.run();
    await clock.runUntil(clock.sleep(100));
    const readsBefore = readBehind.length;
    await parked.park([first]);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([readsBefore, puts]).toEqual([0, [[1n]]]);
  });

  test('are read no more when none is in the table but one is still to be parked', async () => {
    const { parked, puts, clock, untilEmpty, readBehind } = parkedOver(() => false);
    for (const row of [first, second]) parked.expect(row);
    await parked.park([first]);
    const running = parked.run();
    await clock.runUntil(clock.sleep(100));
    const readsBefore = readBehind.length;
    await parked.park([second]);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    // The first read finds the row, the second that there is no other.
    expect([readsBefore, puts]).toEqual([2, [[1n], [2n]]]);
    // What is gone is not looked through again.
    expect(readBehind).toEqual([0n, 1n, 1n, 2n]);
  });
});

describe('keys that an earlier worker has parked', () => {
  const SECOND_MS = 1_000;

  /** When each key is read, and how much of it, where nothing but refusals comes of it. */
  async function readsOf(
    keys: { partitionKey: string; tries: number }[],
    untilMs: number,
    { windowRows = 10, readMs = 0 } = {},
  ) {
    const clock = new VirtualClock();
    const reads: { atMs: number; keys: string[]; behind: bigint[]; maxRows: number; maxBytes: number }[] = [];
    const tries = new Map(keys.map((key) => [key.partitionKey, key.tries]));
    const database: Partial<OutboxDatabase> = {
      parkedKeys: async () => keys,
      readParked: async (_, wanted, limits) => {
        const names = wanted.map(({ partitionKey }) => partitionKey);
        const behind = wanted.map(({ afterId }) => afterId);
        reads.push({ atMs: clock.now(), keys: names, behind, ...limits });
        if (readMs > 0) await clock.sleep(readMs);
        return names.map((partitionKey) => {
          const read = { id: 1n, hasEnded: false };
          const sequence = { producerId: 'outbox', sequenceNumber: 1n };
          return { id: 1n, partitionKey, data: new Uint8Array(), sequence, read, tries: tries.get(partitionKey)! };
        });
      },
      countTry: async ({ partitionKey }) => void tries.set(partitionKey, tries.get(partitionKey)! + 1),
    };
    const parked = new ParkedKeys(
      database as OutboxDatabase,
      { number: 1 } as HeldRange,
      {
        ...{ clock, windowRows, windowBytes: 1_000, retryMs: SECOND_MS },
        onRejected: () => {},
      } as unknown as RelaySettings,
      {} as RelaySummary,
      async (rows, ends) => {
        for (const row of rows) ends.rejected(row, new Error('refused'));
      },
      () => {},
    );
    await parked.load();
    const running = parked.run();
    await clock.runUntil(clock.sleep(untilMs));
    parked.stop();
    await clock.runUntil(running);
    return reads;
  }

  test.each([
    [0, 0],
    [1, SECOND_MS],
    [12, SECOND_MS],
  ])('after %d tries the first is read in %d ms: this worker may not live for a long wait', async (tries, atMs) => {
    const [first] = await readsOf([{ partitionKey: 'key', tries }], 2 * SECOND_MS);
    expect(first).toMatchObject({ atMs, behind: [0n] });
  });

  test('are tried again in twice the time after each try, up to a minute', async () => {
    const reads = await readsOf([{ partitionKey: 'key', tries: 1 }], 300 * SECOND_MS);
    const waits = reads.map(({ atMs }, index) => (atMs - (reads[index - 1]?.atMs ?? 0)) / SECOND_MS);
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test.each([
    [1, 0, 100, 1_000],
    [4, 0, 25, 250],
    [32, 0, 3, 31],
    [4, 1, 1, 250],
  ])(
    '%d keys with %d tries are read together, in windows that are one in all',
    async (count, tries, maxRows, maxBytes) => {
      const keys = Array.from({ length: count }, (_, number) => ({ partitionKey: `key ${number}`, tries }));
      const [first] = await readsOf(keys, 2 * SECOND_MS, { windowRows: 100 });
      expect(first).toMatchObject({ keys: keys.map(({ partitionKey }) => partitionKey), maxRows, maxBytes });
    },
  );

  test('are read by 32 in a put, in four puts at once', async () => {
    const keys = Array.from({ length: 200 }, (_, number) => ({ partitionKey: `key ${number}`, tries: 0 }));
    const reads = await readsOf(keys, 0);
    expect(reads.slice(0, 4).map((read) => read.keys.length)).toEqual([32, 32, 32, 32]);
    expect(new Set(reads.flatMap((read) => read.keys)).size).toBe(200);
    // While all four are at work nothing more is read.
    expect(await readsOf(keys, SECOND_MS - 1, { readMs: SECOND_MS })).toHaveLength(4);
  });
});

import type { OutboxRowError } from '../../../../lib/core/outbox/outbox-errors';
import type { OutboxRow, ParkedRow } from '../../../../lib/core/outbox/outbox-row';
import { ParkedKeys, type PutRows } from '../../../../lib/core/outbox/parked-keys';
import type { ParkedTable } from '../../../../lib/core/outbox/parked-table';
import type { RelaySettings } from '../../../../lib/core/outbox/relay-options';
import { noRelaySummary, type RelaySummary } from '../../../../lib/core/outbox/relay-summary';
import { VirtualClock } from '../../../../lib/testing';

interface TableOptions {
  /** How many keys have a row in the table. Each key has one row, whose id is the number of the key. */
  keys: number;
  /** The keys that the stream rejects. */
  isRejected?(key: number): boolean;
  /** How often an earlier worker has tried each row. */
  tries?: number;
  rowBytes?: number;
  batchBytes?: number;
  mostParkedKeys?: number;
  /** The time that one read of parked rows takes. */
  readMs?: number;
}

/** A table with one parked row for each key, and a worker that remembers 10 keys. */
function tableOf(options: TableOptions) {
  const { keys, isRejected = () => false, tries = 0, rowBytes = 1, batchBytes = 1_000, readMs = 1 } = options;
  const { mostParkedKeys = 10 } = options;
  const clock = new VirtualClock();
  const rowOf = (key: number): ParkedRow => {
    const sequence = { producerId: 'outbox', sequenceNumber: BigInt(key) };
    return {
      id: BigInt(key),
      partitionKey: `${key}`,
      data: new Uint8Array(rowBytes),
      sequence,
      read: { id: BigInt(key), hasEnded: false },
      tries,
    };
  };
  const table = new Map(Array.from({ length: keys }, (_, index) => [`${index + 1}`, rowOf(index + 1)]));
  const triedAtMs = new Map<string, number[]>();
  const bytesRead: number[] = [];
  const fake: Partial<ParkedTable> = {
    park: async (rows) => {
      for (const row of rows) table.set(row.partitionKey, row as ParkedRow);
    },
    listKeys: async ({ afterId, atMost }) => {
      const behind = [...table.values()].filter(({ id }) => id > afterId).sort((a, b) => Number(a.id - b.id));
      return behind.slice(0, atMost).map((row) => ({ ...row, firstId: row.id }));
    },
    read: async (wanted, { maxBytesOfAll }) => {
      await clock.sleep(readMs);
      const found = wanted.flatMap(({ partitionKey }) => table.get(partitionKey) ?? []);
      const rows = found.filter((__, place) => place * rowBytes < maxBytesOfAll);
      bytesRead.push(rows.length * rowBytes);
      return { rows, unreadKeys: found.slice(rows.length).map(({ partitionKey }) => partitionKey) };
    },
    remove: async (removed) => {
      for (const { partitionKey } of removed) table.delete(partitionKey);
    },
    countTries: async (rejected) => {
      for (const { partitionKey } of rejected.map(({ row }) => row)) {
        const row = table.get(partitionKey)!;
        table.set(partitionKey, { ...row, tries: row.tries + 1 });
      }
    },
  };
  const settings = { clock, batchRows: 100, batchBytes, retryMs: 1_000, mostParkedKeys, onRejected: () => {} };
  const put: PutRows = async (rows, ends) => {
    for (const row of rows) {
      const { partitionKey } = row;
      triedAtMs.set(partitionKey, [...(triedAtMs.get(partitionKey) ?? []), clock.now()]);
      if (isRejected(Number(partitionKey))) ends.rejected(row, new Error('rejected'));
      else ends.delivered(row);
    }
  };
  const parked = new ParkedKeys(
    fake as ParkedTable,
    settings as unknown as RelaySettings,
    noRelaySummary(),
    put,
    () => {},
  );
  /**
   * Runs the retries for this time. Calls `forgetKeys` every 10 ms, as the relay of a range does between two batches.
   */
  const runFor = async (ms: number): Promise<void> => {
    await parked.load();
    const running = parked.run();
    for (const endsAtMs = clock.now() + ms; clock.now() < endsAtMs; ) {
      parked.forgetKeys();
      await clock.runUntil(clock.sleep(10));
    }
    parked.stop();
    await clock.runUntil(running);
  };
  return { parked, clock, table, triedAtMs, bytesRead, rowOf, runFor };
}

test.each([
  [4, true],
  [5, false],
])(
  'ParkedKeys – %i keys have parked rows – remembers all of these keys: %s, and has room for other keys',
  async (keys, knowsAll) => {
    const { parked } = tableOf({ keys });
    await parked.load();
    expect([parked.hasAllKeys, parked.isFull]).toEqual([knowsAll, false]);
  },
);

test('ParkedKeys – more keys have parked rows than it can remember – sends the rows of all these keys', async () => {
  const { parked, table, runFor } = tableOf({ keys: 1_000 });
  await runFor(1_000);
  expect([table.size, parked.hasAllKeys]).toEqual([0, true]);
});

test('ParkedKeys – the stream rejects the rows of 100 keys – sends the rows of other keys, and retries each rejected row', async () => {
  const { table, triedAtMs, runFor } = tableOf({ keys: 103, isRejected: (key) => key <= 100, tries: 1 });
  await runFor(25 * 60_000);
  expect(table.size).toBe(100);
  const triesOfEach = [...triedAtMs].filter(([key]) => Number(key) <= 100).map(([, tries]) => tries.length);
  expect(triesOfEach).toHaveLength(100);
  expect(Math.min(...triesOfEach)).toBeGreaterThan(0);
  // Even a worker that remembers all keys retries each row at most once a minute.
  expect(Math.max(...triesOfEach)).toBeLessThanOrEqual(26);
});

test('ParkedKeys – all remembered keys wait for a retry – forgets these keys and has room for other keys', async () => {
  const { parked, clock, rowOf } = tableOf({ keys: 0, isRejected: () => true });
  await parked.load();
  const running = parked.run();
  for (let key = 1; key <= 10; key++) parked.reject(rowOf(key));
  expect([parked.isFull, parked.forgetKeys()]).toEqual([true, false]);
  await clock.runUntil(clock.sleep(500));
  expect([parked.isFull, parked.forgetKeys(), parked.isFull, parked.hasAllKeys]).toEqual([true, true, false, false]);
  parked.stop();
  await clock.runUntil(running);
});

test('ParkedKeys – the stream rejects more keys than it can retry – forgets keys that it has not retried, and has room for other keys', async () => {
  const { parked, clock, rowOf } = tableOf({ keys: 0, mostParkedKeys: 200, readMs: 60_000 });
  await parked.load();
  const running = parked.run();
  for (let key = 1; key <= 200; key++) parked.reject(rowOf(key));
  await clock.runUntil(clock.sleep(1));
  expect([parked.isFull, parked.forgetKeys(), parked.isFull]).toEqual([true, true, false]);
  parked.stop();
  await clock.runUntil(running);
});

test('ParkedKeys – each row is as large as a whole put – reads the rows of the other keys next, and sends each row once', async () => {
  const { table, bytesRead, triedAtMs, runFor } = tableOf({ keys: 9, rowBytes: 1_000, batchBytes: 1_000 });
  await runFor(1_000);
  expect(table.size).toBe(0);
  expect(Math.max(...bytesRead)).toBe(1_000);
  expect([...triedAtMs.values()].map((times) => times.length)).toEqual(Array(9).fill(1));
});

describe('the parked rows of one key', () => {
  const rowOf = (id: bigint): ParkedRow => {
    const sequence = { producerId: 'outbox', sequenceNumber: id };
    const read = { id, hasEnded: false };
    return { id, partitionKey: 'key', data: new Uint8Array(), sequence, read, tries: 0 };
  };
  let [first, second] = [rowOf(1n), rowOf(2n)];
  beforeEach(() => {
    [first, second] = [rowOf(1n), rowOf(2n)];
  });

  /** Parked keys over a simulated table. `puts` contains the rows of each put. */
  function parkedOver(isRejected: (row: OutboxRow, put: number) => boolean) {
    let table: ParkedRow[] = [];
    const puts: bigint[][] = [];
    const errors: OutboxRowError[] = [];
    const withoutRow = (removed: OutboxRow) => table.filter(({ id }) => id !== removed.id);
    const clock = new VirtualClock();
    const fake: Partial<ParkedTable> = {
      park: async (rows) => {
        table = [...table, ...(rows as ParkedRow[])].sort((a, b) => Number(a.id - b.id));
      },
      read: async ([key], { maxRows }) => {
        const found = table.filter(({ id }) => id > key!.afterId).slice(0, maxRows);
        await clock.sleep(1);
        return { rows: found, unreadKeys: [] };
      },
      remove: async (removed) => {
        for (const row of removed) table = withoutRow(row);
      },
      countTries: async ([{ row } = { row: first }]) => {
        table = table.map((each) => (each.id === row.id ? { ...each, tries: each.tries + 1 } : each));
      },
    };
    const put: PutRows = async (rows, ends) => {
      const ready = rows.filter((row) => ends.maySend(row));
      if (ready.length > 0) puts.push(ready.map(({ id }) => id));
      for (const row of ready) {
        if (isRejected(row, puts.length)) ends.rejected(row, new Error('rejected'));
        else ends.delivered(row);
      }
    };
    const onRejected = (error: OutboxRowError) => void errors.push(error);
    const settings = {
      clock,
      batchRows: 10,
      batchBytes: 1_000,
      retryMs: 1,
      mostParkedKeys: 10_000,
      onRejected,
    };
    const parked = new ParkedKeys(
      fake as ParkedTable,
      settings as unknown as RelaySettings,
      noRelaySummary(),
      put,
      () => {},
    );
    const untilEmpty = async (): Promise<void> => {
      while (parked.has('key')) await clock.sleep(1);
    };
    const all = async (rows: OutboxRow[]): Promise<void> => {
      for (const row of rows) parked.announce(row);
      await parked.park(rows);
      const running = parked.run();
      await clock.runUntil(untilEmpty());
      parked.stop();
      await clock.runUntil(running);
    };
    const remainingIds = () => table.map(({ id }) => id);
    return { parked, puts, clock, untilEmpty, all, remainingIds, errors };
  }

  test('are tried one by one until the invalid row is removed', async () => {
    const { all, puts, errors } = parkedOver((row, put) => put === 1 || (row.id === 2n && put === 3));
    await all([first, second, rowOf(3n), rowOf(4n)]);
    expect(puts).toEqual([[1n, 2n, 3n, 4n], [1n], [2n], [2n], [3n, 4n]]);
    expect(errors.map(({ id }) => id)).toEqual([2n]);
  });

  test.each([
    ['while a later row is in the table', 0],
    // A read takes one millisecond.
    ['after a later row was read', 0.5],
  ])('are sent in order, even if an earlier row is rejected %s', async (_, afterMs) => {
    const { parked, puts, clock, untilEmpty, remainingIds } = parkedOver(() => false);
    parked.announce(second);
    await parked.park([second]);
    const running = parked.run();
    if (afterMs > 0) await clock.runUntil(clock.sleep(afterMs));
    parked.reject(first);
    await clock.runUntil(untilEmpty());
    parked.stop();
    await clock.runUntil(running);
    expect([puts.flat(), remainingIds()]).toEqual([[1n, 2n], []]);
  });
});

describe('keys that an earlier worker has parked', () => {
  const SECOND_MS = 1_000;

  /** The time and the limits of each read if every row is rejected. */
  async function readsOf(
    keys: { partitionKey: string; tries: number }[],
    untilMs: number,
    { batchRows = 10, readMs = 0 } = {},
  ) {
    const clock = new VirtualClock();
    const reads: { atMs: number; keys: string[]; behind: bigint[]; maxRows: number; maxBytes: number }[] = [];
    const tries = new Map(keys.map((key) => [key.partitionKey, key.tries]));
    const fake: Partial<ParkedTable> = {
      listKeys: async () => keys.map((key) => ({ ...key, firstId: 1n })),
      read: async (wanted, limits) => {
        const names = wanted.map(({ partitionKey }) => partitionKey);
        const behind = wanted.map(({ afterId }) => afterId);
        reads.push({ atMs: clock.now(), keys: names, behind, ...limits });
        if (readMs > 0) await clock.sleep(readMs);
        const rows = names.map((partitionKey) => {
          const read = { id: 1n, hasEnded: false };
          const sequence = { producerId: 'outbox', sequenceNumber: 1n };
          return { id: 1n, partitionKey, data: new Uint8Array(), sequence, read, tries: tries.get(partitionKey)! };
        });
        return { rows, unreadKeys: [] };
      },
      countTries: async (rejected) => {
        for (const { row } of rejected) tries.set(row.partitionKey, tries.get(row.partitionKey)! + 1);
      },
    };
    const parked = new ParkedKeys(
      fake as ParkedTable,
      {
        clock,
        batchRows,
        batchBytes: 1_000,
        retryMs: SECOND_MS,
        mostParkedKeys: 10_000,
        onRejected: () => {},
      } as unknown as RelaySettings,
      {} as RelaySummary,
      async (rows, ends) => {
        for (const row of rows) ends.rejected(row, new Error('rejected'));
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

  test('are tried again after a delay that doubles with each try, up to one minute', async () => {
    const reads = await readsOf([{ partitionKey: 'key', tries: 1 }], 300 * SECOND_MS);
    const waits = reads.map(({ atMs }, index) => (atMs - (reads[index - 1]?.atMs ?? 0)) / SECOND_MS);
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });
});

import type { OutboxRow, ParkedRow } from '../../../../lib/core/outbox/outbox-row';
import { ParkedKeys, type PutRows } from '../../../../lib/core/outbox/parked-keys';
import type { ParkedTable } from '../../../../lib/core/outbox/parked-table';
import type { RelaySettings } from '../../../../lib/core/outbox/relay-options';
import { noRelaySummary } from '../../../../lib/core/outbox/relay-summary';
import { VirtualClock } from '../../../../lib/testing';

const SECOND_MS = 1_000;

const rowOf = (id: number, partitionKey = `${id}`, bytes = 1): ParkedRow => ({
  id: BigInt(id),
  partitionKey,
  data: new Uint8Array(bytes),
  sequence: { producerId: 'outbox', sequenceNumber: BigInt(id) },
  read: { id: BigInt(id), hasEnded: false },
  tries: 0,
});

interface Options extends Partial<Pick<RelaySettings, 'batchBytes' | 'mostParkedKeys' | 'retryMs'>> {
  /** The number of keys with a row in the table. The id of the row is the number of its key. */
  keys?: number;
  /** How often an earlier worker has tried each row. */
  tries?: number;
  rowBytes?: number;
  /** Whether the stream rejects the row in the put with this number, from 1 on. */
  isRejected?(row: OutboxRow, put: number): boolean;
  /** The time that one read of parked rows takes. */
  readMs?: number;
}

/** A simulated table of parked rows, and a worker that remembers 10 keys. */
function tableOf({ keys = 0, tries = 0, rowBytes = 1, isRejected = () => false, readMs = 1, ...own }: Options = {}) {
  const clock = new VirtualClock();
  const rows = new Map<bigint, ParkedRow>();
  for (let key = 1; key <= keys; key++) rows.set(BigInt(key), { ...rowOf(key, undefined, rowBytes), tries });
  const inOrder = () => [...rows.values()].sort((a, b) => Number(a.id - b.id));
  const puts: bigint[][] = [];
  const triedAtMs = new Map<string, number[]>();
  const bytesRead: number[] = [];
  const fake: Partial<ParkedTable> = {
    park: async (parked) => {
      for (const row of parked) rows.set(row.id, row as ParkedRow);
    },
    listKeys: async ({ afterId, atMost }) => {
      const behind = inOrder().filter(({ id }) => id > afterId);
      return behind.slice(0, atMost).map((row) => ({ ...row, firstId: row.id }));
    },
    read: async (wanted, { maxRows, maxBytesOfAll }) => {
      const parked = inOrder();
      const found = wanted.flatMap(({ partitionKey, afterId }) =>
        parked.filter((row) => row.partitionKey === partitionKey && row.id > afterId).slice(0, maxRows),
      );
      await clock.sleep(readMs);
      const fitting = found.filter((_, place) => place * rowBytes < maxBytesOfAll);
      bytesRead.push(fitting.length * rowBytes);
      return { rows: fitting, unreadKeys: found.slice(fitting.length).map(({ partitionKey }) => partitionKey) };
    },
    remove: async (removed) => {
      for (const { id } of removed) rows.delete(id);
    },
    countTries: async (rejected) => {
      for (const { row } of rejected) rows.set(row.id, { ...rows.get(row.id)!, tries: rows.get(row.id)!.tries + 1 });
    },
  };
  const put: PutRows = async (all, ends) => {
    const ready = all.filter((row) => ends.maySend(row));
    if (ready.length > 0) puts.push(ready.map(({ id }) => id));
    for (const row of ready) {
      triedAtMs.set(row.partitionKey, [...(triedAtMs.get(row.partitionKey) ?? []), clock.now()]);
      if (isRejected(row, puts.length)) ends.rejected(row, new Error('rejected'));
      else ends.delivered(row);
    }
  };
  const rejections: bigint[] = [];
  const settings = {
    ...{ clock, batchRows: 100, batchBytes: 1_000, retryMs: SECOND_MS, mostParkedKeys: 10, ...own },
    onRejected: ({ id }: { id: bigint }) => void rejections.push(id),
  } as unknown as RelaySettings;
  const parked = new ParkedKeys(fake as ParkedTable, settings, noRelaySummary(), put, () => {});
  /** Loads the parked keys and sends their rows until `work` has ended. */
  const runDuring = async (work: () => Promise<void>): Promise<void> => {
    await parked.load();
    const running = parked.run();
    await work();
    parked.stop();
    await clock.runUntil(running);
  };
  const pass = (ms: number) => clock.runUntil(clock.sleep(ms));
  /** Calls `forgetKeys` every 10 ms, as the relay of a range does between two batches. */
  const runFor = (ms: number) =>
    runDuring(async () => {
      for (const endsAtMs = clock.now() + ms; clock.now() < endsAtMs; ) {
        parked.forgetKeys();
        await pass(10);
      }
    });
  const untilSent = async (key: string): Promise<void> => {
    while (parked.has(key)) await pass(1);
  };
  return { parked, rows, puts, triedAtMs, bytesRead, rejections, pass, runDuring, runFor, untilSent };
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
  const { parked, rows, runFor } = tableOf({ keys: 1_000 });
  await runFor(SECOND_MS);
  expect([rows.size, parked.hasAllKeys]).toEqual([0, true]);
});

test('ParkedKeys – the stream rejects the rows of 100 keys – sends the rows of other keys, and retries each rejected row', async () => {
  const { rows, triedAtMs, runFor } = tableOf({ keys: 103, isRejected: ({ id }) => id <= 100n, tries: 1 });
  await runFor(25 * 60 * SECOND_MS);
  expect(rows.size).toBe(100);
  const triesOfEach = [...triedAtMs].filter(([key]) => Number(key) <= 100).map(([, tries]) => tries.length);
  expect(triesOfEach).toHaveLength(100);
  expect(Math.min(...triesOfEach)).toBeGreaterThan(0);
  // Even a worker that remembers all keys retries each row at most once a minute.
  expect(Math.max(...triesOfEach)).toBeLessThanOrEqual(26);
});

test('ParkedKeys – all remembered keys wait for a retry – forgets these keys and has room for other keys', async () => {
  const { parked, pass, runDuring } = tableOf({ isRejected: () => true });
  await runDuring(async () => {
    for (let key = 1; key <= 10; key++) parked.reject(rowOf(key));
    expect([parked.isFull, parked.forgetKeys()]).toEqual([true, false]);
    await pass(500);
    expect([parked.isFull, parked.forgetKeys(), parked.isFull, parked.hasAllKeys]).toEqual([true, true, false, false]);
  });
});

test('ParkedKeys – the stream rejects more keys than it can retry – forgets keys that it has not retried, and has room for other keys', async () => {
  const { parked, pass, runDuring } = tableOf({ mostParkedKeys: 200, readMs: 60 * SECOND_MS });
  await runDuring(async () => {
    for (let key = 1; key <= 200; key++) parked.reject(rowOf(key));
    await pass(1);
    expect([parked.isFull, parked.forgetKeys(), parked.isFull]).toEqual([true, true, false]);
  });
});

test('ParkedKeys – each row is as large as a whole put – reads the rows of the other keys next, and sends each row once', async () => {
  const { rows, bytesRead, triedAtMs, runFor } = tableOf({ keys: 9, rowBytes: 1_000 });
  await runFor(SECOND_MS);
  expect(rows.size).toBe(0);
  expect(Math.max(...bytesRead)).toBe(1_000);
  expect([...triedAtMs.values()].map((times) => times.length)).toEqual(Array(9).fill(1));
});

test('ParkedKeys – a row of a key is rejected – tries the rows of the key one by one until the invalid row is removed', async () => {
  const { parked, puts, rejections, runDuring, untilSent } = tableOf({
    retryMs: 1,
    isRejected: ({ id }, put) => put === 1 || (id === 2n && put === 3),
  });
  const rows = [1, 2, 3, 4].map((id) => rowOf(id, 'key'));
  for (const row of rows) parked.announce(row);
  await parked.park(rows);
  await runDuring(() => untilSent('key'));
  expect(puts).toEqual([[1n, 2n, 3n, 4n], [1n], [2n], [2n], [3n, 4n]]);
  expect(rejections).toEqual([2n]);
});

test.each([
  ['while a later row is in the table', 0],
  // A read takes one millisecond.
  ['after a later row was read', 0.5],
])('ParkedKeys – an earlier row is rejected %s – sends the rows of the key in order', async (_, afterMs) => {
  const { parked, puts, rows, pass, runDuring, untilSent } = tableOf();
  const later = rowOf(2, 'key');
  await runDuring(async () => {
    parked.announce(later);
    await parked.park([later]);
    if (afterMs > 0) await pass(afterMs);
    parked.reject(rowOf(1, 'key'));
    await untilSent('key');
  });
  expect([puts.flat(), rows.size]).toEqual([[1n, 2n], 0]);
});

test('ParkedKeys – an earlier worker has tried a row – tries the row after a delay that doubles with each try, up to one minute', async () => {
  const { triedAtMs, pass, runDuring } = tableOf({ keys: 1, tries: 1, readMs: 0, isRejected: () => true });
  await runDuring(() => pass(300 * SECOND_MS));
  const times = triedAtMs.get('1')!;
  const waits = times.map((atMs, index) => (atMs - (times[index - 1] ?? 0)) / SECOND_MS);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

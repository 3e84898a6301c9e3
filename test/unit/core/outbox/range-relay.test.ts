import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { HeldRange, OutboxDatabase, OutboxRow, ParkedRow } from '../../../../lib/core/outbox/outbox-database';
import { OutboxLeaseError, type OutboxRowError } from '../../../../lib/core/outbox/outbox-errors';
import type { RangePosition } from '../../../../lib/core/outbox/progress';
import { RangeRelay } from '../../../../lib/core/outbox/range-relay';
import { type OutboxRelayOptions, relaySettings } from '../../../../lib/core/outbox/relay-options';
import { noRelaySummary } from '../../../../lib/core/outbox/relay-summary';
import { type RecordSink, Streams } from '../../../../lib/core/outbox/streams';
import { ProducerClosedError, type ProducerRecord, type PutObserver } from '../../../../lib/core/producer';
import { VirtualClock } from '../../../../lib/testing';

const rowOf = (id: bigint): OutboxRow => ({
  id,
  partitionKey: 'key',
  data: new Uint8Array(1),
  sequence: { producerId: 'outbox', sequenceNumber: id },
  read: { id, hasEnded: false },
});

type PutAll = RecordSink['putAll'];

/** A relay of a batch that is read in these windows. */
function relayOf(windows: OutboxRow[][], putAll: PutAll, options: OutboxRelayOptions): RangeRelay {
  const database: Partial<OutboxDatabase> = {
    parkedKeys: async () => [],
    look: async () => ({ to: '5:5:', firstId: 1n, hasRows: windows.length > 0 }),
    readWindow: async () => ({ rows: windows.shift()!, isLast: windows.length === 0, parkedKeys: [] }),
    save: async () => true,
    setSleeping: async () => {},
  };
  const range = { number: 1, position: { from: '3:3:', afterId: 0n } } as HeldRange;
  const streams = new Streams({ putAll });
  return new RangeRelay(database as OutboxDatabase, streams, range, relaySettings(options), noRelaySummary());
}

test('nothing more is handed over by a relay that ends: what it left of a key comes before', async () => {
  const clock = new VirtualClock();
  const windows = [[rowOf(1n)], [rowOf(2n), rowOf(3n)]];
  const taken: bigint[] = [];
  let refuseFirst = (): void => {};
  // The stream has room for two rows.
  const putAll = async <R extends ProducerRecord>(rows: Iterable<R> | AsyncIterable<R>, observer?: PutObserver<R>) => {
    const summary = { delivered: 0, rejected: 0 };
    for await (const row of rows) {
      const { id } = row as unknown as OutboxRow;
      taken.push(id);
      const refused = new Promise<void>((resolve) => {
        if (id === 1n) refuseFirst = resolve;
      });
      if (id === 1n) void refused.then(() => observer?.rejected?.(0, row, new Error('refused')));
      else {
        await clock.sleep(100);
        observer?.delivered?.(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
      }
    }
    return summary;
  };
  const relay = relayOf(windows, putAll, { clock });
  const running = relay.run();
  await clock.runUntil(clock.sleep(50));
  relay.stop();
  refuseFirst();
  await clock.runUntil(running);
  expect(taken).toEqual([1n, 2n]);
});

test('a relay ends where its producer does, and rejects no row for it', async () => {
  const closed = new ProducerClosedError();
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) observer?.rejected?.(0, row, closed);
    return { delivered: 0, rejected: 1 };
  };
  const clock = new VirtualClock();
  await expect(clock.runUntil(relayOf([[rowOf(1n)]], putAll, { clock }).run())).rejects.toBe(closed);
});

test('rows that have ended hold nobody up until the next save', async () => {
  const clock = new VirtualClock();
  const ROWS = 100;
  let delivered = 0;
  let isDone = (): void => {};
  const all = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) {
      observer?.delivered?.(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
      if (++delivered === ROWS) isDone();
    }
    return { delivered, rejected: 0 };
  };
  const windows = Array.from({ length: ROWS }, (_, index) => [rowOf(BigInt(index + 1))]);
  const relay = relayOf(windows, putAll, { clock, maxRowsInFlight: 1, saveMs: 10_000 });
  const running = relay.run();
  await clock.runUntil(all);
  expect(clock.now()).toBeLessThan(10_000);
  relay.stop();
  await clock.runUntil(running);
});

test('a row that has ended keeps no data in memory while one before it has not', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const clock = new VirtualClock();
  const data: WeakRef<Uint8Array>[] = [];
  const windows = Array.from({ length: 10 }, (_, window) =>
    Array.from({ length: 10 }, (_, index) => rowOf(BigInt(10 * window + index + 1))),
  );
  let endFirst = (): void => {};
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) {
      data.push(new WeakRef(row.data));
      const end = () => observer?.delivered?.(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
      if (data.length === 1) endFirst = end;
      else end();
    }
    return { delivered: 0, rejected: 0 };
  };
  const relay = relayOf(windows, putAll, { clock });
  const running = relay.run();
  await clock.runUntil(clock.sleep(100));
  collect();
  expect(data).toHaveLength(100);
  expect(data.filter((each) => each.deref() !== undefined)).toHaveLength(1);
  relay.stop();
  endFirst();
  await clock.runUntil(running);
});

/** Runs a relay for so long, and until it has ended. */
async function runFor(ms: number, relay: RangeRelay, clock: VirtualClock): Promise<void> {
  const running = relay.run();
  await clock.runUntil(clock.sleep(ms));
  relay.stop();
  await clock.runUntil(running);
}

const DELIVERED = { shardId: 'shard', sequenceNumber: '1', attempts: 1 };

/** A stream that takes each row after so long, and notes it. */
function streamTaking(clock: VirtualClock, msOf: (row: OutboxRow) => number) {
  const taken: { id: bigint; atMs: number }[] = [];
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) {
      const own = row as unknown as OutboxRow;
      taken.push({ id: own.id, atMs: clock.now() });
      const ms = msOf(own);
      const deliver = () => observer?.delivered?.(0, row, DELIVERED);
      if (ms === 0) deliver();
      else clock.schedule(deliver, ms);
    }
    return { delivered: 0, rejected: 0 };
  };
  return { putAll, taken };
}

/** A relay that finds nothing at first, and then these windows, and what it tells the database. */
function idleRelay(
  windows: OutboxRow[][],
  putAll: PutAll,
  options: OutboxRelayOptions,
  { position = { from: '3:3:', afterId: 0n }, ...own }: { position?: RangePosition } & Partial<OutboxDatabase> = {},
) {
  const told = {
    sleeping: [] as boolean[],
    saved: [] as [RangePosition, readonly bigint[]][],
    parkedAtMs: [] as number[],
    looks: [] as { from: string; atMs: number }[],
    windows: [] as { from: string; firstId: bigint; afterId: bigint }[],
  };
  let left: OutboxRow[][] = position.to === undefined ? [] : windows;
  const database: Partial<OutboxDatabase> = {
    parkedKeys: async () => [],
    look: async (_, from) => {
      told.looks.push({ from, atMs: options.clock!.now() });
      return { to: '5:5:', firstId: 1n, hasRows: left.length > 0 };
    },
    readWindow: async (_, { from, firstId }, { afterId }) => {
      told.windows.push({ from, firstId, afterId });
      return { rows: left.shift()!, isLast: left.length === 0, parkedKeys: [] };
    },
    save: async (_, saved, acknowledged) => {
      told.saved.push([saved, acknowledged]);
      return true;
    },
    setSleeping: async (isSleeping) => void told.sleeping.push(isSleeping),
    park: async () => {
      told.parkedAtMs.push(options.clock!.now());
      return true;
    },
    readParked: async () => ({ rows: [], unreadKeys: [] }),
    ...own,
  };
  const range = { number: 1, position } as HeldRange;
  const streams = new Streams({ putAll });
  const summary = noRelaySummary();
  const relay = new RangeRelay(database as OutboxDatabase, streams, range, relaySettings(options), summary);
  /** What is written, of which its writer does not notify the relay. */
  const write = (written = windows) => {
    left = written;
  };
  const fill = (written = windows) => {
    write(written);
    relay.wake();
  };
  return { relay, told, fill, write, summary };
}

test.each([
  ['one that is full', 2, [true, false, true]],
  ['one that is not', 3, [true]],
])('writers need not notify behind a window of two rows, if it is %s', async (_, windowRows, sleeping) => {
  const clock = new VirtualClock();
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) observer?.delivered?.(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
    return { delivered: 2, rejected: 0 };
  };
  const { relay, told, fill } = idleRelay([[rowOf(1n), rowOf(2n)]], putAll, { clock, windowRows });
  const running = relay.run();
  await clock.runUntil(clock.sleep(100));
  expect(told.sleeping).toEqual([true]);
  fill();
  await clock.runUntil(clock.sleep(5_000));
  expect(told.sleeping).toEqual(sleeping);
  relay.stop();
  await clock.runUntil(running);
});

test.each([
  [
    1n,
    [
      [{ from: '3:3:', afterId: 0n }, [2n]],
      [{ from: '5:5:', afterId: 0n }, [1n]],
    ],
  ],
  [
    2n,
    [
      [{ from: '3:3:', to: '5:5:', afterId: 1n }, [1n]],
      [{ from: '5:5:', afterId: 0n }, [2n]],
    ],
  ],
])('each row that is acknowledged is noted once, behind a position that waits for row %d', async (late, saved) => {
  const clock = new VirtualClock();
  const { putAll } = streamTaking(clock, ({ id }) => (id === late ? 3_500 : 500));
  const windows = [[rowOf(1n), rowOf(2n)]];
  const { relay, told, fill, summary } = idleRelay(windows, putAll, { clock, saveMs: 1_000 });
  const running = relay.run();
  fill();
  await clock.runUntil(clock.sleep(10_000));
  relay.stop();
  await clock.runUntil(running);
  expect(told.saved).toEqual(saved);
  expect(summary).toEqual({ ...noRelaySummary(), relayed: 2 });
});

test.each([
  [100, 2],
  [101, 3],
])(
  'a key that does not move is waited for while %d rows could be parked, %d ms, and not once it is parked',
  async (rows, ms) => {
    const clock = new VirtualClock();
    const { putAll } = streamTaking(clock, () => 10_000);
    const windows = [Array.from({ length: rows }, (_, index) => rowOf(BigInt(index + 1)))];
    const readParked = async () => {
      await clock.sleep(10_000);
      return { rows: [], unreadKeys: [] };
    };
    const { relay, told, fill } = idleRelay(windows, putAll, { clock, maxRowsInFlight: 80 }, { readParked });
    fill();
    const running = relay.run();
    await clock.runUntil(clock.sleep(3_000));
    fill([[rowOf(200n)]]);
    await clock.runUntil(clock.sleep(2_000));
    relay.stop();
    await clock.runUntil(running);
    expect([told.parkedAtMs[0], told.parkedAtMs.at(-1)]).toEqual([ms, 3_000]);
  },
);

const keyed = (id: bigint): OutboxRow => ({ ...rowOf(id), partitionKey: `key ${id}` });

test('rows of keys that have room go at once, in windows that are read while the one before is taken', async () => {
  const clock = new VirtualClock();
  const { putAll, taken } = streamTaking(clock, () => 0);
  const slowly: PutAll = async (rows, observer) => {
    await clock.sleep(100);
    return putAll(rows, observer);
  };
  const { relay, told, fill } = idleRelay([[keyed(1n)], [keyed(2n)], [keyed(3n)]], slowly, { clock });
  fill();
  const running = relay.run();
  await clock.runUntil(clock.sleep(50));
  expect(told.windows.map(({ afterId }) => afterId)).toEqual([0n, 1n]);
  await clock.runUntil(clock.sleep(1_000));
  relay.stop();
  await clock.runUntil(running);
  expect(told.windows.map(({ afterId }) => afterId)).toEqual([0n, 1n, 2n]);
  expect(taken.map(({ atMs }) => atMs)).toEqual([100, 200, 300]);
});

test('a relay goes on within a batch where it was saved', async () => {
  const clock = new VirtualClock();
  const { putAll } = streamTaking(clock, () => 0);
  const position = { from: '3:3:', to: '4:4:', afterId: 3n };
  const { relay, told } = idleRelay([[keyed(4n)], [keyed(5n)]], putAll, { clock }, { position });
  await runFor(0, relay, clock);
  expect(told.windows).toEqual([
    { from: '3:3:', firstId: 0n, afterId: 3n },
    { from: '3:3:', firstId: 0n, afterId: 4n },
  ]);
  expect(told.looks[0]).toEqual({ from: '4:4:', atMs: 0 });
});

test('a batch of which all rows are of other ranges is passed, and that is saved', async () => {
  const clock = new VirtualClock();
  const { putAll } = streamTaking(clock, () => 0);
  const { relay, told, fill } = idleRelay([[]], putAll, { clock });
  fill();
  await runFor(2_000, relay, clock);
  expect(told.saved).toEqual([[{ from: '5:5:', afterId: 0n }, []]]);
});

test('no window goes to a stream that has as many rows as may be in flight, until one of them ends', async () => {
  const clock = new VirtualClock();
  const { putAll, taken } = streamTaking(clock, ({ id }) => (id === 1n ? 2_000 : 9_000));
  const options = { clock, maxRowsInFlight: 2, saveMs: 60_000 };
  const { relay, fill } = idleRelay([[keyed(1n)], [keyed(2n)], [keyed(3n)]], putAll, options);
  fill();
  await runFor(5_000, relay, clock);
  expect(taken).toEqual([
    { id: 1n, atMs: 0 },
    { id: 2n, atMs: 0 },
    { id: 3n, atMs: 2_000 },
  ]);
});

test('a relay that sleeps looks when it is woken, and then soon again', async () => {
  const clock = new VirtualClock();
  const { putAll } = streamTaking(clock, () => 0);
  const { relay, told } = idleRelay([], putAll, { clock, pollMs: 60_000 });
  const running = relay.run();
  await clock.runUntil(clock.sleep(5_000));
  relay.wake();
  await clock.runUntil(clock.sleep(100));
  relay.stop();
  await clock.runUntil(running);
  // At first more than once: a writer may not have known that it was to notify.
  expect(told.looks.map(({ atMs }) => atMs)).toEqual([0, 0, 0, 40, 200, 840, 3_400, 5_000, 5_040]);
});

test.each([
  ['soon behind a row, and not when the row has ended', [keyed(1n)], [0, 10, 50, 210, 850, 3_410]],
  ['as seldom as before behind a window without a row', [], [0]],
])('a relay that finds what nobody told it of looks again %s', async (_, window, atMs) => {
  const clock = new VirtualClock();
  const { putAll } = streamTaking(clock, () => 6_000);
  const { relay, told, write } = idleRelay([window], putAll, { clock, pollMs: 10_000 });
  const running = relay.run();
  await clock.runUntil(clock.sleep(4_000));
  write();
  await clock.runUntil(clock.sleep(16_000));
  relay.stop();
  await clock.runUntil(running);
  const found = told.looks.findIndex((look) => look.atMs > 4_000);
  const foundAtMs = told.looks[found]!.atMs;
  const again = told.looks.slice(found + 1).map((look) => look.atMs - foundAtMs);
  expect(again).toEqual(atMs);
});

describe('a relay that ends', () => {
  test('asks for no window behind the one that it waits for', async () => {
    const clock = new VirtualClock();
    const { putAll, taken } = streamTaking(clock, () => 0);
    let windows = 0;
    const readWindow = async () => {
      windows += 1;
      await clock.sleep(100);
      return { rows: [keyed(BigInt(windows))], isLast: false, parkedKeys: [] };
    };
    const { relay, fill } = idleRelay([[]], putAll, { clock }, { readWindow });
    fill();
    await runFor(50, relay, clock);
    expect([windows, taken]).toEqual([1, []]);
  });

  test('does not mind that a window fails which it has asked for', async () => {
    const clock = new VirtualClock();
    const putAll: PutAll = async (rows, observer) => {
      await clock.sleep(200);
      return streamTaking(clock, () => 0).putAll(rows, observer);
    };
    let windows = 0;
    const readWindow = async () => {
      windows += 1;
      if (windows === 1) return { rows: [keyed(1n)], isLast: false, parkedKeys: [] };
      await clock.sleep(100);
      throw new Error('broken');
    };
    const { relay, fill } = idleRelay([[]], putAll, { clock }, { readWindow });
    fill();
    await runFor(50, relay, clock);
    // At the end of a turn Node.js tells of rejections that nobody has handled, and jest fails the test.
    await new Promise(setImmediate);
    expect(windows).toBe(2);
  });

  test('because another worker has its range sends nothing more of what is parked', async () => {
    const clock = new VirtualClock();
    const { putAll } = streamTaking(clock, () => 5_000);
    let looks = 0;
    let reads = 0;
    const { relay, fill } = idleRelay(
      [[keyed(1n)]],
      putAll,
      { clock },
      {
        parkedKeys: async () => [{ partitionKey: 'parked', tries: 1, firstId: 1n }],
        look: async () => (looks++ === 0 ? { to: '5:5:', firstId: 1n, hasRows: true } : undefined),
        readParked: async () => {
          reads += 1;
          return { rows: [], unreadKeys: [] };
        },
      },
    );
    fill();
    await expect(clock.runUntil(relay.run())).rejects.toThrow(OutboxLeaseError);
    // What the stream has is waited for, and the key would have been due in a second.
    expect([clock.now(), reads]).toEqual([5_000, 0]);
  });

  test('ends with what its producer throws', async () => {
    const closed = new ProducerClosedError();
    const clock = new VirtualClock();
    const putAll: PutAll = () => Promise.reject(closed);
    await expect(clock.runUntil(relayOf([[rowOf(1n)]], putAll, { clock }).run())).rejects.toBe(closed);
  });
});

describe('a row that the stream refuses', () => {
  /** A relay with a table of parked rows, which it reads in 10 ms, and the tries of which somebody heard. */
  function relayWithTable(windows: OutboxRow[][], putAll: PutAll, options: OutboxRelayOptions) {
    let table: ParkedRow[] = [];
    const tries: number[] = [];
    const onRejected = (error: OutboxRowError) => void tries.push(error.tries);
    const relay = idleRelay(
      windows,
      putAll,
      { ...options, onRejected },
      {
        park: async (_, rows) => {
          const parked = rows.map((row) => ({ ...row, tries: 0 }));
          table = [...table, ...parked].sort((a, b) => Number(a.id - b.id));
          return true;
        },
        readParked: async (_, keys, { maxRows }) => {
          const names = keys.map(({ partitionKey }) => partitionKey);
          const found = table.filter(({ partitionKey }) => names.includes(partitionKey)).slice(0, maxRows);
          await options.clock!.sleep(10);
          return { rows: found, unreadKeys: [] };
        },
        removeParked: async (gone) => {
          table = table.filter(({ id }) => gone.every((row) => row.id !== id));
        },
        countTries: async (rejected) => {
          const tried = rejected.map(({ row }) => row.id);
          table = table.map((row) => (tried.includes(row.id) ? { ...row, tries: row.tries + 1 } : row));
        },
      },
    );
    return { ...relay, tries, left: () => table.length };
  }

  test('is parked, and tried again by itself until the stream takes it, while others go on', async () => {
    const clock = new VirtualClock();
    const taken: bigint[] = [];
    const putAll: PutAll = async (rows, observer) => {
      for await (const row of rows) {
        const { id } = row as unknown as OutboxRow;
        taken.push(id);
        const isRefused = id === 1n && taken.filter((each) => each === id).length <= 3;
        if (isRefused) observer?.rejected?.(0, row, new Error('refused'));
        else observer?.delivered?.(0, row, DELIVERED);
      }
      return { delivered: 0, rejected: 0 };
    };
    const { relay, fill, summary, tries, left } = relayWithTable([[keyed(1n), keyed(2n)]], putAll, { clock });
    fill();
    await runFor(10_000, relay, clock);
    expect(taken).toEqual([1n, 2n, 1n, 1n, 1n]);
    expect(summary).toEqual({ ...noRelaySummary(), relayed: 2, parked: 1, rejections: 2 });
    expect([tries, left()]).toEqual([[1, 2], 0]);
  });

  test('goes before a later row of its key that is parked, and has been read', async () => {
    const clock = new VirtualClock();
    const taken: bigint[] = [];
    const putAll: PutAll = async (rows, observer) => {
      for await (const row of rows) {
        const { id } = row as unknown as OutboxRow;
        taken.push(id);
        if (taken.length === 1) clock.schedule(() => observer?.rejected?.(0, row, new Error('refused')), 5);
        else observer?.delivered?.(0, row, DELIVERED);
      }
      return { delivered: 0, rejected: 0 };
    };
    // Of a key one row may be in flight.
    const options = { clock, maxRowsInFlight: 8 };
    const { relay, fill, left } = relayWithTable([[rowOf(1n), rowOf(2n)]], putAll, options);
    fill();
    await runFor(10_000, relay, clock);
    expect([taken, left()]).toEqual([[1n, 1n, 2n], 0]);
  });

  test('because its producer has ended stays parked, and ends the relay', async () => {
    const clock = new VirtualClock();
    const closed = new ProducerClosedError();
    let puts = 0;
    const putAll: PutAll = async (rows, observer) => {
      for await (const row of rows) observer?.rejected?.(0, row, puts++ === 0 ? new Error('refused') : closed);
      return { delivered: 0, rejected: 0 };
    };
    const { relay, fill, tries, left } = relayWithTable([[rowOf(1n)]], putAll, { clock });
    fill();
    await expect(clock.runUntil(relay.run())).rejects.toBe(closed);
    expect([tries, left()]).toEqual([[], 1]);
  });
});

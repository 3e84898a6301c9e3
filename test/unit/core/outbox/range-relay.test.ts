import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { HeldRange, OutboxDatabase, OutboxRow } from '../../../../lib/core/outbox/outbox-database';
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
    readWindow: async () => ({ rows: windows.shift()!, isLast: windows.length === 0 }),
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

/** A relay that finds nothing at first, and then these windows, and what it tells the database. */
function idleRelay(windows: OutboxRow[][], putAll: PutAll, options: OutboxRelayOptions) {
  const told = {
    sleeping: [] as boolean[],
    saved: [] as [RangePosition, readonly bigint[]][],
    parkedAtMs: [] as number[],
  };
  let left: OutboxRow[][] = [];
  const database: Partial<OutboxDatabase> = {
    parkedKeys: async () => [],
    look: async () => ({ to: '5:5:', firstId: 1n, hasRows: left.length > 0 }),
    readWindow: async () => ({ rows: left.shift()!, isLast: left.length === 0 }),
    save: async (_, position, acknowledged) => {
      told.saved.push([position, acknowledged]);
      return true;
    },
    setSleeping: async (isSleeping) => void told.sleeping.push(isSleeping),
    park: async () => {
      told.parkedAtMs.push(options.clock!.now());
      return true;
    },
    readParked: async () => [],
  };
  const range = { number: 1, position: { from: '3:3:', afterId: 0n } } as HeldRange;
  const streams = new Streams({ putAll });
  const relay = new RangeRelay(database as OutboxDatabase, streams, range, relaySettings(options), noRelaySummary());
  const fill = () => {
    left = windows;
    relay.wake();
  };
  return { relay, told, fill };
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

test('each row that is acknowledged is noted once, though the position has to wait for one before it', async () => {
  const clock = new VirtualClock();
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) {
      const deliver = () => observer?.delivered?.(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
      const { id } = row as unknown as OutboxRow;
      clock.schedule(deliver, id === 1n ? 3_500 : 500);
    }
    return { delivered: 2, rejected: 0 };
  };
  const windows = [[rowOf(1n), rowOf(2n)]];
  const { relay, told, fill } = idleRelay(windows, putAll, { clock, saveMs: 1_000 });
  const running = relay.run();
  fill();
  await clock.runUntil(clock.sleep(10_000));
  relay.stop();
  await clock.runUntil(running);
  expect(told.saved).toEqual([
    [{ from: '3:3:', afterId: 0n }, [2n]],
    [{ from: '5:5:', afterId: 0n }, [1n]],
  ]);
});

test.each([
  [100, 2],
  [101, 3],
])('a key that does not move is waited for while %d rows could be parked: %d ms', async (rows, ms) => {
  const clock = new VirtualClock();
  const putAll: PutAll = async (pulled, observer) => {
    for await (const row of pulled) {
      const deliver = () => observer?.delivered?.(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
      clock.schedule(deliver, 10_000);
    }
    return { delivered: rows, rejected: 0 };
  };
  const windows = [Array.from({ length: rows }, (_, index) => rowOf(BigInt(index + 1)))];
  const { relay, told, fill } = idleRelay(windows, putAll, { clock, maxRowsInFlight: 80 });
  fill();
  const running = relay.run();
  await clock.runUntil(clock.sleep(5_000));
  relay.stop();
  await clock.runUntil(running);
  expect(told.parkedAtMs[0]).toBe(ms);
});

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { HeldRange } from '../../../../lib/core/outbox/key-ranges';
import type { NewRows } from '../../../../lib/core/outbox/new-rows';
import type { OutboxRow } from '../../../../lib/core/outbox/outbox-row';
import type { ParkedTable } from '../../../../lib/core/outbox/parked-table';
import { RangeRelay } from '../../../../lib/core/outbox/range-relay';
import { relaySettings, type TunedRelayOptions } from '../../../../lib/core/outbox/relay-options';
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

/** A relay of one range, which reads its rows in these batches. */
function relayOf(
  batches: OutboxRow[][],
  putAll: PutAll,
  options: TunedRelayOptions,
  readBatch: NewRows['readBatch'] = async () => ({
    rows: batches.shift()!,
    isLast: batches.length === 0,
    parkedKeys: [],
  }),
): RangeRelay {
  const newRows: Partial<NewRows> = {
    range: { number: 1, position: { from: '3:3:', afterId: 0n } } as HeldRange,
    takeSnapshot: async () => ({ to: '5:5:', firstId: 1n, hasRows: batches.length > 0 }),
    readBatch,
    save: async () => {},
    setSleeping: async () => {},
  };
  const parkedTable: Partial<ParkedTable> = { listKeys: async () => [] };
  const [settings, summary] = [relaySettings(options), noRelaySummary()];
  return new RangeRelay(newRows as NewRows, parkedTable as ParkedTable, new Streams({ putAll }), settings, summary);
}

test('RangeRelay.stop – a row of a key was not sent – sends no later rows of this key', async () => {
  const clock = new VirtualClock();
  const batches = [[rowOf(1n)], [rowOf(2n), rowOf(3n)]];
  const taken: bigint[] = [];
  let refuseFirst = (): void => {};
  // The stream accepts two rows.
  const putAll = async <R extends ProducerRecord>(rows: Iterable<R> | AsyncIterable<R>, observer?: PutObserver<R>) => {
    const summary = { delivered: 0, rejected: 0 };
    for await (const row of rows) {
      const { id } = row as unknown as OutboxRow;
      taken.push(id);
      const refused = new Promise<void>((resolve) => {
        if (id === 1n) refuseFirst = resolve;
      });
      if (id === 1n) void refused.then(() => observer?.rejected?.(0, row, new Error('rejected')));
      else {
        await clock.sleep(100);
        observer?.delivered?.(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
      }
    }
    return summary;
  };
  const relay = relayOf(batches, putAll, { clock });
  const running = relay.run();
  await clock.runUntil(clock.sleep(50));
  relay.stop();
  refuseFirst();
  await clock.runUntil(running);
  expect(taken).toEqual([1n, 2n]);
});

test('RangeRelay – the producer is closed – ends with the error of the producer and parks no row', async () => {
  const closed = new ProducerClosedError();
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) observer?.rejected?.(0, row, closed);
    return { delivered: 0, rejected: 1 };
  };
  const clock = new VirtualClock();
  await expect(clock.runUntil(relayOf([[rowOf(1n)]], putAll, { clock }).run())).rejects.toBe(closed);
});

test('RangeRelay – rows are acknowledged – makes room for other rows before it saves its position again', async () => {
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
  const batches = Array.from({ length: ROWS }, (_, index) => [rowOf(BigInt(index + 1))]);
  const relay = relayOf(batches, putAll, { clock, maxRowsInFlight: 1, saveMs: 10_000 });
  const running = relay.run();
  await clock.runUntil(all);
  expect(clock.now()).toBeLessThan(10_000);
  relay.stop();
  await clock.runUntil(running);
});

test('RangeRelay – rows after a row in flight are acknowledged – does not keep the data of these rows in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const clock = new VirtualClock();
  const data: WeakRef<Uint8Array>[] = [];
  const batches = Array.from({ length: 10 }, (_, batch) =>
    Array.from({ length: 10 }, (_, index) => rowOf(BigInt(10 * batch + index + 1))),
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
  const relay = relayOf(batches, putAll, { clock });
  const running = relay.run();
  await clock.runUntil(clock.sleep(100));
  collect();
  expect(data).toHaveLength(100);
  expect(data.filter((each) => each.deref() !== undefined)).toHaveLength(1);
  relay.stop();
  endFirst();
  await clock.runUntil(running);
});

/** Runs a relay for this time, and waits until it has ended. */
async function runFor(ms: number, relay: RangeRelay, clock: VirtualClock): Promise<void> {
  const running = relay.run();
  await clock.runUntil(clock.sleep(ms));
  relay.stop();
  await clock.runUntil(running);
}

const DELIVERED = { shardId: 'shard', sequenceNumber: '1', attempts: 1 };

/** A stream that acknowledges each row after the time that `msOf` returns, and records the row. */
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

const keyed = (id: bigint): OutboxRow => ({ ...rowOf(id), partitionKey: `key ${id}` });

test('RangeRelay – maxRowsInFlight rows are in flight – reads no batch until the stream acknowledges a row', async () => {
  const clock = new VirtualClock();
  const { putAll, taken } = streamTaking(clock, ({ id }) => (id === 1n ? 2_000 : 9_000));
  const options = { clock, maxRowsInFlight: 2, saveMs: 60_000 };
  await runFor(5_000, relayOf([[keyed(1n)], [keyed(2n)], [keyed(3n)]], putAll, options), clock);
  expect(taken).toEqual([
    { id: 1n, atMs: 0 },
    { id: 2n, atMs: 0 },
    { id: 3n, atMs: 2_000 },
  ]);
});

test('RangeRelay.stop – the read of the next batch fails – ends without an unhandled rejection', async () => {
  const clock = new VirtualClock();
  const putAll: PutAll = async (rows, observer) => {
    await clock.sleep(200);
    return streamTaking(clock, () => 0).putAll(rows, observer);
  };
  let batches = 0;
  const readBatch = async () => {
    batches += 1;
    if (batches === 1) return { rows: [keyed(1n)], isLast: false, parkedKeys: [] };
    await clock.sleep(100);
    throw new Error('broken');
  };
  await runFor(50, relayOf([[]], putAll, { clock }, readBatch), clock);
  // Waits for one turn of the event loop: Node.js then reports unhandled rejections, and jest fails the test.
  await new Promise(setImmediate);
  expect(batches).toBe(2);
});

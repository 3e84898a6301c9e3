import type { HeldRange } from '../../../../lib/core/outbox/key-ranges';
import type { NewRows } from '../../../../lib/core/outbox/new-rows';
import type { OutboxRow } from '../../../../lib/core/outbox/outbox-row';
import type { ParkedTable } from '../../../../lib/core/outbox/parked-table';
import { RangeRelay } from '../../../../lib/core/outbox/range-relay';
import { relaySettings, type TunedRelayOptions } from '../../../../lib/core/outbox/relay-options';
import { noRelaySummary } from '../../../../lib/core/outbox/relay-summary';
import { type RecordSink, Streams } from '../../../../lib/core/outbox/streams';
import { ProducerClosedError } from '../../../../lib/core/producer';
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

test('RangeRelay – the producer is closed – ends with the error of the producer and parks no row', async () => {
  const closed = new ProducerClosedError();
  const putAll: PutAll = async (rows, observer) => {
    for await (const row of rows) observer?.rejected?.(0, row, closed);
    return { delivered: 0, rejected: 1 };
  };
  const clock = new VirtualClock();
  await expect(clock.runUntil(relayOf([[rowOf(1n)]], putAll, { clock }).run())).rejects.toBe(closed);
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

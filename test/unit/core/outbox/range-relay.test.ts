import type { HeldRange, OutboxDatabase, OutboxRow } from '../../../../lib/core/outbox/outbox-database';
import { RangeRelay } from '../../../../lib/core/outbox/range-relay';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { noRelaySummary } from '../../../../lib/core/outbox/relay-summary';
import { Streams } from '../../../../lib/core/outbox/streams';
import type { ProducerRecord, PutObserver } from '../../../../lib/core/producer';
import { VirtualClock } from '../../../../lib/testing';

const rowOf = (id: bigint): OutboxRow => ({
  id,
  partitionKey: 'key',
  data: new Uint8Array(1),
  sequence: { producerId: 'outbox', sequenceNumber: id },
  hasEnded: false,
});

test('nothing more is handed over by a relay that ends: what it left of a key comes before', async () => {
  const clock = new VirtualClock();
  const windows = [[rowOf(1n)], [rowOf(2n), rowOf(3n)]];
  const database: Partial<OutboxDatabase> = {
    parkedKeys: async () => [],
    look: async () => ({ to: '5:5:', firstId: 1n, hasRows: true }),
    readWindow: async () => ({ rows: windows.shift()!, isLast: windows.length === 0 }),
    save: async () => true,
    setSleeping: async () => {},
  };
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
  const range = { number: 1, position: { from: '3:3:', afterId: 0n } } as HeldRange;
  const settings = relaySettings({ clock });
  const relay = new RangeRelay(database as OutboxDatabase, new Streams({ putAll }), range, settings, noRelaySummary());
  const running = relay.run();
  await clock.runUntil(clock.sleep(50));
  relay.stop();
  refuseFirst();
  await clock.runUntil(running);
  expect(taken).toEqual([1n, 2n]);
});

import type { HeldRange, OutboxDatabase } from '../../../../lib/core/outbox/outbox-database';
import { ParkedKeys } from '../../../../lib/core/outbox/parked-keys';
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

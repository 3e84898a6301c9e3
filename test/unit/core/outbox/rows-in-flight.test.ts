import type { OutboxRow } from '../../../../lib/core/outbox/outbox-row';
import { RowsInFlight } from '../../../../lib/core/outbox/rows-in-flight';

const rowOf = ({ key, bytes }: { key: string; bytes: number }, index: number): OutboxRow => ({
  id: BigInt(index + 1),
  partitionKey: key,
  data: new Uint8Array(bytes),
  sequence: { producerId: 'p', sequenceNumber: BigInt(index + 1) },
  read: { id: BigInt(index + 1), hasEnded: false },
});

test.each([
  ['rows', { maxRowsInFlight: 80, maxBytesInFlight: 1_000_000 }, 1],
  ['bytes', { maxRowsInFlight: 1_000_000, maxBytesInFlight: 8_000 }, 100],
])('RowsInFlight – one key has rows in flight – the key can use one eighth of the limit of %s', (_, limits, bytes) => {
  const inFlight = new RowsInFlight(limits);
  for (let index = 0; index < 10; index++) {
    expect([inFlight.isHalfFullFor('a'), inFlight.isFullFor('a')]).toEqual([index >= 5, false]);
    inFlight.add(rowOf({ key: 'a', bytes }, index));
  }
  expect([inFlight.isFullFor('a'), inFlight.isFullFor('b'), inFlight.isFull]).toEqual([true, false, false]);
});

test.each([
  ['rows', { maxRowsInFlight: 16, maxBytesInFlight: 1_000_000 }],
  ['bytes', { maxRowsInFlight: 1_000_000, maxBytesInFlight: 1_600 }],
])(
  'RowsInFlight – the limit of %s in flight is reached – has no room until a row is no longer in flight',
  (_, limits) => {
    const inFlight = new RowsInFlight(limits);
    const rows = [...'aabbccddeeffgghh'].map((key, index) => rowOf({ key, bytes: 100 }, index));
    for (const row of rows) {
      expect(inFlight.isFull).toBe(false);
      inFlight.add(row);
    }
    for (const row of rows.slice(0, 2)) {
      expect([inFlight.isFull, inFlight.isFullFor('a')]).toEqual([true, true]);
      inFlight.remove(row);
      expect([inFlight.isFull, inFlight.isFullFor('a'), inFlight.isFullFor('b')]).toEqual([false, false, true]);
      inFlight.add(row);
    }
  },
);

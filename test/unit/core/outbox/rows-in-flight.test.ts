import fc from 'fast-check';
import type { OutboxRow } from '../../../../lib/core/outbox/outbox-row';
import { RowsInFlight } from '../../../../lib/core/outbox/rows-in-flight';

const rowOf = ({ key, bytes }: { key: string; bytes: number }, index: number): OutboxRow => ({
  id: BigInt(index + 1),
  partitionKey: key,
  data: new Uint8Array(bytes),
  sequence: { producerId: 'p', sequenceNumber: BigInt(index + 1) },
  read: { id: BigInt(index + 1), hasEnded: false },
});

const rows = fc
  .array(fc.record({ key: fc.constantFrom('a', 'b'), bytes: fc.nat(30) }), { maxLength: 60 })
  .map((drawn) => drawn.map(rowOf));
const limits = fc.record({
  maxRowsInFlight: fc.integer({ min: 1, max: 200 }),
  maxBytesInFlight: fc.integer({ min: 1, max: 2_000 }),
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

describe('RowsInFlight.pieces', () => {
  test('returns all rows of the batch in order, in pieces that are not empty', () => {
    fc.assert(
      fc.property(rows, limits, (batch, limit) => {
        const pieces = [...new RowsInFlight(limit).pieces(batch)];
        expect(pieces.flat()).toEqual(batch);
        expect(pieces.filter(({ length }) => length === 0)).toEqual([]);
      }),
    );
  });

  test.each([
    ['10 rows', { maxRowsInFlight: 160, maxBytesInFlight: 1_000_000 }, Array<number>(25).fill(1), [10, 10, 5]],
    ['100 bytes', { maxRowsInFlight: 1_000, maxBytesInFlight: 1_600 }, [60, 40, 100, 60, 41], [2, 1, 1, 1]],
    ['500 rows', { maxRowsInFlight: 1_000_000, maxBytesInFlight: 1_000_000 }, Array<number>(501).fill(1), [500, 1]],
  ])('returns pieces of at most %s', (_, limit, sizes, lengths) => {
    const batch = sizes.map((bytes, index) => rowOf({ key: 'a', bytes }, index));
    expect([...new RowsInFlight(limit).pieces(batch)].map(({ length }) => length)).toEqual(lengths);
  });

  test('returns pieces that do not exceed the share of a key, if the key has used less than half of its share and the piece has several rows', () => {
    fc.assert(
      fc.property(rows, rows, limits, (before, batch, limit) => {
        for (const piece of new RowsInFlight(limit).pieces(batch)) {
          const inFlight = new RowsInFlight(limit);
          for (const row of before) if (!inFlight.isHalfFullFor(row.partitionKey)) inFlight.add(row);
          const room = piece.filter(({ partitionKey }) => !inFlight.isHalfFullFor(partitionKey));
          if (piece.length === 1 || room.length < piece.length) continue;
          for (const row of piece) {
            expect(inFlight.isFullFor(row.partitionKey)).toBe(false);
            inFlight.add(row);
          }
        }
      }),
    );
  });
});

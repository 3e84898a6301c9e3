import fc from 'fast-check';
import { Progress, type ReadRow, type Span } from '../../../../lib/core/outbox/progress';

const spanOf = (number: number): Span => ({
  from: `snapshot ${number}`,
  to: `snapshot ${number + 1}`,
  firstId: 1n,
});
const rowOf = (id: bigint): ReadRow => ({ id, hasEnded: false });

test('a position passes the rows that have ended, up to the first that has not', () => {
  const progress = new Progress({ from: 'snapshot 0', afterId: 0n });
  const rows = [1n, 2n, 3n].map(rowOf);
  progress.begin(spanOf(0));
  for (const row of rows) progress.read(row);
  progress.end(spanOf(0));
  const reached = [progress.reached()];
  for (const index of [1, 0, 2]) {
    rows[index]!.hasEnded = true;
    reached.push(progress.reached());
  }
  expect(reached).toEqual([
    { from: 'snapshot 0', afterId: 0n },
    { from: 'snapshot 0', afterId: 0n },
    { from: 'snapshot 0', to: 'snapshot 1', afterId: 2n },
    { from: 'snapshot 1', afterId: 0n },
  ]);
});

test('a worker that goes on within a span is there until a row of its own has ended', () => {
  const position = { from: 'snapshot 0', to: 'snapshot 1', afterId: 5n };
  const progress = new Progress({ ...position });
  const row = rowOf(6n);
  progress.read(row);
  expect(progress.reached()).toEqual(position);
  row.hasEnded = true;
  expect(progress.reached()).toEqual({ ...position, afterId: 6n });
});

test('however many rows there are, and in whatever order they end, none that is open is passed, and none that is passed is kept', () => {
  const plays = fc.record({
    rows: fc.integer({ min: 1, max: 100 }),
    open: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });
  fc.assert(
    fc.property(plays, ({ rows: count, open }) => {
      const progress = new Progress({ from: 'snapshot 0', afterId: 0n });
      const rows = Array.from({ length: count }, (_, index) => rowOf(BigInt(index + 1)));
      progress.begin(spanOf(0));
      for (const row of rows) progress.read(row);
      const last = Math.floor(open * count);
      for (const row of rows.slice(0, last)) row.hasEnded = true;
      for (const row of rows.slice(last + 1)) row.hasEnded = true;
      expect(progress.reached().afterId).toBe(BigInt(last));
      expect(progress.length).toBe(count - last);
      rows[last]!.hasEnded = true;
      progress.end(spanOf(0));
      expect(progress.reached()).toEqual({ from: 'snapshot 1', afterId: 0n });
      expect(progress.length).toBe(0);
    }),
    { numRuns: 20 },
  );
});

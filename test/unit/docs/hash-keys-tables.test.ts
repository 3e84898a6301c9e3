import { readFileSync } from 'node:fs';
import { cellsAbove, evennessRow, SHARDS } from '../../support/tables/evenness';

/** The tables that `npm run bench allocator` writes into its guide. Tests do not time: of what takes time they hold the ratios. */

const guide = readFileSync('docs/guides/hash-keys.md', 'utf8');

function rowsOf(part: string): string[][] {
  const [, rest] = guide.split(`<!-- begin: npm run bench allocator ${part} -->`);
  const lines = rest!.slice(0, rest!.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

test('how far the fullest shard exceeds its share is what the bench computes', () => {
  expect(rowsOf('evenness')).toEqual(SHARDS.map(evennessRow));
});

test('in how many cells it does is what the text says', () => {
  const [md5, reversal, allocator] = cellsAbove().map((cells) => cells.toLocaleString('en-US'));
  expect(allocator).toBe('0');
  expect(guide.replaceAll(/\s+/g, ' ')).toContain(
    `MD5 exceeds ceil(m/k) in ${md5} of them, bit reversal in ${reversal}, and the allocator in none.`,
  );
});

test('the ratios of the next key are those of the times beside them', () => {
  const microseconds = (cell: string) => Number.parseFloat(cell) * (cell.endsWith('ms') ? 1_000 : 1);
  const rows = rowsOf('next-key');
  expect(rows).toHaveLength(4);
  for (const [, baseline, ours, ratio, sharded, shardedRatio] of rows) {
    for (const [time, times] of [
      [ours!, ratio!],
      [sharded!, shardedRatio!],
    ] as const) {
      const exact = microseconds(baseline!) / microseconds(time);
      // All three are rounded: the ratio to a whole number, the times to two digits.
      expect(Math.abs(Number(times.replaceAll(',', '')) - exact)).toBeLessThan(0.5 + 0.05 * exact);
    }
  }
});

test('what a restart takes of memory is as the text compares it', () => {
  const [handedOut, consecutive, md5] = rowsOf('restarts').map((cells) =>
    cells.slice(2).map((cell) => Number(cell.replaceAll(',', ''))),
  );
  expect(consecutive![1]).toBeLessThan(consecutive![0]!);
  expect(handedOut![1]! / handedOut![0]!).toBeCloseTo(1, 0);
  expect(md5![1]! / md5![0]!).toBeGreaterThan(20);
});

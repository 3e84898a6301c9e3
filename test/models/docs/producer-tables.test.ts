import { readFileSync } from 'node:fs';
import { byChanceRows } from '../../support/tables/producer/by-chance';
import { fiveProducersRows } from '../../support/tables/producer/five-producers';
import { MANY_KEYS, manyKeysRow } from '../../support/tables/producer/many-keys';
import { PACKED_TABLES, packedRows } from '../../support/tables/producer/packed';

/** Tables of `npm run bench producer` whose time is simulated: these tests compute the rows that take seconds again. */

const guide = readFileSync('docs/guides/ordered-producer.md', 'utf8');

/** The rows of the table that a part of the bench has written. */
function rowsOf(part: string): string[][] {
  const begin = `<!-- begin: npm run bench producer ${part} -->`;
  const [, rest] = guide.split(begin) as [string, string | undefined];
  if (rest === undefined) throw new Error(`the guide has no ${begin}`);
  const lines = rest.slice(0, rest.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the tables of the guide to the ordered producer', () => {
  test('of many keys is what the bench computes: its time is simulated', async () => {
    const rows = rowsOf('many-keys');
    expect(rows).toHaveLength(MANY_KEYS.length);
    // The unordered batcher draws its back-off anew each time.
    const ours = (cells: string[]) => [0, 2, 4, 5, 7].map((column) => cells[column]);
    expect(ours(rows[0]!)).toEqual(ours(await manyKeysRow(MANY_KEYS[0]!)));
  }, 300_000);

  test('of aggregates across keys is what the bench computes: its time is simulated', async () => {
    const [perKey, ...others] = rowsOf('packed');
    expect(others.map(([name]) => name)).toEqual(['256 buckets', '256 buckets, linger 5 ms']);
    expect([perKey]).toEqual(await packedRows(PACKED_TABLES.packed, ['per key']));
  }, 300_000);

  test('of five producers is what the bench computes: its time is simulated', async () => {
    expect(rowsOf('five-producers').slice(0, 2)).toEqual(await fiveProducersRows(10));
  }, 300_000);

  test('of throttles by chance is what the bench computes: its time is simulated', () => {
    expect(rowsOf('by-chance')).toEqual(byChanceRows());
  }, 300_000);
});

import { readFileSync } from 'node:fs';
import { byChanceRows } from '../../support/tables/producer/by-chance';
import { fiveProducersRows } from '../../support/tables/producer/five-producers';
import { MANY_KEYS, manyKeysRow } from '../../support/tables/producer/many-keys';
import { PACKS_TABLES, packsRows } from '../../support/tables/producer/packs';

/**
 * The tables that `npm run bench producer` writes into its guide. Rows whose time is simulated are computed again, as many as take
 * seconds. Tests do not time: of the other tables they hold what the guide says of them.
 */

const guide = readFileSync('docs/guides/ordered-producer.md', 'utf8');
const text = guide.replaceAll(/\s+/g, ' ');

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

const numberIn = (cell: string): number => Number(/[\d.]+/.exec(cell.replaceAll(',', ''))![0]);

describe('the tables of the guide to the ordered producer', () => {
  test('of many keys is what the bench computes: its time is simulated', async () => {
    const rows = rowsOf('many-keys');
    expect(rows).toHaveLength(MANY_KEYS.length);
    // The unordered batcher draws its back-off anew each time.
    const ours = (cells: string[]) => [0, 2, 4, 5, 7].map((column) => cells[column]);
    expect(ours(rows[0]!)).toEqual(ours(await manyKeysRow(MANY_KEYS[0]!)));
  }, 300_000);

  test('of many keys says what the text says', () => {
    const rows = rowsOf('many-keys').map((cells) => cells.slice(1).map(numberIn));
    const below = (column: number, percent: number) => rows.filter((cells) => cells[column]! < percent).length;
    expect([below(2, 90), below(3, 95)]).toEqual([5, 5]);
    expect(text).toContain('**Without aggregation five of the eight rows miss them.**');
    expect([below(5, 100), below(6, 95)]).toEqual([0, 4]);
    expect(text).toContain("every row is above unordered. Four rows miss 95 % of the shards' bytes.");
  });

  test('of packs is what the bench computes: its time is simulated', async () => {
    const [perKey, ...others] = rowsOf('packs');
    expect(others.map(([name]) => name)).toEqual(['256 buckets', '256 buckets, linger 5 ms']);
    expect([perKey]).toEqual(await packsRows(PACKS_TABLES.packs, ['per key']));
  }, 300_000);

  test('of packs say what the text says of buffers', () => {
    const [, packed] = rowsOf('packs');
    const [, large, lingering] = rowsOf('packs, with a large buffer');
    const thousands = (cell: string) => `${Math.round(numberIn(cell) / 1_000)},000`;
    expect(text).toContain(`the default of 10,000 records carried ${thousands(packed![1]!)} records a second.`);
    expect(text).toContain(
      `100,000 kept up ${thousands(large![1]!)} once the full buckets were used up, ${large![3]} of the bytes that the ` +
        `shards take, and ${lingering![3]} with a linger of 5 ms.`,
    );
  });

  test('of five producers is what the bench computes: its time is simulated', async () => {
    expect(rowsOf('five-producers').slice(0, 2)).toEqual(await fiveProducersRows(10));
  }, 300_000);

  test('of five producers says what the text says of the time after the overload', () => {
    const rows = rowsOf('five-producers').map(([second, , , , , slowest]) => [second!, numberIn(slowest!)] as const);
    const after = rows.filter(([second]) => numberIn(second) >= 30);
    const slow = after.filter(([, ms]) => ms > 60);
    expect(Math.floor(Math.max(...slow.map(([, ms]) => ms)) / 1_000)).toBe(26);
    expect(slow.map(([second]) => second)).toEqual(['30 to 35', '35 to 40', '40 to 45']);
    expect(text).toContain(
      "the full buffers held 26 seconds of the hottest shard's records. The producers wrote them within 15 seconds.",
    );
    expect(text).toContain('After that a record takes 60 ms at most.');
  });

  test('of throttles by chance is what the bench computes: its time is simulated', () => {
    expect(rowsOf('by-chance')).toEqual(byChanceRows());
  }, 300_000);

  test('of throttles by chance says what the text says', () => {
    const [one, , , five] = rowsOf('by-chance').map((cells) => cells.slice(1));
    const stored = one!.map(numberIn);
    expect(Math.min(...stored.slice(0, 5))).toBeGreaterThan(90);
    expect(stored[5]).toBeCloseTo(33, 0);
    const rejected = five!.slice(0, 5).map((cell) => numberIn(cell.split('/')[1]!));
    for (const percent of rejected) expect([4, 5]).toContain(Math.round(percent));
    expect(text).toContain('nine tenths and more up to 3 %, and a third at 5 %');
    expect(text).toContain('five of them have 4 to 5 % of their entries rejected');
  });

  test('of processor time gives each approach as many times the first as its ratio says', () => {
    const rows = rowsOf('processor-time').map((cells) => cells.slice(1).map(numberIn));
    expect(rows).toHaveLength(7);
    for (const [many, timesMany, few, timesFew] of rows) {
      const [baseMany, , baseFew] = rows[0]!;
      // Both are rounded.
      expect(Math.abs(many! / baseMany! - timesMany!)).toBeLessThan(0.05 + (0.01 * timesMany!) / baseMany!);
      expect(Math.abs(few! / baseFew! - timesFew!)).toBeLessThan(0.05 + (0.01 * timesFew!) / baseFew!);
    }
  });

  test('of a published figure gives each producer as many times aiokpl here as its ratio says', () => {
    const [published, here, ...ours] = rowsOf('published-figure');
    expect(published![1]).toBe('8,572');
    for (const row of ours) expect(numberIn(row.at(-1)!)).toBeCloseTo(numberIn(row[1]!) / numberIn(here![1]!), 1);
  });
});

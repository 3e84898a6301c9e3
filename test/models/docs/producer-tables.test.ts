import { readFileSync } from 'node:fs';
import { byChanceRows } from '../../support/tables/producer/by-chance';
import { fiveProducersRows } from '../../support/tables/producer/five-producers';
import { MANY_KEYS, manyKeysRow } from '../../support/tables/producer/many-keys';
import { DECISION_SCENARIO, packedRows } from '../../support/tables/producer/packed';

/** Tables of `npm run bench producer` with simulated time. The tests compute the rows that take only seconds. */

const AGGREGATES = 'docs/decisions/0009-an-aggregate-is-one-point-of-the-hash-key-space.md';
const LANES = 'docs/decisions/0002-one-batch-entry-in-flight-per-partition-key.md';
const SHARES = 'docs/decisions/0015-producers-share-a-shard-without-coordination.md';

/** The rows of the table that a part of the bench writes. */
function rowsOf(document: string, part: string): string[][] {
  const begin = `<!-- begin: npm run bench producer ${part} -->`;
  const [, rest] = readFileSync(document, 'utf8').split(begin) as [string, string | undefined];
  if (rest === undefined) throw new Error(`${document} has no ${begin}`);
  const lines = rest.slice(0, rest.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the table of the ordered producer', () => {
  test('shows the rows that the bench computes for many keys', async () => {
    const rows = rowsOf(LANES, 'many-keys');
    expect(rows).toHaveLength(MANY_KEYS.length);
    // Leaves out the columns of the unordered batcher, because it has a random back-off.
    const ours = (cells: string[]) => [0, 2, 4, 5, 7].map((column) => cells[column]);
    expect(ours(rows[0]!)).toEqual(ours(await manyKeysRow(MANY_KEYS[0]!)));
  }, 300_000);

  test('shows the rows that the bench computes for aggregates across keys', async () => {
    const [perKey, ...others] = rowsOf(AGGREGATES, 'packed');
    expect(others.map(([name]) => name)).toEqual(['256 buckets', '256 buckets, linger 5 ms']);
    expect([perKey]).toEqual(await packedRows(DECISION_SCENARIO, ['per key']));
  }, 300_000);

  test('shows the rows that the bench computes for five producers', async () => {
    expect(rowsOf(SHARES, 'five-producers').slice(0, 2)).toEqual(await fiveProducersRows(10));
  }, 300_000);

  test('shows the rows that the bench computes for random throttles', () => {
    expect(rowsOf(SHARES, 'by-chance')).toEqual(byChanceRows());
  }, 300_000);
});

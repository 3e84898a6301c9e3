import { readFileSync } from 'node:fs';
import { evennessRow, SHARDS } from '../../support/tables/evenness';

/** Computes a table that `npm run bench allocator` also prints, and compares it with decision 0008. */

const decision = readFileSync('docs/decisions/0008-balanced-hash-keys-come-from-a-tree.md', 'utf8');

function rowsOf(part: string): string[][] {
  const [, rest] = decision.split(`<!-- begin: npm run bench allocator ${part} -->`);
  const lines = rest!.slice(0, rest!.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

test('the table of decision 0008 shows how far the fullest shard exceeds its share', () => {
  expect(rowsOf('evenness')).toEqual(SHARDS.map(evennessRow));
});

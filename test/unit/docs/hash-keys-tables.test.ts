import { readFileSync } from 'node:fs';
import { evennessRow, SHARDS } from '../../support/tables/evenness';

/** The table of `npm run bench allocator` whose figures the library computes. */

const guide = readFileSync('docs/guides/hash-keys.md', 'utf8');

function rowsOf(part: string): string[][] {
  const [, rest] = guide.split(`<!-- begin: npm run bench allocator ${part} -->`);
  const lines = rest!.slice(0, rest!.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  return lines.map((line) => line.slice(2, -2).split(' | '));
}

test('how far the fullest shard exceeds its share is what the bench computes', () => {
  expect(rowsOf('evenness')).toEqual(SHARDS.map(evennessRow));
});

import { readFileSync } from 'node:fs';
import { contentionRows } from '../../support/tables/contention';

/** The table that `npm run bench registry` writes into its guide: it comes from a virtual clock, so it is the same on every machine. */
test('what callers of a registry wait for each other is what the bench computes', async () => {
  const guide = readFileSync('docs/guides/hash-keys.md', 'utf8');
  const [, rest] = guide.split('<!-- begin: npm run bench registry -->');
  const lines = rest!.slice(0, rest!.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  expect(lines.map((line) => line.slice(2, -2).split(' | '))).toEqual(await contentionRows());
});

import { readFileSync } from 'node:fs';
import { contentionRows } from '../../support/tables/contention';

/**
 * The table of `npm run bench registry` in decision 0013. The bench uses a virtual clock, so the table is the same on every
 * machine.
 */
test('decision 0013 shows the times and requests that `npm run bench registry` computes', async () => {
  const decision = readFileSync('docs/decisions/0013-one-conditional-write-commits-a-change.md', 'utf8');
  const [, rest] = decision.split('<!-- begin: npm run bench registry -->');
  const lines = rest!.slice(0, rest!.indexOf('<!-- end -->')).trim().split('\n').slice(2);
  expect(lines.map((line) => line.slice(2, -2).split(' | '))).toEqual(await contentionRows());
});

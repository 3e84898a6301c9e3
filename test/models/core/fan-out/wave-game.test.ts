import { readFileSync } from 'node:fs';
import { leastBlocks } from './wave-game';

/** The table of the decision: shards, places, waves, the least number of blocks, and what is proven. */
const rows = /<!-- begin: wave-game.test.ts -->(.*)<!-- end -->/s
  .exec(readFileSync('docs/decisions/0048-few-waves-or-few-read-units.md', 'utf8'))![1]!
  .split('\n')
  .filter((line) => /\d/.test(line))
  .map((line) => line.match(/\d+/g)!.map(Number) as [number, number, number, number, number]);

describe('the least that a page costs on the index that is worst for it', () => {
  test('is told for one wave and for several', () => {
    expect(new Set(rows.map(([, , waves]) => waves))).toEqual(new Set([1, 2, 3]));
  });

  test.each(rows)(
    '%d shards, %d places, %d waves: %d blocks, of which %d are proven',
    (shards, places, waves, least, proven) => {
      let q = 1;
      while ((q + 1) ** waves <= shards) q += 1;
      expect(proven).toBe(Math.max(q * places, shards + places - 1));
      expect(leastBlocks(shards, places, waves)).toBe(least);
      expect(least).toBeGreaterThanOrEqual(proven);
    },
  );

  test('does not fall any more when there are as many waves as places', () => {
    expect(leastBlocks(3, 3, 4)).toBe(leastBlocks(3, 3, 3));
  });
});

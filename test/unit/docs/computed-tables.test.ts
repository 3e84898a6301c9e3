import { readFileSync } from 'node:fs';
import { overloadProbability, shardsForOverload } from '../../../lib/core/planning';

/** Computes the numbers of tables in the guides with the library, and compares them. */

test('the guide to planning states the computed overload probability for ten shards per partition', () => {
  const guide = readFileSync('docs/guides/planning.md', 'utf8');
  const rows = [...guide.matchAll(/^\| (\d+) \| ([\d.]+) % \| (\d+) \|$/gm)];
  expect(rows.map(([, partitions]) => partitions)).toEqual(['2', '4', '10', '20']);
  for (const [, cell, probability, shards] of rows) {
    const partitions = Number(cell);
    expect((100 * overloadProbability({ shards: 10 * partitions, partitions })).toFixed(1)).toBe(probability);
    expect(shardsForOverload({ partitions, probability: 0.05 })).toBe(Number(shards));
  }
});

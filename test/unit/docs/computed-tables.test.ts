import { readFileSync } from 'node:fs';
import { uniformRanges } from '../../../lib/core';
import { overloadProbability, shardsForOverload } from '../../../lib/core/planning';
import { planStreamReshard } from '../../../lib/core/resharding';
import { rangesBetween } from '../core/resharding/hash-key-ranges';

/** The tables of the guides that nobody measures, because the library computes them. */

test('ten shards for each partition overload one as often as the guide to planning says', () => {
  const guide = readFileSync('docs/guides/planning.md', 'utf8');
  const rows = [...guide.matchAll(/^\| (\d+) \| ([\d.]+) % \| (\d+) \|$/gm)];
  expect(rows.map(([, partitions]) => partitions)).toEqual(['2', '4', '10', '20']);
  for (const [, cell, probability, shards] of rows) {
    const partitions = Number(cell);
    expect((100 * overloadProbability({ shards: 10 * partitions, partitions })).toFixed(1)).toBe(probability);
    expect(shardsForOverload({ partitions, probability: 0.05 })).toBe(Number(shards));
  }
});

describe('the guide to resharding names the way', () => {
  const guide = readFileSync('docs/guides/resharding.md', 'utf8');
  const even = (count: number) => uniformRanges(count);
  const boundaries = (count: number) =>
    even(count)
      .slice(1)
      .map(({ startingHashKey }) => startingHashKey);
  const oneAstray = rangesBetween([boundaries(4)[0]! / 2n, ...boundaries(4).slice(1)]);
  const oneSplit = rangesBetween([boundaries(8)[0]!, ...boundaries(4)]);
  const allAstray = rangesBetween(boundaries(1_000).map((_, index) => 4n * BigInt(index + 1)));

  /** As the table has it: how many of each kind of request, and of updates that are a detour the counts. */
  const wayOf = (ranges: ReturnType<typeof even>, to: number, options = {}): string => {
    const plan = planStreamReshard(ranges, to, options);
    const kinds = ['update', 'split', 'merge'] as const;
    return kinds
      .flatMap((kind) => {
        const count = plan.filter(({ type }) => type === kind).length;
        return count === 0 ? [] : `${count} ${kind}${count === 1 ? '' : 's'}`;
      })
      .join(', ');
  };

  test.each([
    ['4 even shards', even(4), 32],
    ['1', even(1), 2],
    ['4 shards, one boundary out of place', oneAstray, 4],
    ['5 shards: of 4 shards, one was split by hand', oneSplit, 4],
    ['1,000 shards, all boundaries out of place', allAstray, 1_000],
  ])('from %s', (from, ranges, to) => {
    expect(guide).toContain(`\n| ${from} | ${to.toLocaleString('en-US')} | ${wayOf(ranges, to)}`);
  });

  test('from 4 to 32 with no updates left, and over which count a detour goes', () => {
    expect(guide).toContain(`with none left today, ${wayOf(even(4), 32, { updatesLeft: 0 })} |`);
    const detour = planStreamReshard(allAstray, 1_000).flatMap((request) =>
      request.type === 'update' ? request.shardCount.toLocaleString('en-US') : [],
    );
    expect(guide).toContain(`updates: ${detour.join(', ')} |`);
  });
});

import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { ReadBudget } from '../../../../lib/core/fan-out/read-budget';
import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';

const reader = { shard: 0, exhausted: false, read: () => Promise.reject(new Error('nothing is read here')) };
const buffer = new ShardBuffer<number>(reader, 1);

/** What the reads of a page ask for in the end. A block holds 40 items. */
function limitsOf(limits: (number | undefined)[], bounds: { maxReadUnits?: number; hides: boolean }) {
  const { maxReadUnits, hides } = bounds;
  const budget = new ReadBudget(maxReadUnits, 0.5, { consumedReadUnits: 0 }, new ItemSizes(100), hides);
  return budget.fit(limits.map((limit) => ({ buffer, limit }))).map(({ limit }) => limit);
}

describe('the reads of a page', () => {
  test.each([
    ['ask for all of their block, if a filter can hide items', { maxReadUnits: 200, hides: true }, [40, 50, undefined]],
    ['ask for what was planned, if nothing is hidden', { maxReadUnits: 200, hides: false }, [3, 50, undefined]],
    ['ask for what was planned, if no units bound the page', { hides: true }, [3, 50, undefined]],
  ])('%s', (_, bounds, expected) => {
    expect(limitsOf([3, 50, undefined], bounds)).toEqual(expected);
  });

  test('are the first ones, a block each, if the page cannot pay for all', () => {
    expect(limitsOf([3, 50, 3], { maxReadUnits: 1, hides: true })).toEqual([40, 40]);
  });
});

describe('the reads that a page can pay for', () => {
  /** With items of 100 bytes, a block holds 40. */
  const budgetOf = (
    maxReadUnits: number | undefined,
    { spent = 0, unitsOfBlock = 0.5, mean = 100, deviation = 0, hides = false } = {},
  ) => new ReadBudget(maxReadUnits, unitsOfBlock, { consumedReadUnits: spent }, new ItemSizes(mean, deviation), hides);
  const reads = (limits: (number | undefined)[]) => limits.map((limit) => ({ buffer, limit }));
  const fitting = (budget: ReadBudget, limits: (number | undefined)[]) =>
    budget.fit(reads(limits)).map(({ limit }) => limit);

  test.each<[string, ReadBudget, (number | undefined)[], (number | undefined)[]]>([
    ['all without a bound', budgetOf(undefined), [undefined, 5_000], [undefined, 5_000]],
    ['all that its units are enough for', budgetOf(2), [40, 41, 3], [40, 41, 3]],
    ['all that what is left is enough for', budgetOf(3, { spent: 1 }), [40, 41, 3], [40, 41, 3]],
    ['all, each block of which costs a unit', budgetOf(4, { unitsOfBlock: 1 }), [40, 41, 3], [40, 41, 3]],
    ['fewer items of each', budgetOf(1.5), [80, 80, 3], [40, 40, 3]],
    ['a block of each of the first', budgetOf(1), [80, 3, 80], [40, 3]],
    ['none with nothing left', budgetOf(1, { spent: 2 }), [3, 3], []],
    ['a whole answer without a limit', budgetOf(128), [undefined], [undefined]],
    ['less than an answer without a limit', budgetOf(127.5), [undefined], [Math.floor((255 * 4_096) / 100)]],
    ['fewer items whose sizes vary', budgetOf(1, { deviation: 100 }), [40, 40], [20, 20]],
    [
      'one item of each, where two may take a block more',
      budgetOf(1, { mean: 2_000, deviation: 1_500 }),
      [5, 5],
      [1, 1],
    ],
    ['one item of each of the first, if two do not fit a block', budgetOf(1, { mean: 3_000 }), [3, 3, 3], [1, 1]],
    ['fewer items of each, where a filter can hide some', budgetOf(2, { hides: true }), [100, 100], [81, 81]],
    [
      'a block of the first, where a filter can hide items whose sizes vary',
      budgetOf(2.5, { hides: true, mean: 2_000, deviation: 1_500 }),
      [3, 3, 3, 3, 3],
      [2, 2],
    ],
  ])('are %s', (_, budget, limits, expected) => {
    expect(fitting(budget, limits)).toEqual(expected);
  });

  test.each([
    [0, 1],
    [0.5, 1],
    [1, 1],
    [1.5, 2],
    [2, 3],
  ])('one after the other: with %d units, the first %d of three', (maxReadUnits, count) => {
    expect(budgetOf(maxReadUnits).countAllowed(reads([40, 80, 40]))).toBe(count);
  });

  test('ask for a block at least where a filter can hide items, and otherwise at most', () => {
    const least = (hides: boolean) =>
      budgetOf(1, { hides })
        .leastOf(reads([3, 80]))
        .map(({ limit }) => limit);
    expect([least(true), least(false)]).toEqual([
      [40, 40],
      [3, 40],
    ]);
  });
});

import { ItemSizes } from '../../../../../lib/core/foundation/fan-out/item-sizes';
import { ReadBudget } from '../../../../../lib/core/foundation/fan-out/read-budget';
import { ShardBuffer } from '../../../../../lib/core/foundation/fan-out/shard-buffer';

const reader = { shard: 0, exhausted: false, read: () => Promise.reject(new Error('nothing is read here')) };
const buffer = new ShardBuffer<number>(reader, 1);

/** The limits of the reads by which a page begins. A block holds 40 items. */
function limitsOf(limits: (number | undefined)[], bounds: { maxReadUnits?: number; hides: boolean }) {
  const { maxReadUnits, hides } = bounds;
  const budget = new ReadBudget(maxReadUnits, 0.5, { consumedReadUnits: 0 }, new ItemSizes(100), hides);
  return budget.begin(limits.map((limit) => ({ buffer, limit }))).map(({ limit }) => limit);
}

describe('the reads by which a page begins', () => {
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

import fc from 'fast-check';
import type { IndexShards } from '../../../../../lib/core';
import { isTableReshardStep, planTableReshard } from '../../../../../lib/core/sharded-index/change/plan-table-reshard';

const count = fc.integer({ min: 1, max: 9 });

/** Counts in the middle of any change. */
const counts = fc.tuple(count, count, count).map((numbers) => {
  const [since, write, read] = numbers.sort((a, b) => a - b) as [number, number, number];
  return { write, read, ...(since < write && { since }) };
});
const byValue = <T>(value: fc.Arbitrary<T>) => fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);

describe('the plan of a table that is sharded by its own key', () => {
  test('goes step by step from any counts to any others: those of two neighbours know where each other put an item', () => {
    fc.assert(
      fc.property(counts, byValue(counts), count, byValue(count), (others, values, target, targets) => {
        let deployed: IndexShards = { default: others, byValue: values };
        for (const step of planTableReshard(deployed, { default: target, byValue: targets })) {
          if (step.action !== 'deploy') continue;
          expect(isTableReshardStep(deployed, step.shards)).toBe(true);
          deployed = step.shards;
        }
        expect(deployed.default).toEqual({ write: target, read: target });
      }),
    );
  });

  test.each<[string, IndexShards['default'], IndexShards['default']]>([
    ['writers of now do not know the new place', { write: 5, read: 5 }, { write: 6, read: 6, since: 5 }],
    ['writers to come do not know the old place', { write: 5, read: 6 }, { write: 6, read: 6 }],
    ['the lower count is no place yet', { write: 6, read: 6 }, { write: 5, read: 6 }],
    ['a value leaps', { write: 1, read: 1 }, { write: 3, read: 3 }],
  ])('does not skip a step: %s', (_, from, to) => {
    expect(isTableReshardStep({ default: from }, { default: to })).toBe(false);
    const others = { write: 2, read: 2 };
    const ofValue = (value: IndexShards['default']): IndexShards => ({ default: others, byValue: { v: value } });
    expect(isTableReshardStep(ofValue(from), ofValue(to))).toBe(false);
  });
});

import fc from 'fast-check';
import type { IndexShards, ShardCount } from '../../../../../lib/core';
import { isTableReshardStep, planTableReshard } from '../../../../../lib/core/sharded-index/change/plan-table-reshard';

const count = fc.integer({ min: 1, max: 9 });

/** Counts as they are before, during or after any change. */
const counts = fc.tuple(count, count, count).map((numbers) => {
  const [since, write, read] = numbers.sort((a, b) => a - b) as [number, number, number];
  return { write, read, ...(since < write && { since }) };
});
const byValue = <T>(value: fc.Arbitrary<T>) => fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);

describe('planTableReshard', () => {
  test('plans, between any two counts, steps in which writers find the items that the writers of the previous and the next step put', () => {
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

  const deploy = (shards: IndexShards) => ({ action: 'deploy', shards, reason: expect.any(String) });
  const move = { action: 'move', reason: expect.any(String) };
  const five = { write: 5, read: 5 };
  const known = { write: 5, read: 6 };
  const used = { write: 6, read: 6, since: 5 };
  const six = { write: 6, read: 6 };

  test('deploys the new count to all writers, moves the items, and then drops the old count', () => {
    const plan = [deploy({ default: known }), deploy({ default: used }), move, deploy({ default: six })];
    expect(planTableReshard({ default: five }, { default: 6 })).toEqual(plan);
    const ofValue = (v: ShardCount) => ({ default: five, byValue: { v } });
    expect(planTableReshard({ default: five }, { default: 5, byValue: { v: 6 } })).toEqual([
      deploy(ofValue(known)),
      deploy(ofValue(used)),
      move,
      deploy(ofValue(six)),
    ]);
  });

  test('has no steps if no count changes', () => {
    expect(planTableReshard({ default: five }, { default: 5 })).toEqual([]);
  });

  test('rejects a read count below the write count, and a target of 0', () => {
    expect(() => planTableReshard({ default: { write: 5, read: 4 } }, { default: 6 })).toThrow('current.default.read');
    expect(() => planTableReshard({ default: five }, { default: 0 })).toThrow('target.default must be');
  });

  test.each<[string, ShardCount, ShardCount]>([
    ['the present writers do not know the new place', { write: 5, read: 5 }, { write: 6, read: 6, since: 5 }],
    ['the new writers do not know the old place', { write: 5, read: 6 }, { write: 6, read: 6 }],
    ['the present writers do not know the place by the lower count', { write: 6, read: 6 }, { write: 5, read: 6 }],
    ['the count changes from 1 to 3 in one step', { write: 1, read: 1 }, { write: 3, read: 3 }],
  ])('isTableReshardStep rejects a deployment that skips a step: %s', (_, from, to) => {
    expect(isTableReshardStep({ default: from }, { default: to })).toBe(false);
    const others = { write: 2, read: 2 };
    const ofValue = (value: ShardCount): IndexShards => ({ default: others, byValue: { v: value } });
    expect(isTableReshardStep(ofValue(from), ofValue(to))).toBe(false);
  });
});

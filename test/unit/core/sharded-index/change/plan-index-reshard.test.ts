import {
  type IndexReshardStep,
  type IndexShards,
  type IndexShardTarget,
  InvalidArgumentError,
  InvalidIndexConfigError,
  InvalidShardCountError,
  planIndexReshard,
} from '../../../../../lib/core';
import { isReshardStep } from '../../../../../lib/core/sharded-index/change/plan-index-reshard';

const same = (count: number): IndexShards => ({ default: { write: count, read: count } });

/** The steps of a plan as short texts: the counts of each deployment as write/read, and each drain. */
const outline = (steps: IndexReshardStep[]): string[] =>
  steps.map((step) => {
    if (step.action === 'drain') {
      return `drain ${step.ranges.map(({ value = 'others', from, to }) => `${value} ${from}-${to}`).join(', ')}`;
    }
    if (step.action === 'backfill') return step.action;
    const { default: others, byValue = {} } = step.shards;
    const counts = Object.entries({ others, ...byValue });
    return `deploy ${counts.map(([value, { write, read }]) => `${value} ${write}/${read}`).join(', ')}`;
  });

describe('planIndexReshard', () => {
  test('increases the count of readers before the count of writers', () => {
    expect(outline(planIndexReshard(same(10), { default: 20 }))).toEqual([
      'deploy others 10/20',
      'deploy others 20/20',
    ]);
  });

  test('decreases the count of writers, then drains the shards, then decreases the count of readers', () => {
    expect(outline(planIndexReshard(same(20), { default: 10 }))).toEqual([
      'deploy others 10/20',
      'drain others 10-19',
      'deploy others 10/10',
    ]);
  });

  test('increases the count of one value and decreases the count of another value in the same steps', () => {
    const current: IndexShards = { default: { write: 1, read: 1 }, byValue: { old: { write: 9, read: 9 } } };
    expect(outline(planIndexReshard(current, { default: 1, byValue: { old: 3, young: 5 } }))).toEqual([
      'deploy others 1/1, old 9/9, young 1/5',
      'deploy others 1/1, old 3/9, young 5/5',
      'drain old 3-8',
      'deploy others 1/1, old 3/3, young 5/5',
    ]);
  });

  test('gives a value the default count again after the additional shards of the value are drained', () => {
    const current: IndexShards = { default: { write: 2, read: 2 }, byValue: { busy: { write: 9, read: 9 } } };
    expect(outline(planIndexReshard(current, { default: 2 }))).toEqual([
      'deploy others 2/2, busy 2/9',
      'drain busy 2-8',
      'deploy others 2/2',
    ]);
  });

  test('continues a plan from its current step after an interruption', () => {
    const halfway: IndexShards = { default: { write: 10, read: 20 } };
    expect(outline(planIndexReshard(halfway, { default: 20 }))).toEqual(['deploy others 20/20']);
    expect(outline(planIndexReshard(halfway, { default: 10 }))).toEqual(['drain others 10-19', 'deploy others 10/10']);
    expect(outline(planIndexReshard(halfway, { default: 30 }))).toEqual(['deploy others 10/30', 'deploy others 30/30']);
  });

  test('has no steps if no count changes', () => {
    expect(planIndexReshard(same(10), { default: 10 })).toEqual([]);
  });

  test.each<[IndexShards, unknown, new (...args: never[]) => Error, string]>([
    [same(0), { default: 1 }, InvalidShardCountError, 'current.default.write must be a whole number'],
    [
      { default: { write: 2, read: 1 } },
      { default: 1 },
      InvalidIndexConfigError,
      'current.default.read must be at least',
    ],
    [
      same(1),
      { default: 1.5 },
      InvalidShardCountError,
      'target.default must be a whole number from 1 to 10000, got 1.5',
    ],
    [same(1), { default: 1, byValue: { a: 0 } }, InvalidShardCountError, 'target.byValue["a"] must be'],
    [same(1), null, InvalidArgumentError, 'target must be an object with a default shard count, got null'],
  ])('rejects the current counts %j with the target %j', (current, target, error, message) => {
    expect(() => planIndexReshard(current, target as never)).toThrow(error);
    expect(() => planIndexReshard(current, target as never)).toThrow(message);
  });
});

describe('isReshardStep', () => {
  const counts = [1, 2, 3, 4];
  const pairs = counts.flatMap((read) => counts.filter((write) => write <= read).map((write) => ({ write, read })));

  test('accepts every deployment of every plan', () => {
    for (const current of pairs) {
      for (const goal of counts) {
        const plan = planIndexReshard({ default: current }, { default: goal });
        const deployed = plan.flatMap((step) => (step.action === 'deploy' ? [step.shards] : []));
        const stages = [{ default: current }, ...deployed];
        for (const [at, next] of deployed.entries()) expect(isReshardStep(stages[at]!, next)).toBe(true);
        expect(stages.at(-1)).toEqual(same(goal));
      }
    }
  });

  test('accepts a deployment only if the old and the new readers query every shard of the old and the new writers', () => {
    for (const before of pairs) {
      for (const next of pairs) {
        const isComplete = before.read >= next.write && next.read >= before.write;
        expect(isReshardStep({ default: before }, { default: next })).toBe(isComplete);
      }
    }
  });

  test('rejects a deployment if the counts of any value skip a step', () => {
    const current: IndexShards = { default: { write: 1, read: 1 }, byValue: { busy: { write: 5, read: 5 } } };
    expect(isReshardStep(current, { default: { write: 1, read: 1 }, byValue: { busy: { write: 5, read: 9 } } })).toBe(
      true,
    );
    expect(isReshardStep(current, { default: { write: 1, read: 1 }, byValue: { busy: { write: 9, read: 9 } } })).toBe(
      false,
    );
    expect(isReshardStep(current, { default: { write: 1, read: 1 } })).toBe(false);
    expect(isReshardStep(current, { default: { write: 2, read: 2 }, byValue: { busy: { write: 5, read: 5 } } })).toBe(
      false,
    );
  });
});

describe('planIndexReshard for a new sharded index on a table with items', () => {
  const others = { default: { write: 2, read: 2 } };

  test.each<[IndexShardTarget, IndexShards]>([
    [{ default: 2 }, others],
    [
      { default: 2, byValue: { open: 5 } },
      { ...others, byValue: { open: { write: 5, read: 5 } } },
    ],
  ])('deploys writers, then backfills the items, then deploys readers: %j', (target, shards) => {
    expect(planIndexReshard(undefined, target)).toEqual([
      { action: 'deploy', shards, to: 'writers', reason: expect.any(String) },
      { action: 'backfill', reason: expect.any(String) },
      { action: 'deploy', shards, to: 'readers', reason: expect.any(String) },
    ]);
  });
});

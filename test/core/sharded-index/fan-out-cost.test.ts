import { type Layout, pageCost } from '../../bench/fan-out/page-cost';

/** The combinations of the bench that cost most, and two of small items. */
const COMBINATIONS = [
  { shards: 20, limit: 50, bytes: 4_000 },
  { shards: 50, limit: 50, bytes: 4_000 },
  { shards: 100, limit: 100, bytes: 4_000 },
  { shards: 10, limit: 50, bytes: 1_000 },
  { shards: 20, limit: 100, bytes: 1_000 },
  { shards: 10, limit: 100, bytes: 500 },
  { shards: 20, limit: 100, bytes: 200 },
];

describe.each([true, false])('a page costs, sizes known: %s', (warm) => {
  const cost = (layout: Layout, combination: (typeof COMBINATIONS)[number]) =>
    pageCost(layout, warm, { ...combination, mostPages: 10 });

  test.each(['uniform', 'skewed'] as const)('at most 2.5 times the floor, where shards are %s', async (layout) => {
    for (const combination of COMBINATIONS) {
      const { units, floor } = await cost(layout, combination);
      expect(units / floor).toBeLessThanOrEqual(2.5);
    }
  });

  test('at most 4.25 times the floor, where items come in runs of one shard', async () => {
    for (const combination of COMBINATIONS) {
      const { units, floor, waves } = await cost('runs', combination);
      expect(units / floor).toBeLessThanOrEqual(4.25);
      expect(waves).toBeLessThanOrEqual(6);
    }
  });
});

import { simulateAdaptiveIndex } from '../../../support/fakes/adaptive-index';

const index = { partitions: 16, minutes: 40, seed: 4 };
const step = { hot: (minute: number): number => (minute < 5 ? 200 : 8_000) };

function throttledShare(minutes: readonly { wanted: number; throttled: number }[]): number {
  const [throttled, wanted] = (['throttled', 'wanted'] as const).map((name) =>
    minutes.reduce((sum, minute) => sum + minute[name], 0),
  ) as [number, number];
  return throttled / wanted;
}

describe('a value whose writes increase to 8,000 per second', () => {
  test('gets enough shards within ten minutes because its writers report throttled writes, and is not throttled after 25 minutes', () => {
    const { minutes } = simulateAdaptiveIndex({ ...index, demand: step, initial: 1 });
    expect(minutes[9]!.asked).toEqual({ hot: 11 });
    expect(throttledShare(minutes.slice(25))).toBeLessThan(0.001);
  });

  test('does not change the counts of other values in the same hot partitions, which keep one shard each', () => {
    const rare = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`rare ${at}`, () => 2.5]));
    const { minutes } = simulateAdaptiveIndex({
      ...index,
      demand: { ...step, ...rare },
      initial: 1,
    });
    const { hot, ...others } = minutes.at(-1)!.asked;
    expect(hot).toBeGreaterThanOrEqual(10);
    expect(new Set(Object.values(others))).toEqual(new Set([1]));
  });
});

test('bursts of two minutes increase a count to the necessary count and not further', () => {
  const demand = { hot: (minute: number): number => (minute % 30 < 2 ? 4_000 : 200) };
  const { minutes, increases } = simulateAdaptiveIndex({
    ...index,
    minutes: 600,
    demand,
    initial: 1,
  });
  expect(minutes.at(-1)!.asked.hot).toBeLessThanOrEqual(10);
  expect(increases).toBeLessThanOrEqual(2);
});

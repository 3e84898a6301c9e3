import { FanOutHistory } from '../../../../lib/core';

const BUDGET = 0.01;

/** A history that has observed each latency `count` times. */
function historyOf(...latencies: [count: number, ms: number][]): FanOutHistory {
  const history = new FanOutHistory();
  for (const [count, ms] of latencies) {
    for (let index = 0; index < count; index++) history.observeLatency(ms, BUDGET);
  }
  return history;
}

describe('FanOutHistory', () => {
  test('has no hedge delay with fewer than 100 latencies', () => {
    expect(historyOf([99, 10]).hedgeAfterMs(BUDGET)).toBeUndefined();
    expect(historyOf([100, 10]).hedgeAfterMs(BUDGET)).toBe(30);
  });

  test('sets the hedge delay to three times the median latency, or to a longer delay if a larger share of the latencies than the hedge budget would exceed it', () => {
    expect(historyOf([950, 10], [50, 20]).hedgeAfterMs(BUDGET)).toBe(30);
    expect(historyOf([950, 10], [50, 80]).hedgeAfterMs(BUDGET)).toBe(80);
    expect(historyOf([995, 10], [5, 80]).hedgeAfterMs(BUDGET)).toBe(30);
  });

  test('uses only the last 1,000 latencies', () => {
    expect(historyOf([1_000, 10], [1_000, 100]).hedgeAfterMs(BUDGET)).toBe(300);
  });

  test('allows at most ten hedges at once, even after many requests that needed no hedge', () => {
    const history = historyOf([10_000, 10]);
    const taken = Array.from({ length: 20 }, () => history.takeHedge());
    expect(taken.filter(Boolean)).toHaveLength(10);
  });
});

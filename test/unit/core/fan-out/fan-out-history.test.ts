import { FanOutHistory } from '../../../../lib/core';

const BUDGET = 0.01;

/** A history of so many answers of each latency. */
function historyOf(...answers: [count: number, ms: number][]): FanOutHistory {
  const history = new FanOutHistory();
  for (const [count, ms] of answers) {
    for (let answer = 0; answer < count; answer++) history.observeLatency(ms, BUDGET);
  }
  return history;
}

describe('a history', () => {
  test('does not know from when on an answer is late until it has a hundred of them', () => {
    expect(historyOf([99, 10]).hedgeAfterMs(BUDGET)).toBeUndefined();
    expect(historyOf([100, 10]).hedgeAfterMs(BUDGET)).toBe(30);
  });

  test('takes an answer for late that is later than three times the median, and than all but the budget', () => {
    expect(historyOf([950, 10], [50, 20]).hedgeAfterMs(BUDGET)).toBe(30);
    expect(historyOf([950, 10], [50, 80]).hedgeAfterMs(BUDGET)).toBe(80);
    expect(historyOf([995, 10], [5, 80]).hedgeAfterMs(BUDGET)).toBe(30);
  });

  test('forgets answers before the last thousand', () => {
    expect(historyOf([1_000, 10], [1_000, 100]).hedgeAfterMs(BUDGET)).toBe(300);
  });

  test('saves ten hedges at most, however long it was quiet', () => {
    const history = historyOf([10_000, 10]);
    const taken = Array.from({ length: 20 }, () => history.takeHedge());
    expect(taken.filter(Boolean)).toHaveLength(10);
  });
});

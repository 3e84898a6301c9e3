import { LONGEST_TIMER_MS, systemClock } from '../../../../lib/core/kernel/clock';

const DAY_MS = 86_400_000;

describe('systemClock', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['performance'] }));
  afterEach(() => jest.useRealTimers());

  test.each([
    ['a day', DAY_MS],
    ['the longest timer', LONGEST_TIMER_MS],
    ['a delay that is too long for one timer', LONGEST_TIMER_MS + 1],
    ['a year', 365 * DAY_MS],
  ])('waits for %s', async (_, delayMs) => {
    const ended: string[] = [];
    systemClock.schedule(() => ended.push('schedule'), delayMs);
    void systemClock.sleep(delayMs).then(() => ended.push('sleep'));
    await jest.advanceTimersByTimeAsync(delayMs - 1);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toEqual(['schedule', 'sleep']);
  });

  test('cancels a long wait, before or after its first timer', async () => {
    const ended: string[] = [];
    const cancels = ['early', 'late'].map((name) => systemClock.schedule(() => ended.push(name), 3 * LONGEST_TIMER_MS));
    cancels[0]!();
    await jest.advanceTimersByTimeAsync(2 * LONGEST_TIMER_MS);
    cancels[1]!();
    await jest.advanceTimersByTimeAsync(2 * LONGEST_TIMER_MS);
    expect(ended).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('does not jump back or forward if the time of day jumps by one day', () => {
    jest.useRealTimers();
    const timeOfDay = jest.spyOn(Date, 'now');
    const moments = [0, -DAY_MS, DAY_MS].map((jump) => {
      timeOfDay.mockReturnValue(Date.UTC(2026, 10, 21) + jump);
      return systemClock.now();
    });
    timeOfDay.mockRestore();
    expect(moments).toEqual([...moments].sort((a, b) => a - b));
    expect(moments[2]! - moments[0]!).toBeLessThan(DAY_MS / 2);
  });
});

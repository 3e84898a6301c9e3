import type { Clock } from '../../../../lib/core/kernel/clock';
import { pause, Stopped } from '../../../../lib/core/kernel/pause';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

describe('a pause', () => {
  test.each([1, 100])('of %d ms lasts as long as it is told to', async (delayMs) => {
    const clock = new VirtualClock();
    await clock.runUntil(pause(delayMs, clock, undefined));
    expect(clock.now()).toBe(delayMs);
  });

  test.each([0, -1])('of %d ms waits for no clock', async (delayMs) => {
    await expect(pause(delayMs, new VirtualClock(), undefined)).resolves.toBeUndefined();
  });

  test('ends as soon as its caller stops, before it or meanwhile, and leaves no timer', async () => {
    const left = new Set<() => void>();
    const clock: Pick<Clock, 'schedule'> = {
      schedule: (callback) => {
        left.add(callback);
        return () => left.delete(callback);
      },
    };
    const caller = new AbortController();
    const pausing = pause(100, clock as Clock, caller.signal);
    caller.abort();
    await expect(pausing).rejects.toThrow(Stopped);
    await expect(pause(0, clock as Clock, caller.signal)).rejects.toThrow(Stopped);
    await expect(pause(100, clock as Clock, caller.signal)).rejects.toThrow(Stopped);
    expect(left.size).toBe(0);
  });

  test('lets its caller go when it has ended', async () => {
    const { signal } = new AbortController();
    const removed = jest.spyOn(signal, 'removeEventListener');
    const clock = new VirtualClock();
    await clock.runUntil(pause(100, clock, signal));
    expect(removed).toHaveBeenCalledWith('abort', expect.any(Function));
  });
});

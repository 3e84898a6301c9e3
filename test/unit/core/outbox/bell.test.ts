import { Bell } from '../../../../lib/core/outbox/bell';
import { VirtualClock } from '../../../../lib/testing';

test('whoever sleeps wakes when it rings, or when the time is over', async () => {
  const clock = new VirtualClock();
  const bell = new Bell(clock);
  await clock.runUntil(bell.sleep(100));
  expect(clock.now()).toBe(100);
  clock.schedule(() => bell.ring(), 10);
  await clock.runUntil(bell.sleep(100));
  await clock.runOut();
  expect(clock.now()).toBe(110);
});

test('what rings while nobody sleeps wakes the next who does, and nobody after', async () => {
  const clock = new VirtualClock();
  const bell = new Bell(clock);
  bell.ring();
  bell.ring();
  await clock.runUntil(bell.sleep(100));
  expect(clock.now()).toBe(0);
  await clock.runUntil(bell.sleep(100));
  expect(clock.now()).toBe(100);
});

test('who sleeps for ever waits for no time', async () => {
  const clock = new VirtualClock();
  await expect(clock.runUntil(new Bell(clock).sleep(Number.POSITIVE_INFINITY))).rejects.toThrow('no timer is left');
});

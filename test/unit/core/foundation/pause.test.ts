import { getEventListeners } from 'node:events';
import { pause, Stopped, sleepUnlessAborted } from '../../../../lib/core/foundation/pause';
import { VirtualClock } from '../../../../lib/testing';

test.each([
  ['its time is over', 500, 100],
  ['the signal aborts', 50, 50],
  ['at once if it has', 0, 0],
])('a wait ends when %s, and leaves neither a timer nor a listener behind', async (_, abortsMs, endsMs) => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  if (abortsMs === 0) abort.abort();
  const cancel = clock.schedule(() => abort.abort(), abortsMs);
  await clock.runUntil(sleepUnlessAborted(100, clock, abort.signal));
  cancel();
  await clock.runOut();
  expect([clock.now(), getEventListeners(abort.signal, 'abort')]).toEqual([endsMs, []]);
});

test('a pause throws when the signal aborts, or has, and ends at once where there is nothing to wait for', async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  await pause(0, clock, abort.signal);
  expect(clock.now()).toBe(0);
  clock.schedule(() => abort.abort(), 50);
  await expect(clock.runUntil(pause(100, clock, abort.signal))).rejects.toThrow(Stopped);
  await expect(pause(0, clock, abort.signal)).rejects.toThrow(Stopped);
});

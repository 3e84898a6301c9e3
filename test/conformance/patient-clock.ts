import { type Clock, systemClock } from '../../lib/core/kernel/clock';

/** A clock that runs slower by a factor. With it, a slow machine causes no timeouts on real services. */
export function patientClock(times: number): { clock: Clock; timeOfDay(): number } {
  const clock: Clock = {
    now: () => systemClock.now() / times,
    schedule: (callback, delayMs) => systemClock.schedule(callback, delayMs * times),
    sleep: (delayMs) => systemClock.sleep(delayMs * times),
  };
  return { clock, timeOfDay: () => Date.now() / times };
}

import { type Clock, systemClock } from '../../lib/core/kernel/clock';

/** Time that goes by so many times slower, for plays on real services: a busy machine is not what they are about. */
export function patientClock(times: number): { clock: Clock; timeOfDay(): number } {
  const clock: Clock = {
    now: () => systemClock.now() / times,
    schedule: (callback, delayMs) => systemClock.schedule(callback, delayMs * times),
    sleep: (delayMs) => systemClock.sleep(delayMs * times),
  };
  return { clock, timeOfDay: () => Date.now() / times };
}

import type { Clock } from '../../../lib/core';

/** A clock that advances only while a caller waits, for tests whose requests take real time. */
export function jumpingClock(): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    schedule: () => () => {},
    sleep: async (delayMs) => {
      nowMs += delayMs;
    },
  };
}

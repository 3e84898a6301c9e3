import type { Clock } from '../../../lib/core';

/** A clock by which time passes only where somebody waits, for plays whose requests take time of their own. */
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

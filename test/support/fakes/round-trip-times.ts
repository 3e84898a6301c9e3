/** A function that returns the duration of each request in milliseconds. */
export type RoundTripTimes = () => number;

export function always(ms: number): RoundTripTimes {
  return () => ms;
}

export function between(leastMs: number, mostMs: number, random: () => number): RoundTripTimes {
  return () => leastMs + random() * (mostMs - leastMs);
}

/** A log-normal distribution: half of the requests are faster than the median, and a few are many times slower. */
export function longTailed(medianMs: number, sigma: number, random: () => number): RoundTripTimes {
  return () => medianMs * Math.exp(sigma * standardNormal(random));
}

/** The Box-Muller transform. */
function standardNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

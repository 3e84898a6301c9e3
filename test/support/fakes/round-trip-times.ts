/** How long requests take, in milliseconds: a function that is asked for each. */
export type RoundTripTimes = () => number;

export function always(ms: number): RoundTripTimes {
  return () => ms;
}

export function between(leastMs: number, mostMs: number, random: () => number): RoundTripTimes {
  return () => leastMs + random() * (mostMs - leastMs);
}

/** Log-normal: half of the requests take less than the median; a few take many times as long. */
export function longTailed(medianMs: number, sigma: number, random: () => number): RoundTripTimes {
  return () => medianMs * Math.exp(sigma * standardNormal(random));
}

/** The Box-Muller transform. */
function standardNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

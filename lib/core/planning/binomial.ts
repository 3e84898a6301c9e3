/** An outcome is left out if its probability is less than this part of that of the mean. */
const NEGLIGIBLE = 1e-30;

/**
 * The mean of `f` over a binomial draw, without the outcomes that are too unlikely.
 *
 * The weights are computed from the mean outwards by the ratio of neighbours, and are divided by their sum. There is no
 * factorial, no logarithm and no subtraction, so the mean is right to about 12 digits for any number of draws.
 *
 * @param f a function of the number drawn; its values are not negative
 */
export function binomialMean(draws: number, p: number, f: (drawn: number) => number): number {
  const odds = p / (1 - p);
  const mean = Math.floor(draws * p);
  let total = 1;
  let sum = f(mean);
  // Before the first outcome and after the last one, the weight is 0, or no number where only one outcome can be.
  for (let k = mean, weight = 1; ; k--) {
    weight *= k / ((draws - k + 1) * odds);
    if (!(weight >= NEGLIGIBLE)) break;
    total += weight;
    sum += weight * f(k - 1);
  }
  for (let k = mean, weight = 1; ; k++) {
    weight *= ((draws - k) * odds) / (k + 1);
    if (!(weight >= NEGLIGIBLE)) break;
    total += weight;
    sum += weight * f(k + 1);
  }
  return sum / total;
}

/** The first and the last outcome of a binomial draw that is likely enough to matter. */
export function likelyOutcomes(draws: number, p: number): { first: number; last: number } {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  binomialMean(draws, p, (drawn) => {
    first = Math.min(first, drawn);
    last = Math.max(last, drawn);
    return drawn;
  });
  return { first, last };
}

/** The probability that a binomial draw is more than `most`. */
export function binomialTail(draws: number, p: number, most: number): number {
  return binomialMean(draws, p, (drawn) => (drawn > most ? 1 : 0));
}

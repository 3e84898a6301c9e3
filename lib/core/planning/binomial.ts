/** Ignore an outcome if its probability divided by the probability of the mean is smaller than this number. */
const NEGLIGIBLE = 1e-30;

/**
 * The mean of `f` over a binomial distribution, without negligible outcomes.
 *
 * The function computes the weights from the mean outwards, and each weight from the weight of the previous outcome. At the
 * end, it divides by the sum of all weights. The computation needs no factorials, logarithms or subtractions, so the result is
 * exact to about 12 digits for any number of draws.
 *
 * @param f a function of the outcome, with values of at least 0
 */
export function binomialMean(draws: number, p: number, f: (drawn: number) => number): number {
  const odds = p / (1 - p);
  const mean = Math.floor(draws * p);
  let total = 1;
  let sum = f(mean);
  // Outside the range of outcomes, the weight is 0, or NaN if only one outcome is possible.
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

/** The first and the last outcome of a binomial distribution, without negligible outcomes. */
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

/** The probability that a binomial outcome is greater than `most`. */
export function binomialTail(draws: number, p: number, most: number): number {
  return binomialMean(draws, p, (drawn) => (drawn > most ? 1 : 0));
}

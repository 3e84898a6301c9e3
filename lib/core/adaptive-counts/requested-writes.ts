/**
 * The maximum number of attempts that a writer makes for one write. Source: the AWS SDKs and Tools reference guide, "Retry
 * behavior": three attempts in the standard mode.
 */
const SDK_ATTEMPTS = 3;

/**
 * Computes the number of requested writes from metrics. Metrics count every throttled attempt, and a writer makes several
 * attempts for one write.
 *
 * If each attempt is throttled with probability p, a write has p + p^2 + ... throttled attempts on average. This sum has
 * `attempts` terms. The share of throttled attempts among all attempts is p.
 *
 * @param counted the `admitted` writes, the `refused` attempts, and the maximum number of `attempts` for one write
 * @returns the writes that were accepted at the first attempt, and the writes that were throttled at least once
 */
export function requestedWrites({
  admitted,
  refused,
  attempts = SDK_ATTEMPTS,
}: {
  admitted: number;
  refused: number;
  attempts?: number;
}): { admitted: number; throttled: number } {
  if (refused === 0) return { admitted, throttled: 0 };
  const p = refused / (admitted + refused);
  let refusedOfOne = 0;
  for (let attempt = 1; attempt <= attempts; attempt += 1) refusedOfOne += p ** attempt;
  const requested = refused / refusedOfOne;
  return { admitted: requested * (1 - p), throttled: requested * p };
}

/**
 * The assumed writes of a throttled minute in which the throttled attempts were not counted: writers requested 1.5 times the
 * accepted writes.
 */
export function uncounted(admitted: number): { admitted: number; throttled: number } {
  return { admitted, throttled: admitted / 2 };
}

/**
 * How many attempts a writer makes for one write.
 * Source: the AWS SDKs and Tools reference guide, "Retry behavior": three attempts in the standard mode.
 */
const SDK_ATTEMPTS = 3;

/**
 * The writes behind the numbers of metrics. Metrics count every refused attempt, and a writer makes several attempts at one
 * write.
 *
 * If each attempt is refused with probability p, then p + p^2 + ... of the `attempts` at one write are refused on average.
 * The share of refused attempts among all attempts is p.
 *
 * @param counted `admitted` writes, refused `attempts`, and how many attempts a writer makes for one write
 * @returns the writes that were accepted at the first attempt, and those that were refused at least once
 */
export function wantedWrites({
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
  const wanted = refused / refusedOfOne;
  return { admitted: wanted * (1 - p), throttled: wanted * p };
}

/**
 * The writes of a throttled minute for which nobody counted the refused attempts: half as many again are assumed to have
 * been wanted.
 */
export function uncounted(admitted: number): { admitted: number; throttled: number } {
  return { admitted, throttled: admitted / 2 };
}

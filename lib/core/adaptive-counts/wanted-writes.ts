/**
 * How many attempts a writer makes for one write.
 * Source: the AWS SDKs and Tools reference guide, "Retry behavior": three attempts in the standard mode.
 */
const SDK_ATTEMPTS = 3;

/**
 * The writes behind what metrics count: they count every attempt that was refused, and a writer makes several for one write.
 *
 * If attempts are refused with probability p, of `attempts` for one write p + p^2 + ... are refused on average. And p is
 * what was refused of all attempts.
 *
 * @param counted `admitted` writes, refused `attempts`, and how many attempts a writer makes for one write
 * @returns those that were accepted at the first attempt, and those that were refused at least once
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

/** What a minute is taken for that was throttled by nobody knows how much: half as much again was wanted. */
export function uncounted(admitted: number): { admitted: number; throttled: number } {
  return { admitted, throttled: admitted / 2 };
}

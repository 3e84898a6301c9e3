/** The delays between the attempts of a call. */
export interface BackoffOptions {
  /** Upper bound of the first delay, in milliseconds. The bound doubles with every attempt. */
  backoffBaseMs: number;
  /** Upper bound of every delay, in milliseconds. */
  backoffCapMs: number;
  /** A source of numbers in [0, 1). */
  random: () => number;
}

/**
 * The delay in milliseconds before attempt number `attempts + 1`. The delay grows exponentially and has full jitter. Source:
 * AWS Architecture Blog, "Exponential Backoff And Jitter".
 */
export function backoffMs(attempts: number, { backoffBaseMs, backoffCapMs, random }: BackoffOptions): number {
  return random() * Math.min(backoffCapMs, backoffBaseMs * 2 ** (attempts - 1));
}

/**
 * How many random cases a test tries: `count`, times RANDOM_RUNS from the environment.
 *
 * `RANDOM_RUNS=20 npm run test:models` tries 20 times as many cases as without RANDOM_RUNS. `npm run rule-mutants` tries a quarter
 * of the cases, and every mutant must still make a test fail.
 */
export function randomRuns(count: number): number {
  return Math.ceil(count * factor());
}

/** The timeout of a test with random cases, in milliseconds. `timeoutMs` is the timeout without RANDOM_RUNS. */
export function randomRunsTimeout(timeoutMs: number): number {
  return timeoutMs * Math.max(1, factor());
}

function factor(): number {
  const runs = Number(process.env.RANDOM_RUNS ?? 1);
  if (!(runs > 0)) throw new TypeError(`RANDOM_RUNS must be a number greater than 0, not ${process.env.RANDOM_RUNS}`);
  return runs;
}

/**
 * How many random cases a test tries: `count`, times RANDOM_RUNS from the environment.
 *
 * `RANDOM_RUNS=20 npm run test:models` looks further than the gate does. `npm run rule-mutants` tries a quarter, and expects every
 * mutant to be found all the same.
 */
export function randomRuns(count: number): number {
  return Math.ceil(count * factor());
}

/** The time that a test has for its random cases, in milliseconds, where `timeoutMs` is enough without RANDOM_RUNS. */
export function randomRunsTimeout(timeoutMs: number): number {
  return timeoutMs * Math.max(1, factor());
}

function factor(): number {
  const runs = Number(process.env.RANDOM_RUNS ?? 1);
  if (!(runs > 0)) throw new TypeError(`RANDOM_RUNS must be a number greater than 0, not ${process.env.RANDOM_RUNS}`);
  return runs;
}

/**
 * How many random cases a test tries: `count`, times RANDOM_RUNS from the environment.
 *
 * `RANDOM_RUNS=20 npm test` looks further than the gate does. `npm run mutants` tries a quarter, and expects every mutant to
 * be found all the same.
 */
export function randomRuns(count: number): number {
  const factor = Number(process.env.RANDOM_RUNS ?? 1);
  if (!(factor > 0)) throw new TypeError(`RANDOM_RUNS must be a number greater than 0, not ${process.env.RANDOM_RUNS}`);
  return Math.ceil(count * factor);
}

import { EVERYTHING, fakeModelIndex, playFanOutCase, playFanOutCases } from '../../support/fakes/fan-out-model';

/**
 * Compares random queries with an oracle, from the first page to the last page. The index is in memory and behaves like DynamoDB.
 * The cases have deadlines, faults and hedges.
 *
 *     npm run soak fan-out [cases] [first seed]
 */
async function soak(cases: number, first: number): Promise<void> {
  const started = performance.now();
  await playFanOutCases(cases, first, (seed) =>
    playFanOutCase(seed, EVERYTHING, (config, _, random) => fakeModelIndex(config, random)),
  );
  console.log(`${cases} cases equal the oracle, in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

const [cases = 100_000, first = 0] = process.argv.slice(2).map(Number);
void soak(cases, first);

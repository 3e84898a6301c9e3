import { playOnDynalite } from '../../support/plays/play-on-dynalite';

/**
 * The random cases of `npm run soak fan-out` that dynalite supports, with the AWS SDK.
 *
 *     npm run soak fan-out-dynalite [cases] [first seed]
 */
async function soak(cases: number, first: number): Promise<void> {
  const started = performance.now();
  await playOnDynalite(cases, first);
  console.log(`${cases} cases equal the oracle, in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

const [cases = 5_000, first = 0] = process.argv.slice(2).map(Number);
void soak(cases, first);

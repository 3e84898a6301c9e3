import { type InsertsFound, playInsertsWhilePaging } from '../../support/fakes/fan-out-inserts-model';
import { EVERYTHING, fakeModelIndex, playFanOutCases } from '../../support/fakes/fan-out-model';
import { playOnDynalite } from '../../support/plays/play-on-dynalite';

/**
 * Random cases of a query with a filter and deadlines while writers add items, in memory or on dynalite.
 *
 *     npm run soak fan-out-inserts [cases] [first seed] [memory | dynalite]
 */
async function soak(cases: number, first: number, where: string): Promise<void> {
  const started = performance.now();
  const sum: InsertsFound = { pages: 0, items: 0, overtaken: 0 };
  const play: typeof playInsertsWhilePaging = async (...args) => {
    const found = await playInsertsWhilePaging(...args);
    for (const name of Object.keys(sum) as (keyof InsertsFound)[]) sum[name] += found[name];
    return found;
  };
  if (where === 'dynalite') await playOnDynalite(cases, first, play);
  else {
    await playFanOutCases(cases, first, async (seed) => {
      await play(seed, EVERYTHING, (config, _, random) => fakeModelIndex(config, random));
    });
  }
  const { pages, items, overtaken } = sum;
  const summary = `${pages} pages of ${items} items, of which ${overtaken} came after the reads of their page`;
  console.log(`${cases} cases pass: ${summary}, in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

const [cases = 20_000, first = 0] = process.argv.slice(2, 4).map(Number);
void soak(cases, first, process.argv[4] ?? 'memory');

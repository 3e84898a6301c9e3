import { playReshard } from '../fakes/reshard-play';

/**
 * The random cases of `reshardItems` beside eight writers, with crashes, lost answers and late requests.
 *
 *     npm run soak reshard-items [cases] [first seed]
 */
async function soak(cases: number, first: number): Promise<void> {
  const started = performance.now();
  const total = { crashes: 0, lostAnswers: 0, settled: 0, moved: 0 };
  for (let seed = first; seed < first + cases; seed++) {
    const played = await playReshard(seed);
    for (const field of Object.keys(total) as (keyof typeof total)[]) total[field] += played[field];
  }
  console.log(`${cases} cases lose and duplicate nothing, in ${((performance.now() - started) / 1_000).toFixed(0)} s:`);
  console.log(total);
}

const [cases = 1_000, first = 0] = process.argv.slice(2).map(Number);
void soak(cases, first);

import { playReshard } from '../../support/fakes/reshard-play';
import { playTableReshard } from '../../support/fakes/table-reshard-play';

/**
 * Random cases of `reshardItems` while eight writers write, with crashes, lost responses and late requests: first for an index,
 * then for a table that is sharded by its own key.
 *
 *     npm run soak reshard-items [cases] [first seed]
 */
async function soak(cases: number, first: number): Promise<void> {
  for (const [what, play] of Object.entries({ index: playReshard, table: playTableReshard })) {
    const started = performance.now();
    const total = { crashes: 0, lostAnswers: 0, settled: 0, moved: 0 };
    for (let seed = first; seed < first + cases; seed++) {
      const played = await play(seed);
      for (const field of Object.keys(total) as (keyof typeof total)[]) total[field] += played[field];
    }
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    console.log(`${what}: ${cases} cases lose and duplicate nothing, in ${seconds} s:`);
    console.log(total);
  }
}

const [cases = 1_000, first = 0] = process.argv.slice(2).map(Number);
void soak(cases, first);

import type { PlayedReshard } from '../../../../support/fakes/crashing-reshard';
import { playReshard } from '../../../../support/fakes/reshard-play';
import { playTableReshard } from '../../../../support/fakes/table-reshard-play';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

/** `npm run soak reshard-items` runs any number of cases. */
const CASES = randomRuns(100);

describe.each([
  ['an index', playReshard],
  ['a table that is sharded by its own key', playTableReshard],
])(`reshardItems for %s, in ${CASES} random cases with 8 writers, crashes and lost responses`, (_, play) => {
  const played: PlayedReshard[] = [];

  test(
    'loses no write, duplicates no item, and leaves no stray',
    async () => {
      for (let seed = 0; seed < CASES; seed++) played.push(await play(seed));
    },
    randomRunsTimeout(120_000),
  );

  test('the cases include crashes, lost responses, and items that other writers change', () => {
    const sum = (field: keyof PlayedReshard): number => played.reduce((total, each) => total + each[field], 0);
    expect(sum('crashes')).toBeGreaterThan(CASES / 2);
    expect(sum('lostAnswers')).toBeGreaterThan(CASES);
    expect(sum('settled')).toBeGreaterThan(CASES / 2);
    expect(sum('moved')).toBeGreaterThan(CASES * 2);
  });
});

import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';
import { type PlayedAdaptiveReshard, playAdaptiveReshard } from './adaptive-reshard-play';

const CASES = randomRuns(20);

describe(`reshardItems in ${CASES} random cases, while counts increase and decrease and shards are drained`, () => {
  const played: PlayedAdaptiveReshard[] = [];

  test(
    'at every moment, readers query every shard that has an item, and no write is lost',
    async () => {
      for (let seed = 0; seed < CASES; seed++) played.push(await playAdaptiveReshard(seed));
    },
    randomRunsTimeout(120_000),
  );

  test('the cases include increases, decreases, moved items and crashes', () => {
    const sum = (field: keyof PlayedAdaptiveReshard): number => played.reduce((total, each) => total + each[field], 0);
    for (const field of ['raises', 'drains', 'moved', 'evened', 'crashes'] as const) {
      expect([field, sum(field) >= CASES / 4]).toEqual([field, true]);
    }
  });
});

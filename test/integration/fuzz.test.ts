import { Fuzz } from '../fuzz/fuzz';
import { hasPostgres } from '../postgres/postgres-server';
import { randomRuns } from '../random-runs';

/** `npm run soak fuzz` plays on for an hour. */
test('hostile input and misbehaving services end in a right answer or a typed error, and leak nothing', async () => {
  const fuzz = await Fuzz.start(0);
  try {
    for (let seed = 0; seed < randomRuns(30); seed++) expect(await fuzz.play(seed)).toEqual([]);
    expect(Object.keys(fuzz.cases)).toHaveLength(hasPostgres ? 17 : 16);
  } finally {
    await fuzz.stop();
  }
}, 300_000);

import { playInsertsWhilePaging } from '../../../../support/fakes/fan-out-inserts-model';
import { EVERYTHING, fakeModelIndex, playFanOutCases } from '../../../../support/fakes/fan-out-model';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

/** `npm run soak fan-out-inserts` plays as many as you like. */
const CASES = randomRuns(300);

test(
  `${CASES} random cases show every item once that was there before its page was read, with filters and deadlines, while items come`,
  async () => {
    let overtaken = 0;
    await playFanOutCases(CASES, 0, async (seed) => {
      const found = await playInsertsWhilePaging(seed, EVERYTHING, (config, _, random) =>
        fakeModelIndex(config, random),
      );
      overtaken += found.overtaken;
    });
    // Some came behind the reads of their page. No page can show them, and no oracle may ask for them.
    expect(overtaken).toBeGreaterThan(0);
  },
  randomRunsTimeout(120_000),
);

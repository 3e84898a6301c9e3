import { playInsertsWhilePaging } from '../../../../support/fakes/fan-out-inserts-model';
import { EVERYTHING, fakeModelIndex, playFanOutCases } from '../../../../support/fakes/fan-out-model';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

/** `npm run soak fan-out-inserts` runs any number of cases. */
const CASES = randomRuns(100);

test(
  `in ${CASES} random cases with filters, deadlines and new items, the pages return each item once, if the item existed before the reads of its page`,
  async () => {
    let overtaken = 0;
    await playFanOutCases(CASES, 0, async (seed) => {
      const found = await playInsertsWhilePaging(seed, EVERYTHING, (config, _, random) =>
        fakeModelIndex(config, random),
      );
      overtaken += found.overtaken;
    });
    // Some items were added after the reads of the page to which they belong. No page can return them, so the oracle does not
    // expect them.
    expect(overtaken).toBeGreaterThan(0);
  },
  randomRunsTimeout(120_000),
);

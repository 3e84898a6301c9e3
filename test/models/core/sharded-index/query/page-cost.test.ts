import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';
import { boundOf, drawCell, drawnCost, MOST_FLOORS } from '../../../../support/tables/fan-out/drawn-cell';

/** `npm run bench fan-out-drawn` draws as many as you like, and prints the dearest. */
const PAGES = randomRuns(15);

test(
  `${PAGES} pages drawn from all that DynamoDB allows cost at most ${MOST_FLOORS} floors, or what decision 0049 allows`,
  async () => {
    for (let seed = 0; seed < PAGES; seed++) {
      const cost = await drawnCost(drawCell(seed));
      if (cost.units <= boundOf(cost)) continue;
      throw new Error(`${cost.units} units where ${boundOf(cost)} are allowed: ${JSON.stringify(cost)}`);
    }
  },
  randomRunsTimeout(240_000),
);

// These were the dearest of the first 700: first items, a filter in runs, sizes that nobody knew, shards asked in vain.
test.each([26, 30, 65, 89, 125, 148, 175, 205, 271])('page %i is within its bound', async (seed) => {
  const cost = await drawnCost(drawCell(seed));
  expect(cost.units).toBeLessThanOrEqual(boundOf(cost));
});

// Without what the walk over shards has read to tell it how many it needs, these cost 3.2 to 11 floors.
test.each([37, 42, 43, 67, 182, 194, 221])('page %i without an order asks few shards in vain', async (seed) => {
  const { units, floor } = await drawnCost(drawCell(seed));
  expect(units).toBeLessThanOrEqual(MOST_FLOORS * floor);
});

import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';
import { boundOf, drawCell, drawnCost, MAX_FLOORS } from './drawn-cell';

const PAGES = randomRuns(15);

test(
  `${PAGES} random pages within the limits of DynamoDB cost at most ${MAX_FLOORS} times their minimum read units, or the cost that decision 0049 allows`,
  async () => {
    for (let seed = 0; seed < PAGES; seed++) {
      const cost = await drawnCost(drawCell(seed));
      if (cost.units <= boundOf(cost)) continue;
      throw new Error(
        `the page must cost at most ${boundOf(cost)} read units, got ${cost.units}: ${JSON.stringify(cost)}`,
      );
    }
  },
  randomRunsTimeout(240_000),
);

// The most expensive of the first 700 random pages.
test.each([26, 30, 65, 89, 125, 148, 175, 205, 271])(
  'page %i costs at most the read units that decision 0049 allows',
  async (seed) => {
    const cost = await drawnCost(drawCell(seed));
    expect(cost.units).toBeLessThanOrEqual(boundOf(cost));
  },
);

// These pages would cost 3.2 to 11 times their minimum read units if the number of shards in a wave did not depend on the previous
// reads.
test.each([37, 42, 43, 67, 182, 194, 221])(
  'page %i without an order reads few shards that have no items for it',
  async (seed) => {
    const { units, floor } = await drawnCost(drawCell(seed));
    expect(units).toBeLessThanOrEqual(MAX_FLOORS * floor);
  },
);

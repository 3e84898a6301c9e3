import { type FanOutRequest, fanOutQuery } from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { allPages } from '../../../../support/all-pages';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

const WALKS = randomRuns(60);

/** A sufficient `maxReadUnits`, as a multiple of the least cost of a page. */
const ENOUGH = 8;
/** With a sufficient `maxReadUnits`, all pages together cost at most this multiple of their cost without `maxReadUnits`. */
const MAX_TIMES = 2.5;
/** A page with known item sizes costs at most this multiple of `maxReadUnits`. */
const MAX_OVER = 2;

test(
  `with a bound of ${ENOUGH} times the minimum read units, the pages of ${WALKS} indexes cost at most ${MAX_TIMES} times their cost without a bound`,
  async () => {
    for (let seed = 0; seed < WALKS; seed++) {
      const { walk, least, blocksOfItem } = drawnIndex(seed);
      const [bounded, free] = [await walk(ENOUGH * least), await walk(undefined)];
      expect({ seed, found: bounded.found }).toEqual({ seed, found: free.found });
      const [units, most] = [bounded.units, MAX_TIMES * free.units];
      if (units > most) throw new Error(`seed ${seed}: the pages must cost at most ${most} read units, got ${units}`);
      // The first page does not know the size of the items, and assumes one block for each item.
      const over = bounded.pages.findIndex(
        (page, number) => page > ENOUGH * least * (number === 0 ? blocksOfItem + 1 : MAX_OVER),
      );
      if (over !== -1)
        throw new Error(
          `seed ${seed}: page ${over} costs ${bounded.pages[over]} read units, its bound is ${ENOUGH * least}`,
        );
    }
  },
  randomRunsTimeout(120_000),
);

/** Returns a random index: `walk` reads all its pages, and `least` is the least cost of one page. */
function drawnIndex(seed: number) {
  const random = seededRandom(seed);
  const pick = <E>(...from: E[]): E => from[Math.floor(random() * from.length)]!;
  const shards = 1 + Math.floor(random() * pick(5, 20, 60));
  const bytes = Math.round(50 * 180 ** random());
  const mixed = pick(true, false);
  const count = Math.floor(random() * pick(100, 600, 1_500));
  const oneIn = pick(1, 10, 100, Number.POSITIVE_INFINITY);
  const order = pick<NonNullable<FanOutRequest['order']>>('ascending', 'descending', 'unordered');
  const limit = pick(undefined, 10 + Math.floor(random() * 200));
  const index = new FakeIndex(timeIndex(shards));
  for (let number = 0; number < count; number++) {
    index.put({
      id: { S: `i${number}` },
      at: { N: String(number) },
      shard: { N: String(Math.floor(random() * shards)) },
      pad: { S: 'x'.repeat(mixed ? Math.round(bytes * 0.25 * 16 ** random()) : bytes) },
      chosen: { S: random() * oneIn < 1 ? 'yes' : 'no' },
    });
  }
  const filter = {
    filterExpression: '#chosen = :yes',
    expressionAttributeNames: { '#chosen': 'chosen' },
    expressionAttributeValues: { ':yes': { S: 'yes' } },
  };
  const walk = async (maxReadUnits: number | undefined) => {
    const request = { order, limit, maxReadUnits, ...(oneIn > 1 && filter) };
    const read = await allPages((cursor) => fanOutQuery(index, timeIndex(shards), { ...request, cursor }));
    const pages = read.map(({ stats }) => stats.consumedReadUnits);
    return { found: read.flatMap(({ items }) => items), pages, units: pages.reduce((sum, units) => sum + units, 0) };
  };
  const blocksOfItem = Math.ceil(((mixed ? 4 * bytes : bytes) + 60) / 4_096);
  return { walk, blocksOfItem, least: ((order === 'unordered' ? 1 : shards) * blocksOfItem) / 2 };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { FanOutHistory, fanOutQuery, type QueryClient } from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { randomRuns } from '../../../../support/random-runs';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

/** The approximate size of the attributes of an item without `pad`. */
const ATTRIBUTES_BYTES = 34;

/** An index by time, or with another sort key. `shardOf` returns the shard of item number n. */
function filled(
  shards: number,
  count: number,
  bytes: number,
  shardOf: (number: number) => number,
  sortKeyAttributes = ['at'],
  itemsOfDay = 4,
): FakeIndex {
  const index = new FakeIndex({ ...timeIndex(shards), sortKeyAttributes });
  for (let number = 0; number < count; number++) {
    const id = `item-${String(number).padStart(8, '0')}`;
    index.put({
      id: { S: id },
      at: { N: String(number + 10_000_000) },
      shard: { N: String(shardOf(number)) },
      pad: { S: 'x'.repeat(bytes) },
      ...(sortKeyAttributes.includes('day') && { day: { N: String(Math.floor(number / itemsOfDay)) } }),
    });
  }
  return index;
}

test.each([
  ['two tables whose indexes have the same name', { tableName: 'Small' }, { tableName: 'Large' }],
  ['two indexes of a table', { indexName: 'ofSmall' }, { indexName: 'ofLarge' }],
])('FanOutHistory keeps separate item sizes for %s', async (_, ofSmall, ofLarge) => {
  const [small, large] = [
    filled(10, 200, 100, (number) => number % 10),
    filled(10, 200, 8_000, (number) => number % 10),
  ];
  const unitsOf = async (index: FakeIndex, names: object, history: FanOutHistory): Promise<number> => {
    const { stats } = await fanOutQuery(index, { ...timeIndex(10), ...names }, { limit: 25 }, { history });
    return stats.consumedReadUnits;
  };
  const shared = new FanOutHistory();
  await unitsOf(small, ofSmall, shared);
  expect(await unitsOf(large, ofLarge, shared)).toBe(await unitsOf(large, ofLarge, new FanOutHistory()));
});

test('fanOutQuery – a page without a history – uses the item sizes from its cursor', async () => {
  const index = filled(10, 200, 1_000, (number) => number % 10);
  const secondOf = async (history?: FanOutHistory) => {
    const { cursor } = await fanOutQuery(index, timeIndex(10), { limit: 25 }, { history });
    return fanOutQuery(index, timeIndex(10), { limit: 25, cursor }, { history });
  };
  expect(await secondOf()).toEqual(await secondOf(new FanOutHistory()));
});

test.each<[string, string[], number, number, (number: number, random: () => number) => number]>([
  ['the items are in random shards', ['at'], 50, 4_000, (_, random) => Math.floor(random() * 50)],
  ['one shard has most items', ['at'], 100, 4_000, (number) => (number < 5 || number > 99 ? 0 : number - 4)],
  ['four items have the same day', ['day', 'at'], 20, 40_000, (_, random) => Math.floor(random() * 20)],
])(
  'fanOutQuery – %s – each page costs at most 2.5 times its floor if item sizes are known',
  async (_, sortKeyAttributes, shards, bytes, shardOf) => {
    const random = seededRandom(1);
    const config = { ...timeIndex(shards), sortKeyAttributes };
    const index = filled(shards, 4 * shards, bytes, (number) => shardOf(number, random), sortKeyAttributes);
    const history = new FanOutHistory();
    await fanOutQuery(index, config, { limit: 1 }, { history });
    const floor = Math.max(shards / 2, (shards * (bytes + ATTRIBUTES_BYTES)) / 8_192);
    for (let cursor: string | undefined, page = 0; page < 3; page++) {
      const { stats, ...rest } = await fanOutQuery(index, config, { limit: shards, cursor }, { history });
      expect(stats.consumedReadUnits).toBeLessThanOrEqual(2.5 * floor);
      cursor = rest.cursor;
    }
  },
);

const INDEXES_BY_DAY = randomRuns(40);

test(`fanOutQuery – many items have the same first sort key attribute – each page costs at most 4 times its floor: ${INDEXES_BY_DAY} random indexes`, async () => {
  for (let seed = 0; seed < INDEXES_BY_DAY; seed++) {
    const random = seededRandom(seed);
    const shards = 2 + Math.floor(random() * 50);
    const limit = Math.ceil(shards * (1 + 2 * random()));
    const bytes = Math.round(100 * 400 ** random());
    const itemsOfDay = Math.round(1_000 ** random());
    const config = { ...timeIndex(shards), sortKeyAttributes: ['day', 'at'] };
    const shardOf = () => Math.floor(random() * shards);
    const index = filled(shards, 4 * limit, bytes, shardOf, config.sortKeyAttributes, itemsOfDay);
    const floor = Math.max(shards / 2, (limit * (bytes + ATTRIBUTES_BYTES)) / 8_192);
    const history = new FanOutHistory();
    let { cursor } = await fanOutQuery(index, config, { limit }, { history });
    for (let page = 1; page < 4 && cursor !== undefined; page++) {
      const { stats, ...rest } = await fanOutQuery(index, config, { limit, cursor }, { history });
      expect(stats.consumedReadUnits).toBeLessThanOrEqual(4 * floor);
      cursor = rest.cursor;
    }
  }
});

/** A client that responds to all requests of a wave together, and records the cost of each wave. */
class WaveByWave implements QueryClient {
  readonly waves: { units: number; items: number; requests: number }[] = [];
  private wave: Promise<void> | undefined;

  constructor(private readonly index: FakeIndex) {}

  async query(input: Parameters<QueryClient['query']>[0]) {
    this.wave ??= nextTurn().then(() => {
      this.wave = undefined;
      this.waves.push({ units: 0, items: 0, requests: 0 });
    });
    await this.wave;
    const answer = await this.index.query(input);
    const wave = this.waves.at(-1)!;
    wave.units += answer.ConsumedCapacity!.CapacityUnits!;
    wave.items += answer.ScannedCount!;
    wave.requests += 1;
    return answer;
  }
}

const CASES = randomRuns(30);

test(`fanOutQuery – the query has read as many items as the page holds – each later wave costs at most twice the minimum: ${CASES} random indexes`, async () => {
  for (let seed = 0; seed < CASES; seed++) {
    const random = seededRandom(seed);
    const below = (count: number): number => Math.floor(random() * count);
    // A third of the cases are the most expensive cases: each item fills a block, and each run of consecutive
    // items in one shard is as long as a page.
    const isWorst = seed % 3 === 0;
    const shards = isWorst ? 40 : 2 + below(40);
    const limit = isWorst ? 40 : 5 + below(120);
    const bytes = isWorst ? 4_000 : [100, 500, 1_500, 4_000][below(4)]!;
    const longest = isWorst ? 80 : [1, 5, 60][below(3)]!;
    let [shard, left] = [0, 0];
    const index = filled(shards, (isWorst ? 60 : 6) * limit, bytes, () => {
      if (left === 0) [shard, left] = [below(shards), 1 + below(longest)];
      left -= 1;
      return shard;
    });
    const floor = Math.max(shards / 2, (limit * (bytes + ATTRIBUTES_BYTES)) / 8_192);
    const history = random() < 0.5 ? new FanOutHistory() : undefined;
    for (let cursor: string | undefined, page = 0; page < 5; page++) {
      const client = new WaveByWave(index);
      const answer = await fanOutQuery(client, timeIndex(shards), { limit, cursor }, { history });
      let known = 0;
      for (const { units, items, requests } of client.waves) {
        // Each request can consume half a unit for a block that its items do not fill.
        if (known >= limit) expect(units - requests / 2).toBeLessThanOrEqual(2 * floor);
        known += items;
      }
      cursor = answer.cursor;
    }
  }
});

describe('fanOutQuery – unordered pages', () => {
  const pageOf = async (shards: number, ofShard: number, limit: number, filter?: string, bytes = 500) => {
    const index = filled(shards, shards * ofShard, bytes, (number) => number % shards);
    const hiding = filter && { filterExpression: 'pad = :pad', expressionAttributeValues: { ':pad': { S: filter } } };
    const { stats } = await fanOutQuery(index, timeIndex(shards), { order: 'unordered', limit, ...hiding });
    return { index, stats };
  };

  test.each([
    [40, 20, 100, 5],
    [100, 10, 200, 20],
  ])(
    'reads only as many shards as it needs for the page: for %d shards of %d items and the limit %d, %d requests',
    async (shards, ofShard, limit, asked) => {
      const { stats } = await pageOf(shards, ofShard, limit);
      expect(stats).toMatchObject({ itemsRead: limit, requests: asked });
    },
  );

  test('reads a second shard in the second wave if the first shard returned too few items for the page', async () => {
    const { stats } = await pageOf(3, 9, 10, undefined, 300_000);
    expect(stats).toMatchObject({ waves: 3, requests: 5 });
  });

  test('doubles the number of shards in each wave if a filter removes all items', async () => {
    const { stats } = await pageOf(40, 20, 20, 'nothing has this');
    expect(stats).toMatchObject({ itemsRead: 800, itemsHidden: 800 });
    expect(stats.waves).toBeLessThanOrEqual(8);
  });
});

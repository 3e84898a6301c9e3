import { setImmediate as nextTurn } from 'node:timers/promises';
import { FanOutHistory, fanOutQuery, type QueryClient } from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { randomRuns } from '../../../../support/random-runs';
import { type Layout, pageCost } from '../../../../support/tables/fan-out/page-cost';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

/** The combinations of the bench that cost most, and two of small items. */
const COMBINATIONS = [
  { shards: 20, limit: 50, bytes: 4_000 },
  { shards: 50, limit: 50, bytes: 4_000 },
  { shards: 100, limit: 100, bytes: 4_000 },
  { shards: 10, limit: 50, bytes: 1_000 },
  { shards: 20, limit: 100, bytes: 1_000 },
  { shards: 10, limit: 100, bytes: 500 },
  { shards: 20, limit: 100, bytes: 200 },
];

describe.each([true, false])('a page costs, sizes known: %s', (warm) => {
  const cost = (layout: Layout, combination: (typeof COMBINATIONS)[number]) =>
    pageCost(layout, warm, { ...combination, mostPages: 10 });

  test.each(['uniform', 'skewed'] as const)('at most 2.5 times the floor, where shards are %s', async (layout) => {
    for (const combination of COMBINATIONS) {
      const { units, floor } = await cost(layout, combination);
      expect(units / floor).toBeLessThanOrEqual(2.5);
    }
  });

  // A cold page does not know that an item is a block, and reads two from each of as many shards as it has places.
  test(`at most ${warm ? 2.5 : 3.3} times the floor, where items come in runs of one shard`, async () => {
    for (const combination of COMBINATIONS) {
      const { units, floor, waves } = await cost('runs', combination);
      expect(units / floor).toBeLessThanOrEqual(warm ? 2.5 : 3.3);
      expect(waves).toBeLessThanOrEqual(4);
    }
  });
});

/** An index by time: item number n lies in the shard that the function says. */
function filled(shards: number, count: number, bytes: number, shardOf: (number: number) => number): FakeIndex {
  const index = new FakeIndex(timeIndex(shards));
  for (let number = 0; number < count; number++) {
    const id = `item-${String(number).padStart(8, '0')}`;
    index.put({
      id: { S: id },
      at: { N: String(number + 10_000_000) },
      shard: { N: String(shardOf(number)) },
      pad: { S: 'x'.repeat(bytes) },
    });
  }
  return index;
}

test.each([
  ['two tables, though their indexes have one name', { tableName: 'Small' }, { tableName: 'Large' }],
  ['two indexes of a table', { indexName: 'ofSmall' }, { indexName: 'ofLarge' }],
])('one history keeps the sizes of %s apart', async (_, ofSmall, ofLarge) => {
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

test('a page without a history asks by the sizes that its cursor carries', async () => {
  const index = filled(10, 200, 1_000, (number) => number % 10);
  const secondOf = async (history?: FanOutHistory) => {
    const { cursor } = await fanOutQuery(index, timeIndex(10), { limit: 25 }, { history });
    return fanOutQuery(index, timeIndex(10), { limit: 25, cursor }, { history });
  };
  expect(await secondOf()).toEqual(await secondOf(new FanOutHistory()));
});

/** A client that answers all requests of a wave together, and keeps what each wave has cost. */
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

const CASES = randomRuns(60);

test(`behind as many items as a page holds, a wave costs at most twice the floor, in ${CASES} random indexes`, async () => {
  for (let seed = 0; seed < CASES; seed++) {
    const random = seededRandom(seed);
    const below = (count: number): number => Math.floor(random() * count);
    // A third are pages that could cost most: a block for each item, a place for each shard, and runs as long as the page.
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
    const floor = Math.max(shards / 2, (limit * (bytes + 34)) / 8_192);
    const history = random() < 0.5 ? new FanOutHistory() : undefined;
    for (let cursor: string | undefined, page = 0; page < 5; page++) {
      const client = new WaveByWave(index);
      const answer = await fanOutQuery(client, timeIndex(shards), { limit, cursor }, { history });
      let known = 0;
      for (const { units, items, requests } of client.waves) {
        // Each read can begin a block that it does not fill.
        if (known >= limit) expect(units - requests / 2).toBeLessThanOrEqual(2 * floor);
        known += items;
      }
      cursor = answer.cursor;
    }
  }
});

describe('a page of one shard after the other', () => {
  const pageOf = async (shards: number, ofShard: number, limit: number, filter?: string) => {
    const index = filled(shards, shards * ofShard, 500, (number) => number % shards);
    const hiding = filter && { filterExpression: 'pad = :pad', expressionAttributeValues: { ':pad': { S: filter } } };
    const { stats } = await fanOutQuery(index, timeIndex(shards), { order: 'unordered', limit, ...hiding });
    return { index, stats };
  };

  test.each([
    [40, 20, 100, 5],
    [100, 10, 200, 20],
  ])(
    'of %d shards with %d items asks no more shards than have its %d items: %d',
    async (shards, ofShard, limit, asked) => {
      const { stats } = await pageOf(shards, ofShard, limit);
      expect(stats).toMatchObject({ itemsRead: limit, requests: asked });
    },
  );

  test('asks twice as many shards with each wave where a filter hides what they have', async () => {
    const { stats } = await pageOf(40, 20, 20, 'nothing has this');
    expect(stats).toMatchObject({ itemsRead: 800, itemsHidden: 800 });
    expect(stats.waves).toBeLessThanOrEqual(8);
  });
});

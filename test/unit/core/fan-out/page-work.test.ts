import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { readPolicy } from '../../../../lib/core/fan-out/read-policy';
import { gatherPage } from '../../../../lib/core/fan-out/scatter-gather';
import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';
import type { ShardReader } from '../../../../lib/core/fan-out/shard-reader';
import type { ComparePositions } from '../../../../lib/core/fan-out/total-order';

const LIMIT = 50;

/** Item `index` of a shard is `index * shards + shard`, so each shard has a part of every page. */
function readerOf(shard: number, shards: number): ShardReader<number> {
  return {
    shard,
    exhausted: false,
    async read({ from = 0, limit = 10 }) {
      const first = from as number;
      const items = Array.from({ length: limit }, (_, index) => (first + index) * shards + shard);
      return { items, next: first + limit, itemsRead: limit, consumedReadUnits: 0.5, itemSizes: [100] };
    },
  };
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** One page of so many shards, and its steps: looks at a buffer, and comparisons of two items. */
async function pageOf(shards: number, limit?: number) {
  const looks = [jest.spyOn(ShardBuffer.prototype, 'buffered', 'get'), jest.spyOn(ShardBuffer.prototype, 'dropBehind')];
  let comparisons = 0;
  const compare: ComparePositions<number> = (a, b) => {
    comparisons += 1;
    return a.item - b.item || a.shard - b.shard;
  };
  const { positions } = await gatherPage(
    Array.from({ length: shards }, (_, shard) => readerOf(shard, shards)),
    {
      order: { compare, behindAllShards: shards },
      shardByShard: false,
      sizes: new ItemSizes(),
      failureOf: () => 'final',
    },
    limit === undefined ? { maxBytes: LIMIT * 100, bytesOf: () => 100, roughly: () => LIMIT } : { limit },
    readPolicy({}),
  );
  const steps = looks.reduce((sum, { mock }) => sum + mock.calls.length, comparisons);
  jest.restoreAllMocks();
  return { items: positions.map(({ item }) => item), steps };
}

test.each([
  ['a limit', LIMIT],
  ['bytes', undefined],
])('the work for a page that is bounded by %s grows linearly with the number of shards', async (_, limit) => {
  const [few, many] = [await pageOf(500, limit), await pageOf(8_000, limit)];
  for (const { items } of [few, many]) expect(items).toEqual(Array.from({ length: LIMIT }, (_, item) => item));
  expect(many.steps / 8_000).toBeLessThan(1.5 * (few.steps / 500));
});

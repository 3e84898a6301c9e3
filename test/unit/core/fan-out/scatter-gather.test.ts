import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { readPolicy } from '../../../../lib/core/fan-out/read-policy';
import { gatherPage } from '../../../../lib/core/fan-out/scatter-gather';
import type { ShardRead } from '../../../../lib/core/fan-out/shard-reader';
import type { Position } from '../../../../lib/core/fan-out/total-order';

interface Item {
  at: number;
  name: string;
}

const compare = (a: Position<Item>, b: Position<Item>): number => a.item.at - b.item.at || a.shard - b.shard;

/** A shard of these items, which an answer has as far as they are wanted. */
function readerOf(items: Item[], shard: number) {
  const read = async ({ from = 0, limit = items.length }: ShardRead<Item>) => {
    const start = from as number;
    const page = items.slice(start, start + limit);
    const next = start + limit < items.length ? start + limit : undefined;
    return { items: page, next, readTo: page.at(-1), itemsRead: page.length, consumedReadUnits: 0.5, itemSizes: [] };
  };
  return { shard, exhausted: false, read };
}

/** A shard whose first item a filter hides; a second answer ends it. */
const hidden = {
  shard: 2,
  exhausted: false,
  read: async ({ from }: ShardRead<Item>) => {
    const answer = { items: [], itemsRead: 1, consumedReadUnits: 0.5, itemSizes: [] };
    return from === undefined ? { ...answer, next: 1, readTo: { at: 9, name: 'hidden' } } : answer;
  },
};

test('a page that an item has moved on ends short, and the next one goes on behind both of its places', async () => {
  const shards = [
    [
      { at: 1, name: 'moved' },
      { at: 5, name: 'b' },
      { at: 7, name: 'd' },
    ],
    [
      { at: 2, name: 'moved' },
      { at: 6, name: 'c' },
      { at: 8, name: 'e' },
    ],
  ];
  const page = await gatherPage(
    [...shards.map(readerOf), hidden],
    {
      order: { compare, behindAllShards: 3 },
      shardByShard: false,
      sizes: new ItemSizes(),
      failureOf: () => 'final',
    },
    { limit: 2, identityOf: ({ name }) => name },
    readPolicy({}),
  );
  expect(page.positions.map(({ item }) => item.name)).toEqual(['moved']);
  expect(page).toMatchObject({ end: { item: { at: 2 } }, stretch: 1, stats: { requests: 3 } });
});

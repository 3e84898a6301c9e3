import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { PageEnd } from '../../../../lib/core/fan-out/page-end';
import { type PageBounds, PageInProgress } from '../../../../lib/core/fan-out/page-in-progress';
import { readPolicy } from '../../../../lib/core/fan-out/read-policy';
import { gatherPage } from '../../../../lib/core/fan-out/scatter-gather';
import { type BufferRead, ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';
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

describe('PageEnd', () => {
  const order: ComparePositions<number> = (a, b) => a.item - b.item || a.shard - b.shard;
  const answerOf = (items: number[]) => ({ items, next: 'next', itemsRead: 1, consumedReadUnits: 0.5, itemSizes: [] });

  /** The end of a page with these bounds, as the answers of three shards tell it. */
  function endOf(bounds: PageBounds<number>) {
    const buffers = [0, 1, 2].map((shard) => new ShardBuffer<number>(readerOf(shard, 3), 3));
    const end = new PageEnd(buffers, order, new PageInProgress(bounds));
    const answered = (shard: number, items: number[]): void => {
      end.answered(buffers[shard]!, buffers[shard]!.absorb(answerOf(items), undefined));
    };
    const needs = (shard: number): number | boolean => {
      const read: BufferRead<number> = { buffer: buffers[shard]! };
      return end.narrow(read) && (read.until?.item ?? true);
    };
    end.begin();
    return {
      buffers,
      end,
      answered,
      needs,
      held: () => buffers.map(({ buffered }) => buffered.map(({ item }) => item)),
    };
  }

  test('needs everything of every shard as long as fewer items have come than the page has room for', () => {
    const { answered, needs } = endOf({ limit: 3 });
    answered(0, [1, 4]);
    expect([0, 1, 2].map(needs)).toEqual([true, true, true]);
  });

  test('needs nothing behind the worst item that the page can have, and nothing of a shard that was read so far', () => {
    const { answered, needs, held } = endOf({ limit: 2 });
    answered(0, [1, 4]);
    expect([0, 1, 2].map(needs)).toEqual([false, 4, 4]);
    answered(1, [2, 9]);
    expect([0, 1, 2].map(needs)).toEqual([false, false, 2]);
    expect(held()).toEqual([[1], [2], []]);
  });

  test('comes with the first item that the bytes of the page have no room for', () => {
    const { answered, needs, held } = endOf({ maxBytes: 200, bytesOf: () => 100, roughly: () => 2 });
    answered(0, [1, 4]);
    expect(needs(2)).toBe(true);
    answered(1, [2, 9]);
    expect(needs(2)).toBe(4);
    expect(held()).toEqual([[1, 4], [2], []]);
  });

  test('hears nothing from readers that lead: the page goes on behind all of their items', () => {
    const { end, needs } = endOf({ limit: 2 });
    const leading = new ShardBuffer<number>(readerOf(3, 4), 4);
    end.answered(leading, leading.absorb(answerOf([1, 2, 3]), undefined));
    expect([needs(0), leading.bufferedCount]).toEqual([true, 3]);
  });

  test('counts what earlier waves have found', () => {
    const { end, answered, needs, held } = endOf({ limit: 4 });
    answered(0, [1, 2, 3]);
    end.begin();
    answered(1, [4, 5]);
    expect(needs(2)).toBe(4);
    expect(held()).toEqual([[1, 2, 3], [4], []]);
  });

  test.each([
    ['a limit', LIMIT],
    ['bytes', undefined],
  ])('finds the end of a page bounded by %s in time linear in the number of shards', async (_, limit) => {
    const [few, many] = [await pageOf(500, limit), await pageOf(8_000, limit)];
    for (const { items } of [few, many]) expect(items).toEqual(Array.from({ length: LIMIT }, (_, item) => item));
    expect(many.steps / 8_000).toBeLessThan(1.5 * (few.steps / 500));
  });
});

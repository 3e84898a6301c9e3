import fc from 'fast-check';
import { openShards } from '../../../../lib/core/fan-out/open-shards';
import { type PageBounds, PageInProgress } from '../../../../lib/core/fan-out/page-in-progress';
import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';
import type { Position } from '../../../../lib/core/fan-out/total-order';

const compare = (a: Position<number>, b: Position<number>): number => a.item - b.item || a.shard - b.shard;

/** What a shard has answered: nothing yet, or items, and how far they go; and how many of them the page has. */
const answer = fc.record({
  items: fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 8 }),
  isRead: fc.boolean(),
  hasEnded: fc.boolean(),
  hidden: fc.nat({ max: 3 }),
});

function bufferOf(
  { items, isRead, hasEnded, hidden }: typeof answer extends fc.Arbitrary<infer A> ? A : never,
  shard: number,
) {
  const reader = { shard, exhausted: false, read: () => Promise.reject(new Error('nothing is read here')) };
  const buffer = new ShardBuffer<number>(reader, 9);
  const sorted = [...items].sort((a, b) => a - b);
  const readTo = (sorted.at(-1) ?? 0) + hidden;
  const page = { items: sorted, readTo, itemsRead: sorted.length, consumedReadUnits: 0.5, itemSizes: [] };
  if (isRead) buffer.absorb(hasEnded ? page : { ...page, next: 'next' }, undefined);
  return buffer;
}

/** The places of a page that may be left to each shard, counted one by one. */
function expectedOf(
  buffers: ShardBuffer<number>[],
  most: number,
  places: (worst: Position<number> | undefined) => number,
  least: number,
) {
  const buffered = buffers.flatMap((buffer) => buffer.buffered).sort(compare);
  const best = buffered.slice(0, most);
  const worst = best.length === most ? best.at(-1) : undefined;
  const open = buffers
    .filter(({ readable }) => readable)
    .map((buffer) => {
      const { frontier } = buffer;
      const before = best.filter((position) => frontier !== undefined && compare(position, frontier) <= 0).length;
      return { shard: buffer.shard, places: Math.max(worst === undefined ? least : 0, places(worst) - before) };
    })
    .filter((shard) => shard.places > 0);
  return { worst, open };
}

function check(buffers: ShardBuffer<number>[], bounds: PageBounds<number>, expected: ReturnType<typeof expectedOf>) {
  const { open, worst } = openShards(buffers, compare, new PageInProgress(bounds));
  const found = open.map(({ buffer, places }) => ({ shard: buffer.shard, places }));
  expect(worst).toEqual(expected.worst);
  expect(found.toSorted((a, b) => a.shard - b.shard)).toEqual(expected.open);
  expect(found).toEqual(found.toSorted((a, b) => b.places - a.places));
}

const answers = fc.array(answer, { minLength: 1, maxLength: 6 });

test('a shard may have the places of a page behind what all shards have up to its frontier', () => {
  fc.assert(
    fc.property(answers, fc.integer({ min: 1, max: 20 }), (all, limit) => {
      const buffers = all.map(bufferOf);
      check(
        buffers,
        { limit },
        expectedOf(buffers, limit, () => limit, 0),
      );
    }),
  );
});

test('a page of bytes goes as far as its first item that does not fit, and until then each shard may have one more', () => {
  fc.assert(
    fc.property(answers, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }), (all, fitting, roughly) => {
      const buffers = all.map(bufferOf);
      const bounds = { maxBytes: fitting * 100, bytesOf: () => 100, roughly: () => roughly };
      const places = (worst: unknown) => (worst === undefined ? roughly : fitting + 1);
      check(buffers, bounds, expectedOf(buffers, fitting + 1, places, 1));
    }),
  );
});

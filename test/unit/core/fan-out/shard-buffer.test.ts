import { ShardBuffer } from '../../../../lib/core/fan-out/shard-buffer';
import type { ComparePositions } from '../../../../lib/core/fan-out/total-order';

const compare: ComparePositions<number> = (a, b) => a.item - b.item;
const at = (item: number) => ({ item, shard: 0 });

/** What a shard has for a page after these steps. */
function stateAfter(...steps: ((buffer: ShardBuffer<number>) => void)[]) {
  const reader = { shard: 0, exhausted: false, read: () => Promise.reject(new Error('nothing is read here')) };
  const buffer = new ShardBuffer<number>(reader, 1);
  for (const step of steps) step(buffer);
  const { buffered, frontier, readable, starving, missing, mayHaveMore } = buffer;
  return {
    items: buffered.map(({ item }) => item),
    frontier: frontier?.item,
    readable,
    starving,
    missing,
    mayHaveMore,
  };
}

/** An answer with these items, behind which the shard goes on, unless the read was bounded or the shard ends. */
const answer = (items: number[], { next, until }: { next?: number; until?: number } = {}) => {
  const page = { items, next, itemsRead: items.length, consumedReadUnits: 0.5, itemSizes: [] };
  return (buffer: ShardBuffer<number>) => void buffer.absorb(page, until === undefined ? undefined : at(until));
};
const end = (item: number) => (buffer: ShardBuffer<number>) => buffer.dropBehind(at(item), compare);
const take = (buffer: ShardBuffer<number>) => buffer.advance();
const drain = (buffer: ShardBuffer<number>) => void buffer.drain();

test('a shard of which the page needs nothing is not read', () => {
  const reader = { shard: 0, exhausted: true, read: () => Promise.reject(new Error('nothing is read here')) };
  expect(new ShardBuffer<number>(reader, 1)).toMatchObject({ readable: false, mayHaveMore: false });
});
const giveUp = (buffer: ShardBuffer<number>) => buffer.giveUp();

test.each<[string, ReturnType<typeof stateAfter>, Partial<ReturnType<typeof stateAfter>>]>([
  ['goes on behind its last item', stateAfter(answer([1, 4], { next: 9 })), { frontier: 4, readable: true }],
  [
    'goes on where it was if an answer shows nothing',
    stateAfter(answer([4], { next: 5 }), answer([], { next: 9 })),
    { frontier: 4 },
  ],
  ['starves when its items were taken out', stateAfter(answer([4], { next: 5 }), drain), { items: [], starving: true }],
  ['ends with its last answer', stateAfter(answer([])), { frontier: undefined, readable: false, mayHaveMore: false }],
  [
    'may have more behind the position that bounded a read',
    stateAfter(answer([], { until: 6 })),
    { frontier: 6, readable: false, mayHaveMore: true },
  ],
  [
    'keeps nothing behind the end of the page, and may have that for a later one',
    stateAfter(answer([1, 4, 5], { next: 9 }), end(4), take, take),
    { items: [], frontier: 4, readable: false, mayHaveMore: true },
  ],
  [
    'keeps all that stands before the end of the page, and goes on',
    stateAfter(answer([1, 4], { next: 9 }), end(4)),
    { items: [1, 4], frontier: 4, readable: true },
  ],
  [
    'hears of no answer that was on its way when it was shortened',
    stateAfter(answer([1, 5], { next: 9 }), end(4), answer([7])),
    { items: [1], frontier: 4 },
  ],
  [
    'holds no page back when it is given up',
    stateAfter(answer([1, 5], { next: 9 }), giveUp),
    { items: [1, 5], frontier: undefined, missing: true },
  ],
  [
    'holds the page back from what was dropped, though it is given up',
    stateAfter(answer([1, 5], { next: 9 }), end(4), giveUp),
    { items: [1], frontier: 4, missing: true, mayHaveMore: true },
  ],
  [
    'stays given up when it is shortened',
    stateAfter(answer([1, 5], { next: 9 }), giveUp, end(4)),
    { items: [1], frontier: 4, missing: true, mayHaveMore: true },
  ],
])('a shard %s', (_, state, expected) => {
  expect(state).toMatchObject(expected);
});

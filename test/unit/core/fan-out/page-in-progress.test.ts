import { FanOutHistory } from '../../../../lib/core';
import { type PageBounds, PageInProgress } from '../../../../lib/core/fan-out/page-in-progress';

const position = (shard: number, bytes = 1) => ({ shard, item: bytes });

test('an empty page has room for one item, however large, and for others as far as its bytes go', () => {
  const page = new PageInProgress<number>({ maxBytes: 100, bytesOf: ({ item }) => item });
  expect([150, 1].map((bytes) => page.take(position(0, bytes)))).toEqual([true, false]);
  const other = new PageInProgress<number>({ maxBytes: 100, bytesOf: ({ item }) => item });
  expect([60, 60, 40, 1].map((bytes) => other.take(position(0, bytes)))).toEqual([true, false, true, false]);
});

test('the mean stretch of a shard is known when the first of them has ended', () => {
  const page = new PageInProgress<number>({});
  const stretches = [1, 1, 2, 2, 2, 2, 1].map((shard) => {
    page.take(position(shard));
    return page.stretch;
  });
  expect(stretches).toEqual([undefined, undefined, 2, 2, 2, 2, 3]);
});

test('a history has no hedge to spend that no request has earned', () => {
  const history = new FanOutHistory();
  expect(history.takeHedge()).toBe(false);
  for (let request = 0; request < 4; request++) history.observeLatency(1, 0.25);
  expect([history.takeHedge(), history.takeHedge()]).toEqual([true, false]);
});

test('a page is full with as many items as it may hold, and with its bytes', () => {
  const ofItems = new PageInProgress<number>({ limit: 2 });
  expect([ofItems.room, ofItems.isFull]).toEqual([2, false]);
  expect([1, 1, 1].map((bytes) => ofItems.take(position(0, bytes)))).toEqual([true, true, false]);
  expect([ofItems.room, ofItems.isFull]).toEqual([0, true]);
  for (const [bytes, isFull] of [
    [99, false],
    [100, true],
    [150, true],
  ] as const) {
    const page = new PageInProgress<number>({ maxBytes: 100, bytesOf: ({ item }) => item });
    expect(page).toMatchObject({ isFull: false, roomBytes: 100 });
    page.take(position(0, bytes));
    expect(page).toMatchObject({ isFull, roomBytes: 100 - bytes });
  }
  const unbounded = new PageInProgress<number>({});
  unbounded.take(position(0));
  expect(unbounded).toMatchObject({ isFull: false, room: undefined, roomBytes: undefined, expected: undefined });
  expect(unbounded.bytesOf(position(0, 5))).toBe(0);
});

test.each<[PageBounds<number>, number | undefined, number | undefined]>([
  [{ limit: 9 }, 9, 6],
  [{ roughly: () => 9 }, 9, 6],
  [{ limit: 5, roughly: () => 9 }, 5, 2],
  [{ limit: 9, roughly: () => 5 }, 5, 2],
  [{ roughly: () => 2 }, 2, 1],
])('a page of %j expects %d items at first, and %d behind three', (bounds, first, behindThree) => {
  const page = new PageInProgress<number>(bounds);
  expect(page.expected).toBe(first);
  for (let item = 0; item < 3; item++) page.take(position(0));
  expect(page.expected).toBe(behindThree);
});

test('the page before counts for one stretch until this page has two of its own', () => {
  const page = new PageInProgress<number>({ stretchBefore: 10 });
  const stretches = [1, 1, 2, 2, 3].map((shard) => {
    page.take(position(shard));
    return page.stretch;
  });
  expect(stretches).toEqual([10, 10, 6, 6, 2]);
});

test('a page holds an item once, where it was found first, and has room for it again though it is full', () => {
  const page = new PageInProgress<number>({ limit: 2, identityOf: String });
  const taken = [position(0, 7), position(1, 7), position(1, 8), position(2, 7), position(2, 9)];
  expect(taken.map((each) => page.take(each))).toEqual([true, true, true, true, false]);
  expect(page.positions).toEqual([position(0, 7), position(1, 8)]);
});

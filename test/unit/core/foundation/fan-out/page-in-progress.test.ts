import { FanOutHistory } from '../../../../../lib/core';
import { PageInProgress } from '../../../../../lib/core/foundation/fan-out/page-in-progress';

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

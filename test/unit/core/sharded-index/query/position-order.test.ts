import { positionOrder } from '../../../../../lib/core/sharded-index/query/position-order';

const at = (shard: number, day: number, time?: number) => ({
  shard,
  item: { day: { N: String(day) }, ...(time !== undefined && { time: { N: String(time) } }) },
});
const { compare, behindAllShards } = positionOrder('ascending', ['day', 'time']);

test('a position that holds the first attributes of a sort key stands behind every item that has them', () => {
  expect(compare(at(0, 2), at(9, 2, 5))).toBeGreaterThan(0);
  expect(compare(at(9, 2, 5), at(0, 2))).toBeLessThan(0);
  expect(compare(at(0, 2), at(0, 3, 1))).toBeLessThan(0);
  expect(compare(at(0, 2), at(1, 2))).toBeLessThan(0);
});

test('positions behind all shards are the same position', () => {
  expect(compare(at(behindAllShards, 2, 5), at(behindAllShards, 2, 5))).toBe(0);
  expect(compare(at(behindAllShards, 2, 5), at(9_999, 2, 5))).toBeGreaterThan(0);
});

import { type ShardFormat, wrongPartOf } from '../../../../lib/core/sharding/shard-format';

test.each<[ShardFormat]>([
  [{}],
  [{ firstShard: 0, shardWidth: 1, shardPlacement: 'suffix' }],
  [{ firstShard: 7, separator: '.', shardWidth: 10, shardPlacement: 'prefix' }],
])('wrongPartOf – a format with %j – returns undefined', (shardFormat) => {
  expect(wrongPartOf(shardFormat)).toBeUndefined();
});

test.each<[keyof ShardFormat, unknown]>([
  ['firstShard', -1],
  ['firstShard', 0.5],
  ['firstShard', null],
  ['separator', ''],
  ['separator', '-1-'],
  ['separator', null],
  ['shardWidth', 0],
  ['shardWidth', 1.5],
  ['shardWidth', 11],
  ['shardPlacement', 'middle'],
])('wrongPartOf – a format whose %s is %j – returns this field', (part, value) => {
  expect(wrongPartOf({ [part]: value })).toBe(part);
});

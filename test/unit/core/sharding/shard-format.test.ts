import { type ShardFormat, wrongPartOf } from '../../../../lib/core/sharding/shard-format';

test.each<[ShardFormat]>([
  [{}],
  [{ firstShard: 0, shardWidth: 1, shardPlacement: 'suffix' }],
  [{ firstShard: 7, separator: '.', shardWidth: 10, shardPlacement: 'prefix' }],
])('shards can be written and read back with %j', (shardFormat) => {
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
])('shards cannot be written and read back with a %s of %j', (part, value) => {
  expect(wrongPartOf({ [part]: value })).toBe(part);
});

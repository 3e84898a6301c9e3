import { InvalidArgumentError, InvalidShardCountError, randomShard } from '../../../../lib/core';

describe('randomShard', () => {
  test('maps a random number to a shard from 0 to shardCount − 1', () => {
    expect(randomShard(5, () => 0)).toBe(0);
    expect(randomShard(5, () => 0.2)).toBe(1);
    expect(randomShard(5, () => 1 - Number.EPSILON / 2)).toBe(4);
  });

  test.each([0, -1, 2.5, Number.NaN, 10_001])('rejects the shard count %p', (shardCount) => {
    const draw = () => randomShard(shardCount);
    expect(draw).toThrow(InvalidShardCountError);
    const reason = shardCount === 10_001 ? ' (a query reads every shard for each page)' : '';
    expect(draw).toThrow(`shardCount must be a whole number from 1 to 10000${reason}, got `);
  });

  test.each([1, -0.1, Number.NaN])('rejects a source of random numbers that returns %p', (drawn) => {
    expect(() => randomShard(5, () => drawn)).toThrow(InvalidArgumentError);
  });
});

import { ShardMap } from '../../../../lib/core/producer/shard-map';

const shard = (ShardId: string, first: number, last: number) => ({
  ShardId,
  HashKeyRange: { StartingHashKey: String(first), EndingHashKey: String(last) },
});

describe('ShardMap', () => {
  const map = new ShardMap([shard('b', 10, 19), shard('a', 0, 9)]);

  test.each([
    [0n, 'a'],
    [9n, 'a'],
    [10n, 'b'],
    [19n, 'b'],
  ])('the hash key %s belongs to shard %s alone, at both ends of its range', (hashKey, shardId) => {
    expect(map.shardIdOf(hashKey)).toBe(shardId);
    expect(map.contradicts(hashKey, 'a')).toBe(shardId !== 'a');
    expect(map.contradicts(hashKey, 'b')).toBe(shardId !== 'b');
  });

  test('leaves out a shard that is listed without its id or an end of its range', () => {
    const { ShardId, HashKeyRange } = shard('c', 20, 29);
    const { StartingHashKey, EndingHashKey } = HashKeyRange;
    const parts = [{}, { ShardId }, { HashKeyRange }, { ShardId, HashKeyRange: { StartingHashKey } }];
    const incomplete = new ShardMap([...parts, { ShardId, HashKeyRange: { EndingHashKey } }, shard('a', 0, 9)]);
    expect([0n, 20n].map((hashKey) => incomplete.shardIdOf(hashKey))).toEqual(['a', undefined]);
  });

  test('says nothing of a gap, nor of a shard that it does not know', () => {
    expect(map.shardIdOf(20n)).toBeUndefined();
    expect(new ShardMap([shard('b', 10, 19)]).shardIdOf(9n)).toBeUndefined();
    expect(map.contradicts(20n, 'c')).toBe(false);
  });
});

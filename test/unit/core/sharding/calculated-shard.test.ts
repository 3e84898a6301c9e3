import fc from 'fast-check';
import published from '../../../../docs/calculated-shard-vectors.json';
import { calculatedShard, InvalidShardCountError } from '../../../../lib/core';
import { calculatedShards } from '../../../../lib/core/sharding/calculated-shard';
import { anyText } from '../../../support/any-text';

const cases = published.vectors.flatMap(({ id, shards }) =>
  Object.entries(shards).map(([shardCount, shard]) => [id, Number(shardCount), shard] as const),
);

describe('calculatedShard', () => {
  test.each(cases)('returns the shard of the published test vector for %j over %d shards', (id, shardCount, shard) => {
    expect(calculatedShard(id, shardCount)).toBe(shard);
  });

  test('if one shard is added, returns the same shard for an id as before, or the new shard', () => {
    fc.assert(
      fc.property(anyText(), fc.integer({ min: 1, max: 9_999 }), (id, shards) => {
        const before = calculatedShard(id, shards);
        const after = calculatedShard(id, shards + 1);
        return before < shards && (after === before || after === shards);
      }),
    );
  });

  test('calculatedShards returns the shards of a range of counts without duplicates, in ascending order', () => {
    const counts = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 40 }));
    fc.assert(
      fc.property(fc.string(), counts, (id, [least, more]) => {
        const each = Array.from({ length: more + 1 }, (_, index) => calculatedShard(id, least + index));
        expect(calculatedShards(id, least, least + more)).toEqual([...new Set(each)]);
      }),
    );
  });

  test.each([
    ['sequential numbers', (index: number) => String(1_000_000_000 + index)],
    ['order ids', (index: number) => `ORD-${String(index).padStart(8, '0')}`],
    ['UUIDs', (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`],
  ])('distributes 50,000 %s over all 200 shards, with no shard above 1.3 times its share', (_, id) => {
    const load = new Array<number>(200).fill(0);
    for (let index = 0; index < 50_000; index++) load[calculatedShard(id(index), 200)]! += 1;
    expect(Math.min(...load)).toBeGreaterThan(0);
    expect(Math.max(...load)).toBeLessThan(250 * 1.3);
  });

  test.each([0, -1, 2.5, Number.NaN, 10_001])('rejects the shard count %p', (shardCount) => {
    expect(() => calculatedShard('id', shardCount)).toThrow(InvalidShardCountError);
  });
});

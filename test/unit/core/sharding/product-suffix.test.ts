import { createHash } from 'node:crypto';
import { calculatedShard } from '../../../../lib/core';

/**
 * The suffix that the DynamoDB developer guide has long suggested, 0-based: the product of an id's code points modulo
 * 200. An even code point here and a multiple of five there, and the product is a multiple of 200.
 */
function productOfCodePoints(id: string): number {
  return [...id].reduce((product, character) => (product * character.codePointAt(0)!) % 200, 1);
}

const COUNT = 50_000;
const uuid = (number: number) => {
  const hex = createHash('md5').update(String(number)).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** How many shards of 200 the ids use, and the share of the ids that the fullest of them holds. */
function spread(shardOf: (id: string) => number, idOf: (number: number) => string): { used: number; fullest: number } {
  const held = new Map<number, number>();
  for (let number = 0; number < COUNT; number++) {
    const shard = shardOf(idOf(number));
    held.set(shard, (held.get(shard) ?? 0) + 1);
  }
  return { used: held.size, fullest: Math.max(...held.values()) / COUNT };
}

describe.each<[string, (number: number) => string, { used: number; fullest: number }]>([
  ['UUIDs', uuid, { used: 1, fullest: 1 }],
  ['order numbers', (number) => `ORD-${String(number).padStart(8, '0')}`, { used: 5, fullest: 0.6 }],
  ['numbers of ten digits', (number) => String(1_000_000_000 + number), { used: 25, fullest: 0.5 }],
])('%s over 200 shards', (_, idOf, product) => {
  test('crowd a few of them by the product of their code points', () => {
    const { used, fullest } = spread(productOfCodePoints, idOf);
    expect(used).toBeLessThanOrEqual(product.used);
    expect(fullest).toBeGreaterThanOrEqual(product.fullest);
  });

  test('use all of them evenly by calculatedShard', () => {
    const { used, fullest } = spread((id) => calculatedShard(id, 200), idOf);
    expect(used).toBe(200);
    expect(fullest * 200).toBeLessThan(1.3);
  });
});

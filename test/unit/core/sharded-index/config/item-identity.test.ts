import type { AttributeValue, ShardedTableConfig } from '../../../../../lib/core';
import { itemIdentity } from '../../../../../lib/core/sharded-index/config/item-identity';
import { invoices } from '../../../../support/fakes/invoices';
import { indexConfig } from '../../../../support/index-config';

type Parts = (string | AttributeValue)[];

const identities = (config: Parameters<typeof itemIdentity>[0], names: string[], items: Parts[]): string[] =>
  items.map((parts) => {
    const attributes = parts.map((part, at) => [names[at]!, typeof part === 'string' ? { S: part } : part] as const);
    return itemIdentity(config)(Object.fromEntries(attributes));
  });

/** Whether the items are all the same item. Otherwise, no two of them are. */
const same = (...of: Parameters<typeof identities>): boolean => {
  const { size } = new Set(identities(...of));
  expect([1, of[2].length]).toContain(size);
  return size === 1;
};

test('in an index, the whole table key tells items from one another, whatever its types', () => {
  const config = indexConfig({ tableKey: ['tenant', 'id'] });
  const items: Parts[] = [
    ['a', 'bc'],
    ['ab', 'c'],
    ['ab', { N: '1' }],
    ['ab', { N: '2' }],
    ['ab', { B: Uint8Array.of(1) }],
    ['ab', { B: Uint8Array.of(2) }],
  ];
  expect(same(config, ['tenant', 'id'], items)).toBe(false);
  expect(
    same(
      config,
      ['tenant', 'id', 'shard'],
      [
        ['a', 'b', '1'],
        ['a', 'b', '2'],
      ],
    ),
  ).toBe(true);
});

describe('in a table that is sharded by its own key', () => {
  const names = [...invoices.tableKey, 'client'];
  const byClient: ShardedTableConfig = { ...invoices, shardedBy: ['client'] };

  test('an item that has moved to another shard is the same item', () => {
    expect(
      same(invoices, names, [
        ['7-1', 't'],
        ['7-2', 't'],
      ]),
    ).toBe(true);
    expect(
      same(byClient, names, [
        ['7-1', 't', 'c'],
        ['7-2', 't', 'c'],
      ]),
    ).toBe(true);
  });

  test('items with another value, another sort key, or another of the attributes that decide the shard are others', () => {
    const items: Parts[] = [
      ['7-1', 't'],
      ['8-1', 't'],
      ['7-1', 'u'],
      ['7-1', 't', 'c'],
      ['7-1', 't', { BOOL: true }, 'x'],
    ];
    expect(same(byClient, names, items.slice(0, 4))).toBe(false);
    expect(same(byClient, names, [items[3]!, items[4]!])).toBe(false);
  });

  test('items whose keys no writer has made are others at every key', () => {
    expect(
      same(invoices, names, [
        ['CONFIG', 't'],
        ['NOTE', 't'],
      ]),
    ).toBe(false);
  });

  test('items of other shards are others where shards are drawn at random', () => {
    const random: ShardedTableConfig = { ...invoices, strategy: 'random', shardedBy: [] };
    expect(
      same(random, names, [
        ['7-1', 't'],
        ['7-2', 't'],
      ]),
    ).toBe(false);
  });
});

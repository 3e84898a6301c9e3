import { NumberValue } from '@aws-sdk/lib-dynamodb';
import { convertToAttr } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import {
  type AttributeValue,
  findStrays,
  InvalidIndexValueError,
  reshardItems,
  type ShardedIndexConfig,
  type ShardedTableConfig,
  type Stray,
  shardAttributes,
  shardBatches,
  shardPut,
  shardUpdate,
  transactPut,
} from '../../../../../lib/core';
import { correctionOf } from '../../../../../lib/core/sharded-index/keeper/item-correction';
import { FakeTable } from '../../../../support/fakes/fake-table';
import { indexConfig } from '../../../../support/index-config';

const table: ShardedTableConfig = {
  tableName: 'Jobs',
  tableKey: ['day', 'jobId'],
  keyLayout: 'single-attribute',
  valueAttribute: 'date',
  shardAttribute: 'day',
  sortKeyAttributes: ['jobId'],
  shardedBy: ['jobId'],
  separator: '#',
  firstShard: 0,
  shards: { default: { write: 3, read: 3 } },
  strategy: 'calculated',
};

/** The ways to write a whole item. Each returns the item that is stored. */
const WRITERS: Record<string, (config: ShardedIndexConfig, item: Record<string, unknown>) => Record<string, unknown>> =
  {
    shardAttributes: (config, item) => ({ ...item, ...shardAttributes(config, item) }),
    shardPut: (config, item) => shardPut([config], item).Item,
    shardBatches: (config, item) => {
      const [batch] = shardBatches([config], { put: [item] });
      return (batch!.RequestItems.Jobs![0] as { PutRequest: { Item: Record<string, unknown> } }).PutRequest.Item;
    },
    transactPut: (config, item) => {
      const indexes = [{ ...config, tableKey: table.tableKey }];
      const [write] = transactPut(table, { date: '2026-11-26', ...item }, { indexes });
      return (write as { Put: { Item: Record<string, unknown> } }).Put.Item;
    },
  };

/** Attributes that DynamoDB accepts as a key of an index, and attributes that DynamoDB does not accept. */
const aKey = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.integer(),
  fc.bigInt({ min: 0n, max: 10n ** 30n }),
  fc.constant(NumberValue.from('12345678901234567890')),
  fc.uint8Array({ minLength: 1 }),
);
const noKey = fc.constantFrom<unknown[]>(undefined, null, '', new Uint8Array(), true, ['a'], { a: 1 }, new Set(['a']));

const anIndex = fc.record({
  writer: fc.constantFrom(...Object.keys(WRITERS)),
  keyLayout: fc.constantFrom<ShardedIndexConfig['keyLayout']>('multi-attribute', 'single-attribute'),
  strategy: fc.constantFrom<ShardedIndexConfig['strategy']>('random', 'calculated'),
  isByValue: fc.boolean(),
  sparse: fc.constantFrom(undefined, false, true),
  hasValue: fc.boolean(),
  sortKey: fc.array(
    fc.oneof(
      aKey.map((value) => ({ value, isKey: true })),
      noKey.map((value) => ({ value, isKey: false })),
    ),
    {
      maxLength: 4,
    },
  ),
});

describe('an item without the sort key of an index', () => {
  test('every writer of whole items – any index and any item – rejects an item if and only if the index would not contain the item', async () => {
    await fc.assert(
      fc.asyncProperty(anIndex, async ({ writer, keyLayout, strategy, isByValue, sparse, hasValue, sortKey: keys }) => {
        const sortKey = keyLayout === 'single-attribute' ? keys.slice(0, 1) : keys;
        const config = indexConfig({
          ...{ keyLayout, strategy, sparse, sortKeyAttributes: sortKey.map((_, n) => `sort${n}`) },
          valueAttribute: isByValue ? 'status' : undefined,
        });
        const sorts = sortKey
          .map(({ value }, n) => [`sort${n}`, value] as const)
          .filter(([, value]) => value !== undefined);
        const item = { jobId: 'job-1', ...(hasValue && { status: 'open' }), ...Object.fromEntries(sorts) };
        const belongs = hasValue || !isByValue;
        const missing = sortKey.findIndex(({ isKey }) => !isKey);
        const write = () => WRITERS[writer]!(config, item);
        if (belongs && missing !== -1 && sparse !== true) {
          expect(write).toThrow(InvalidIndexValueError);
          expect(write).toThrow(`item.sort${missing} must be a non-empty string`);
        } else {
          expect(Object.hasOwn(write(), 'shard')).toBe(belongs);
        }
        // findStrays reports exactly the items that a writer of the library would reject.
        const { strays, hidden } = await findStrays(storing(config, item), config);
        const isLeftOut = belongs && missing !== -1 && sparse !== true;
        expect([strays.noSortKey, hidden]).toEqual(isLeftOut ? [1, 1] : [0, 0]);
      }),
      { numRuns: 500 },
    );
  });

  test('shardUpdate – the changes do not contain the sort key – sets the shard, because an update does not read the whole item', () => {
    for (const sparse of [undefined, true]) {
      const update = shardUpdate([indexConfig({ sparse })], { jobId: 'job-1' }, { set: { status: 'open' } });
      expect(Object.values(update.ExpressionAttributeNames!)).toEqual(['status', 'shard']);
    }
  });

  test('shardAttributes – an item without its sort key – throws an error that names the attribute, the index, and the option that allows such items', () => {
    const config = indexConfig({ sortKeyAttributes: ['createdAt', 'priority'] });
    expect(() => shardAttributes(config, { jobId: 'job-1', status: 'open', createdAt: '1' })).toThrow(
      'item.priority must be a non-empty string, a finite number or non-empty binary, because index byStatus contains no item ' +
        'without its sort key; if such items are meant to be missing from the index, give it sparse: true, got undefined',
    );
  });
});

describe('strays without the sort key of an index', () => {
  const config = indexConfig({ shards: { default: { write: 4, read: 4 } } });
  const right = shardAttributes({ ...config, sparse: true }, { jobId: 'job-1', status: 'open' }).shard as number;
  const stored = (shard?: number) => ({ jobId: 'job-1', status: 'open', ...(shard !== undefined && { shard }) });

  test('findStrays – an item without a shard and without a sort key, in an index that is not sparse – reports noSortKey and the shard that a writer would set', async () => {
    const found: Stray[] = [];
    await findStrays(storing(config, stored(), false), config, { onStray: (stray) => void found.push(stray) });
    expect(found).toMatchObject([{ reason: 'noSortKey', hidden: true, expected: { N: String(right) } }]);
  });

  test.each(Object.entries(WRITERS))(
    '%s – the item inherits the sort key from its class – throws, because the sort key would not be stored',
    (_, write) => {
      class Order {
        readonly jobId = '1';
        readonly status = 'open';
        get createdAt(): string {
          return '2026';
        }
      }
      const index = indexConfig({ sortKeyAttributes: ['createdAt'] });
      expect(() => write(index, new Order() as never)).toThrow('item.createdAt');
    },
  );

  test('reshardItems – an item without a shard and without a sort key, in a sparse index – sets the shard, so that queries find the item when a writer sets the sort key', async () => {
    const sparse = { ...config, sparse: true };
    const table = storing(sparse, stored(), false);
    const { strays, hidden } = await findStrays(table, sparse);
    expect([strays.missing, strays.noSortKey, hidden]).toEqual([1, 0, 0]);
    expect((await reshardItems(table, sparse)).outcomes.moved).toBe(1);
    expect((await findStrays(table, sparse)).strays.missing).toBe(0);
  });

  test('an index keeper leaves an item without a sort key unchanged in a sparse index', () => {
    const item = { jobId: { S: 'job-1' }, status: { S: 'open' } };
    expect(correctionOf([{ ...config, sparse: true }], item)).toEqual({ wrong: [], notKept: [] });
  });

  test.each<[string, number | undefined, string]>([
    ['with a right shard – leaves the item as it is, and does not hold up a drain', right, 'settled'],
    ['without a shard – sets the shard of the item', undefined, 'moved'],
    ['in a shard that readers do not query – moves the item to its shard', 7, 'moved'],
  ])('reshardItems – an item without a sort key %s', async (_, shard, outcome) => {
    const table = storing(config, stored(shard), false);
    const { outcomes, strays } = await reshardItems(table, config);
    expect([outcomes, strays.noSortKey]).toEqual([{ moved: 0, settled: 0, refused: 0, [outcome]: 1 }, 1]);
    expect((await findStrays(table, config)).strays).toMatchObject({ noSortKey: 1, missing: 0, outOfRange: 0 });
    expect(table.updates).toHaveLength(outcome === 'moved' ? 1 : 0);
  });
});

/** A table that contains this item. If `isSharded`, the item has the shard that a writer would set. */
function storing(config: ShardedIndexConfig, item: Record<string, unknown>, isSharded = true): FakeTable {
  const shard = isSharded ? shardAttributes({ ...config, sparse: true }, item) : {};
  const table = new FakeTable(['jobId']);
  const attributes = Object.entries({ ...item, ...shard }).filter(([, value]) => value !== undefined);
  table.put(Object.fromEntries(attributes.map(([name, value]) => [name, convertToAttr(value) as AttributeValue])));
  return table;
}

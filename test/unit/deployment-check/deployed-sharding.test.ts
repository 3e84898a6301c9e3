import { Annotations, CfnParameter, type Stack } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import {
  KeyLayout,
  type KeyShardedTable,
  type KeyShardedTableProps,
  ShardCounts,
  type ShardedIndexOptions,
  ShardedTable,
  ShardingStrategy,
  ShardPlacement,
} from '../../../lib';
import { warningsOfChange } from '../../support/fakes/deploy-in-turn';
import { invoiceTable } from '../../support/fakes/invoice-table';

const text = (name: string) => ({ name, type: AttributeType.STRING });
const warn = expect.stringContaining;

describe('synthesis of an index with the deployed template', () => {
  const index =
    (changes: Partial<ShardedIndexOptions> = {}) =>
    (stack: Stack): void => {
      const table = new ShardedTable(stack, 'Table', { partitionKey: text('orderId') });
      const shardCounts = ShardCounts.uniform(4);
      table.addShardedIndex({ indexName: 'byStatus', valueAttribute: text('status'), shardCounts, ...changes });
    };

  test.each<[string, Partial<ShardedIndexOptions>, Partial<ShardedIndexOptions>, string, string]>([
    ['layout', {}, { keyLayout: KeyLayout.SINGLE_ATTRIBUTE }, 'keyLayout', '"multi-attribute" to "single-attribute"'],
    ['value attribute', {}, { valueAttribute: text('state') }, 'valueAttribute', '"status" to "state"'],
    ['value attribute, which is now absent', {}, { valueAttribute: undefined }, 'valueAttribute', '"status" to none'],
    ['shard attribute', {}, { shardAttribute: 'shard' }, 'shardAttribute', '"byStatusShard" to "shard"'],
    ['sort key', {}, { sortKey: text('createdAt') }, 'sortKey', '[] to ["createdAt"]'],
    [
      'tie-breakers',
      { sortKey: text('createdAt') },
      { sortKey: text('createdAt'), tieBreakers: [text('customer')] },
      'sortKey',
      '["createdAt"] to ["createdAt","customer"]',
    ],
  ])(
    'warns if the new template has another %s, because DynamoDB rejects this deployment',
    (_, deployed, next, property, change) => {
      const id = `changed${property.charAt(0).toUpperCase()}${property.slice(1)}`;
      expect(warningsOfChange(index(deployed), index(next))).toEqual([
        expect.stringMatching(new RegExp(`^${property} of byStatus would change from .*ShardedIndex.${id}]$`)),
      ]);
      const [warning] = warningsOfChange(index(deployed), index(next));
      expect(warning).toContain(`${change}: the deployment would fail`);
      expect(warning).toContain('Add an index with another indexName');
    },
  );

  test('warns of another value attribute in the single-attribute layout, although DynamoDB accepts this deployment', () => {
    const keyLayout = KeyLayout.SINGLE_ATTRIBUTE;
    expect(warningsOfChange(index({ keyLayout }), index({ keyLayout, valueAttribute: text('state') }))).toEqual([
      warn(
        'valueAttribute of byStatus would change from "status" to "state": queries would miss every item until it is written',
      ),
    ]);
  });

  const inOneAttribute = { keyLayout: KeyLayout.SINGLE_ATTRIBUTE };

  test.each<[Partial<ShardedIndexOptions>, Partial<ShardedIndexOptions>, string]>([
    [{}, { firstShard: 1 }, 'firstShard of byStatus would change from 0 to 1'],
    [inOneAttribute, { ...inOneAttribute, separator: '-' }, 'separator of byStatus would change from "#" to "-"'],
    [{ ...inOneAttribute, shardWidth: 2 }, inOneAttribute, 'shardWidth of byStatus would change from 2 to 1'],
    [
      inOneAttribute,
      { ...inOneAttribute, shardPlacement: ShardPlacement.PREFIX },
      'shardPlacement of byStatus would change from "suffix" to "prefix"',
    ],
  ])('warns of another shard format: %j becomes %j', (deployed, next, warning) => {
    expect(warningsOfChange(index(deployed), index(next))).toEqual([
      warn(`${warning}: queries would miss items whose shard attribute has the earlier format`),
    ]);
  });

  test('does not warn if the new options state the default shard format', () => {
    const usual = { firstShard: 0, separator: '#', shardWidth: 1, shardPlacement: ShardPlacement.SUFFIX };
    expect(warningsOfChange(index(inOneAttribute), index({ ...inOneAttribute, ...usual }))).toEqual([]);
  });

  test('warns of another table of counts, whether the app creates the table or refers to it by name', () => {
    const shardCounts = ShardCounts.adaptive();
    const own = index({ shardCounts });
    const named = (name: string) => (stack: Stack) =>
      index({ shardCounts, shardCountTable: TableV2.fromTableName(stack, 'Counts', name) })(stack);
    expect(warningsOfChange(own, own)).toEqual([]);
    expect(warningsOfChange(named('counts'), named('counts'))).toEqual([]);
    expect(warningsOfChange(own, named('counts'))).toEqual([
      warn(
        'shardCountTable of byStatus would change from "Orders/Table/ShardCounts" to "counts": readers would miss items of values',
      ),
      warn('the table leaves the stack'),
    ]);
    expect(warningsOfChange(named('counts'), named('others'))).toEqual([warn('from "counts" to "others"')]);
  });

  test.each<[string, Partial<ShardedIndexOptions>, Partial<ShardedIndexOptions>]>([
    ['another strategy, because queries read every shard', {}, { strategy: ShardingStrategy.RANDOM }],
    [
      'another layout of an index without a value, because its key is the shard number in both layouts',
      { valueAttribute: undefined },
      { valueAttribute: undefined, keyLayout: KeyLayout.SINGLE_ATTRIBUTE },
    ],
  ])('does not warn of %s', (_, deployed, next) => {
    expect(warningsOfChange(index(deployed), index(next))).toEqual([]);
  });
});

describe('synthesis of a KeyShardedTable with the deployed template', () => {
  const table =
    (changes: Partial<KeyShardedTableProps> = {}) =>
    (stack: Stack): KeyShardedTable =>
      invoiceTable(stack, changes);

  test.each<[Partial<KeyShardedTableProps>, Partial<KeyShardedTableProps>, string]>([
    [{}, { separator: '-' }, 'separator of the table would change from "#" to "-": readers would miss existing items'],
    [{}, { firstShard: 1 }, 'firstShard of the table would change from 0 to 1: readers would miss existing items'],
    [{}, { shardWidth: 2 }, 'shardWidth of the table would change from 1 to 2: readers would miss existing items'],
    [
      {},
      { valueAttribute: 'invoiceNumber' },
      'valueAttribute of the table would change from "invoice" to "invoiceNumber": writers would put items under the values of',
    ],
    [
      {},
      { shardedBy: ['client'] },
      'shardedBy of the table would change from ["transaction"] to ["client"]: shardKey would return wrong keys for existing items',
    ],
    [
      { strategy: ShardingStrategy.RANDOM },
      {},
      'strategy of the table would change from "random" to "calculated": shardKey would return wrong keys for existing items',
    ],
    [
      {},
      { strategy: ShardingStrategy.RANDOM },
      'strategy of the table would change from "calculated" to "random": only queries would find items',
    ],
  ])('warns of %j that becomes %j', (deployed, next, warning) => {
    expect(warningsOfChange(table(deployed), table(next))).toEqual([warn(warning)]);
  });

  test('does not warn of a changed property if its warning is acknowledged, and warns of the other changed properties', () => {
    const acknowledging = (stack: Stack): void => {
      const changed = table({ separator: '-', firstShard: 1 })(stack);
      Annotations.of(changed).acknowledgeWarning('cdk-even-shards:KeyShardedTable.changedSeparator', 'it is empty');
    };
    expect(warningsOfChange(table(), acknowledging)).toEqual([
      warn('firstShard of the table would change from 0 to 1'),
    ]);
  });

  test('does not warn of a property that is a token', () => {
    const named = (stack: Stack) => table({ shardedBy: [new CfnParameter(stack, 'Name').valueAsString] })(stack);
    expect(warningsOfChange(table(), named)).toEqual([]);
    expect(warningsOfChange(named, table())).toEqual([]);
  });
});

import type { ShardedTableConfig } from '../../../../../lib/core';
import { keyStrayOf } from '../../../../../lib/core/sharded-index/strays/key-stray';

const invoices: ShardedTableConfig = {
  tableName: 'Invoices',
  tableKey: ['number', 'line'],
  keyLayout: 'single-attribute',
  valueAttribute: 'number',
  shardAttribute: 'number',
  sortKeyAttributes: ['line'],
  shards: { default: { write: 2, read: 3 } },
  strategy: 'calculated',
  shardedBy: ['line'],
  separator: '-',
  firstShard: 1,
};
const SHARDS = [0, 1, 2, 3, 4];

/** The reason why an item in each shard is a stray, and whether queries miss the item. */
const reasons = (config: ShardedTableConfig) =>
  SHARDS.map((shard) => {
    const stray = keyStrayOf(config, { number: { S: `7-${shard}` }, line: { S: 'a' } });
    return stray && `${stray.reason}${stray.hidden ? ', hidden' : ''}`;
  });

test('keyStrayOf – a table with random shards – accepts an item in any shard that writers use, and reports an item in any other shard', () => {
  const random: ShardedTableConfig = { ...invoices, strategy: 'random', shardedBy: [] };
  expect(reasons(random)).toEqual(['malformed, hidden', undefined, undefined, 'misplaced', 'outOfRange, hidden']);
});

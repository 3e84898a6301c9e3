import {
  type DynamoDbItem,
  fanOutQuery,
  plainItem,
  type ShardedIndexConfig,
  shardAttributes,
  shardKey,
} from '../../../../../lib/core';
import { indexStrayOf } from '../../../../../lib/core/sharded-index/strays/index-stray';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({
  keyLayout: 'single-attribute',
  shardAttribute: 'statusShard',
  shards: { default: { write: 5, read: 5 } },
});
const SHARDS = [1, 2, 3, 4, 5];

/** The shard formats of indexes that another program has filled. */
const SHARD_FORMATS: [string, Partial<ShardedIndexConfig>, (shard: number) => object][] = [
  ['1 to 5 after the value', { firstShard: 1 }, (shard) => ({ S: `open#${shard}` })],
  ['01 to 05', { firstShard: 1, shardWidth: 2, separator: '.' }, (shard) => ({ S: `open.0${shard}` })],
  ['1 to 5 before the value', { firstShard: 1, shardPlacement: 'prefix' }, (shard) => ({ S: `${shard}#open` })],
  ['1 to 5 as numbers', { firstShard: 1, keyLayout: 'multi-attribute' }, (shard) => ({ N: String(shard) })],
];

describe('an index with the shard format', () => {
  test.each(SHARD_FORMATS)('%s – fanOutQuery finds the items of every shard', async (_, shardFormat, shardOf) => {
    const config = { ...byStatus, ...shardFormat };
    const index = new FakeIndex(config);
    for (const shard of SHARDS) {
      index.put({
        jobId: { S: `job-${shard}` },
        status: { S: 'open' },
        createdAt: { N: String(shard) },
        statusShard: shardOf(shard),
      } as DynamoDbItem);
    }
    const { items } = await fanOutQuery(index, config, { value: 'open' });
    expect(items.map(({ jobId }) => jobId)).toEqual(SHARDS.map((shard) => ({ S: `job-${shard}` })));
  });

  test.each(SHARD_FORMATS)(
    '%s – writers use each shard of the count, and no other shard',
    (_, shardFormat, shardOf) => {
      const config = { ...byStatus, ...shardFormat };
      const written = new Set(
        Array.from(
          { length: 500 },
          (_, job) => shardAttributes(config, { jobId: `j${job}`, status: 'open', createdAt: 1 }).statusShard,
        ),
      );
      const expected = SHARDS.map((shard) => plainItem({ shard: shardOf(shard) as never }).shard);
      expect([...written].sort()).toEqual(expected);
    },
  );

  test.each(SHARD_FORMATS)(
    '%s – an item in a shard that readers do not query is a stray',
    (_, shardFormat, shardOf) => {
      const config = { ...byStatus, ...shardFormat };
      const keys = { jobId: { S: 'job-1' }, status: { S: 'open' }, createdAt: { N: '1' } };
      const item = { ...keys, statusShard: shardOf(0) } as DynamoDbItem;
      expect(indexStrayOf(config, item)).toMatchObject({ reason: 'outOfRange', hidden: true });
      const right = shardAttributes(config, plainItem(keys)).statusShard as string | number;
      const stored = typeof right === 'string' ? { S: right } : { N: String(right) };
      expect(indexStrayOf(config, { ...item, statusShard: stored })).toBeUndefined();
    },
  );

  test.each(['suffix', 'prefix'] as const)('%s – a value may contain the separator', async (shardPlacement) => {
    const config: ShardedIndexConfig = { ...byStatus, shardPlacement, separator: '#' };
    const item: DynamoDbItem = { jobId: { S: 'job-1' }, status: { S: 'a#b' }, createdAt: { N: '1' } };
    const { statusShard } = shardAttributes(config, plainItem(item));
    const stored: DynamoDbItem = { ...item, statusShard: { S: statusShard as string } };
    expect(indexStrayOf(config, stored)).toBeUndefined();
    const index = new FakeIndex(config);
    index.put(stored);
    expect((await fanOutQuery(index, config, { value: 'a#b' })).items).toEqual([stored]);
  });
});

test('shardKey writes the shard with shardWidth digits, and before the value if shardPlacement is prefix', () => {
  const shards = { default: { write: 1, read: 1 } };
  const config = { ...invoices, shards, firstShard: 7, shardWidth: 2, shardPlacement: 'prefix' as const };
  expect(shardKey(config, '121212', { ClientTransactionId: 'a' }).InvoiceNumber).toBe('07-121212');
});

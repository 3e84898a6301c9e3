import {
  calculatedShard,
  fanOutQuery,
  InvalidArgumentError,
  InvalidIndexValueError,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../../../../lib/core';
import { strayOf } from '../../../../../lib/core/sharded-index/strays/stray-of';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({
  shardAttribute: 'byStatusShard',
  sortKeyAttributes: [],
  shards: { default: { write: 1, read: 1 }, byValue: { succeeded: { write: 35, read: 40 } } },
});
const { valueAttribute: _, ...wholeTable } = byStatus;
const byTime: ShardedIndexConfig = { ...wholeTable, shards: { default: { write: 5, read: 5 } } };
const single = (config: ShardedIndexConfig): ShardedIndexConfig => ({ ...config, keyLayout: 'single-attribute' });

describe('shardAttributes', () => {
  const job = { jobId: 'job-1', status: 'succeeded' };

  const shardOfValue = calculatedShard('job-1', 35);
  const shardOfTable = calculatedShard('job-1', 5);

  test.each<[string, ShardedIndexConfig, string | number]>([
    ['a number in the multi-attribute layout', byStatus, shardOfValue],
    ['"value#shard" in the single-attribute layout', single(byStatus), `succeeded#${shardOfValue}`],
    ['a number for an index of the whole table', byTime, shardOfTable],
    ['a number for an index of the whole table, in the single-attribute layout', single(byTime), shardOfTable],
  ])('returns %s', (_, config, byStatusShard) => {
    expect(shardAttributes(config, job)).toEqual({ byStatusShard });
  });

  test.each(['constructor', 'toString', '__proto__'])(
    'returns nothing for an item that inherits the attribute %s and does not contain it',
    (valueAttribute) => {
      const config: ShardedIndexConfig = { ...byStatus, valueAttribute, shardAttribute: 'valueOf' };
      expect(shardAttributes(config, job)).toEqual({});
      expect(strayOf(config, { jobId: { S: 'job-1' } })).toBeUndefined();
      const item = Object.fromEntries([
        ['jobId', 'job-1'],
        [valueAttribute, 'succeeded'],
      ]);
      expect(Object.entries(shardAttributes(config, item))).toEqual([['valueOf', calculatedShard('job-1', 35)]]);
    },
  );

  test('uses the default count for a value without its own count', () => {
    expect(shardAttributes(byStatus, { ...job, status: 'toString' })).toEqual({ byStatusShard: 0 });
  });

  test.each([
    [1e21, '1000000000000000000000', '1e+21'],
    [1.5e-7, '0.00000015', '1.5e-7'],
    [7, '7', '7'],
  ])(
    'uses the same count for the number %p and for the text of its digits, which have the same partition key',
    async (number, digits, name) => {
      const config: ShardedIndexConfig = {
        ...byStatus,
        keyLayout: 'single-attribute',
        shards: { default: { write: 1, read: 1 }, byValue: { [name]: { write: 4, read: 4 } } },
      };
      const index = new FakeIndex(config);
      for (let at = 0; at < 40; at++) {
        const jobId = `job-${at}`;
        const { byStatusShard } = shardAttributes(config, { jobId, status: at % 2 === 0 ? number : digits });
        index.put({ jobId: { S: jobId }, createdAt: { S: 'x' }, byStatusShard: { S: byStatusShard as string } });
      }
      // A query rejects an integer that a JavaScript number cannot represent exactly, so the test passes the digits.
      for (const value of [number === 1e21 ? { N: digits } : number, digits]) {
        const { items, stats } = await fanOutQuery(index, config, { value });
        expect([items.length, stats.shards]).toEqual([40, 4]);
      }
    },
  );

  test('does not treat text that looks like a number as that number', () => {
    const shards = { default: { write: 1, read: 1 }, byValue: { '100': { write: 100, read: 100 } } };
    expect(shardAttributes({ ...byStatus, shards }, { jobId: 'job-1', status: '1e2' })).toEqual({ byStatusShard: 0 });
    expect(shardAttributes({ ...byStatus, shards }, { jobId: 'job-1', status: '0100' })).toEqual({ byStatusShard: 0 });
  });

  test('spreads random writes over the write count of shards, not over the read count', () => {
    const shards = new Set<unknown>();
    for (let write = 0; write < 5_000; write++) {
      shards.add(shardAttributes({ ...byStatus, strategy: 'random' }, job).byStatusShard);
    }
    expect([...shards].sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 35 }, (_, shard) => shard));
  });

  test('calculates the shard from both attributes of a composite table key', () => {
    const config = { ...byStatus, tableKey: ['tenant', 'number'] };
    const item = { tenant: 't', number: 7, status: 'succeeded' };
    expect(shardAttributes(config, item)).toEqual({ byStatusShard: calculatedShard('t#7', 35) });
  });

  test('calculates the shard from the decimal digits of a number, and from the base64 text of a binary value', () => {
    const config = { ...byTime, tableKey: ['number'], shards: { default: { write: 1_000, read: 1_000 } } };
    const shardOf = (number: unknown) => shardAttributes(config, { number }).byStatusShard;
    expect(shardOf(1e21)).toBe(calculatedShard('1000000000000000000000', 1_000));
    expect(shardOf(10n ** 21n)).toBe(shardOf(1e21));
    expect(shardOf(1.5e-7)).toBe(calculatedShard('0.00000015', 1_000));
    expect(shardOf(Uint8Array.of(1, 2))).toBe(calculatedShard('AQI=', 1_000));
  });

  test.each([true, null, ''])('rejects the value %p', (status) => {
    const write = () => shardAttributes(byStatus, { ...job, status });
    expect(write).toThrow(InvalidIndexValueError);
    expect(write).toThrow(
      'item.status must be a non-empty string, a finite number, or absent to leave the item out of the index, got ',
    );
  });

  test('rejects an item without the table key, because the shard is calculated from the table key', () => {
    const write = () => shardAttributes(byStatus, { status: 'succeeded' });
    expect(write).toThrow(InvalidArgumentError);
    expect(write).toThrow(
      'item.jobId must be a string, a finite number or binary because it decides the calculated shard',
    );
  });
});

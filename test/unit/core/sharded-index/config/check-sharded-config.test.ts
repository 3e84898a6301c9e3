import {
  InvalidIndexConfigError,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedTableConfig,
} from '../../../../../lib/core';
import { checkShardedConfig } from '../../../../../lib/core/sharded-index/config/check-sharded-config';
import { invoices } from '../../../../support/fakes/invoices';
import { indexConfig } from '../../../../support/index-config';

const index = (): ShardedIndexConfig =>
  indexConfig({
    keyLayout: 'single-attribute',
    shardAttribute: 'statusShard',
    shards: { default: { write: 5, read: 5 }, byValue: { open: { write: 7, read: 7 } } },
  });

const table = (): ShardedTableConfig => ({
  ...invoices,
  tableKey: ['number', 'line'],
  valueAttribute: 'number',
  shardAttribute: 'number',
  sortKeyAttributes: ['line'],
  shardedBy: ['line'],
});

describe('checkShardedConfig', () => {
  test.each<[string, (config: ShardedIndexConfig) => void]>([
    ['a count', ({ shards }) => Object.assign(shards.byValue!.open!, { read: 1 })],
    ['the table key', ({ tableKey }) => tableKey.push('more')],
    ['a field', (config) => Object.assign(config, { strategy: 'random' })],
  ])('freezes %s of a configuration that it has checked', (_, change) => {
    const config = index();
    checkShardedConfig(config);
    expect(() => change(config)).toThrow(TypeError);
    expect(config).toEqual(index());
  });

  test('checks a new configuration even if it contains parts of a configuration that was checked before', () => {
    const config = index();
    checkShardedConfig(config);
    expect(() => checkShardedConfig({ ...config, strategy: 'guessed' as 'random' })).toThrow(InvalidIndexConfigError);
    const shards = { ...config.shards, default: { write: 5, read: 4 } };
    expect(() => checkShardedConfig({ ...config, shards })).toThrow('config.shards.default.read must be');
  });

  test.each<[string, ShardedConfig]>([
    ['an index', { ...index(), firstShards: 1 } as never],
    ['an index', { ...index(), shardedBy: ['jobId'] } as never],
    ['a table', { ...table(), adaptive: { tableName: 'Counts', maximum: 9 } } as never],
  ])('rejects an unknown field of %s', (_, config) => {
    expect(() => checkShardedConfig(config)).toThrow(/^\[INVALID_INDEX_CONFIG\] config must be made of .*, got "/);
  });

  test.each<[string, object]>([
    ['an AdaptiveIndex', { forReading: async () => index() }],
    ['a Promise', Promise.resolve(index())],
  ])('rejects %s and names the method whose result to await', (given, config) => {
    const message = `config must be a configuration: await forWriting() of an AdaptiveIndex, got "${given}"`;
    expect(() => checkShardedConfig(config as never)).toThrow(message);
  });

  test.each<[object, string]>([
    [{ tableKey: ['number'] }, 'config.tableKey must be the partition key and the sort key'],
    [{ sortKeyAttributes: ['at'] }, 'config.sortKeyAttributes must be the sort key, line'],
    [{ valueAttribute: undefined }, 'config.valueAttribute must be the name of the attribute that holds the value'],
    [{ strategy: 'random' }, 'config.shardedBy must be empty if the strategy is random'],
    [{ shards: { default: { write: 5, read: 6, since: 6 } } }, 'config.shards.default.since must be at most'],
    [{ shardedBy: ['a', 'b', 'c', 'd', 'e'] }, 'config.shardedBy must be an array of 1 to 4 attribute names'],
    [{ shardedBy: ['number'] }, 'config.shardedBy must be attributes other than the partition key'],
    [{ valueAttribute: 'client', shardedBy: ['client'] }, 'config.shardedBy must be attributes that differ among'],
    [{ valueAttribute: 'line' }, 'config.valueAttribute must be another attribute than the sort key'],
    [{ shardAttribute: 'pk' }, 'config.shardAttribute must be the partition key, number'],
    [{ keyLayout: 'multi-attribute' }, 'config.keyLayout must be single-attribute for a configuration without'],
    [{ separator: undefined }, 'config.separator must be'],
    [{ firstShard: undefined }, 'config.firstShard must be'],
    [{ shardWidth: 0 }, 'config.shardWidth must be a whole number from 1 to 10'],
    [{ sparse: true }, 'config must be made of'],
    [{ longestWriteSeconds: 30 }, 'config must be made of'],
    [{ shards: { default: { write: 5, read: 5, since: 0 } } }, 'config.shards.default.since must be'],
  ])('rejects a table configuration with %j', (part, message) => {
    expect(() => checkShardedConfig({ ...table(), ...part } as never)).toThrow(message);
  });

  test.each<[ShardedConfig, Partial<ShardedConfig>]>([
    [table(), { shardedBy: ['a', 'b', 'c', 'd'] } as Partial<ShardedTableConfig>],
    [table(), { shards: { default: { write: 5, read: 6, since: 5 } } }],
    [index(), { tableName: 'x'.repeat(1_024), tableKey: ['id', 'x'.repeat(1_024)] }],
    [index(), { keyLayout: 'multi-attribute', sortKeyAttributes: ['a', 'b', 'c', 'd'] }],
    [index(), { sortKeyAttributes: ['jobId'] }],
    [index(), { valueAttribute: 'jobId' }],
    [index(), { firstShard: 0, shardWidth: 1, shardPlacement: 'suffix' }],
    [index(), { firstShard: 7, separator: '.', shardWidth: 10, shardPlacement: 'prefix' }],
    [index(), { sparse: true, longestWriteSeconds: 1 }],
    [index(), { sparse: false, longestWriteSeconds: 86_400 }],
  ])('accepts a configuration whose values are at their limits: case %#', (config, part) => {
    expect(() => checkShardedConfig({ ...config, ...part } as never)).not.toThrow();
  });

  test.each([null, 5])('rejects %p as a configuration', (config) => {
    expect(() => checkShardedConfig(config as never)).toThrow('config must be a configuration as ShardedIndex');
  });

  test.each<[Partial<ShardedIndexConfig>, string]>([
    [{ shards: { default: { write: 5, read: 5, since: 2 } } }, 'config.shards must be counts without since'],
    [{ shards: { default: { write: 0.5, read: 5 } } }, 'config.shards.default.write must be'],
    [{ shards: { ...index().shards, byvalue: {} } as never }, 'config.shards must be made of default and byValue'],
    [{ version: 2 as never }, 'config.version must be 1 or absent'],
    [{ keyLayout: 'both' as never }, 'config.keyLayout must be'],
    [{ strategy: 'hash' as never }, 'config.strategy must be'],
    [{ tableName: '' }, 'config.tableName must be a non-empty string'],
    [{ indexName: 'x'.repeat(1_025) }, 'config.indexName must be'],
    [{ shardAttribute: '' }, 'config.shardAttribute must be'],
    [{ sortKeyAttributes: ['a', 'b'] }, 'config.sortKeyAttributes must be an array of at most one attribute name'],
    [{ sparse: 'yes' as never }, 'config.sparse must be true, false or absent, got "yes"'],
    ...[0, 86_401].map((seconds): [Partial<ShardedIndexConfig>, string] => [
      { longestWriteSeconds: seconds as never },
      'config.longestWriteSeconds must be a whole number of seconds from 1 to 86400, got',
    ]),
    ...['status', 'createdAt', 'jobId'].map((shardAttribute): [Partial<ShardedIndexConfig>, string] => [
      { shardAttribute },
      'config.shardAttribute must be an attribute that is not the value attribute, and not part of the table key or',
    ]),
    [{ sortKeyAttributes: ['status'] }, 'config.sortKeyAttributes must be attributes that differ from each other'],
    [
      { keyLayout: 'multi-attribute', sortKeyAttributes: ['at', 'at'] },
      'config.sortKeyAttributes must be attributes that differ from each other',
    ],
    [{ valueAttribute: '' }, 'config.valueAttribute must be a non-empty string'],
    [{ tableKey: ['a', 'b', 'c'] }, 'config.tableKey must be an array of 1 to 2 attribute names'],
    [
      { keyLayout: 'multi-attribute', sortKeyAttributes: ['a', 'b', 'c', 'd', 'e'] },
      'config.sortKeyAttributes must be an array of 0 to 4 attribute names',
    ],
    ...[-1, 0.5, null].map((firstShard): [Partial<ShardedIndexConfig>, string] => [
      { firstShard: firstShard as number },
      'config.firstShard must be a whole number of at least 0',
    ]),
    ...['-1-', '', null].map((separator): [Partial<ShardedIndexConfig>, string] => [
      { separator: separator as string },
      'config.separator must be a non-empty text without digits',
    ]),
    ...[0, 1.5, 11].map((shardWidth): [Partial<ShardedIndexConfig>, string] => [
      { shardWidth },
      'config.shardWidth must be a whole number from 1 to 10',
    ]),
    [{ shardPlacement: 'middle' as 'prefix' }, 'config.shardPlacement must be suffix or prefix'],
    [{ keyLayout: 'multi-attribute', separator: '-' }, 'config.separator must be absent'],
    [{ valueAttribute: undefined, shardWidth: 2 }, 'config.shardWidth must be absent'],
  ])('rejects an index configuration with %j', (part, message) => {
    expect(() => checkShardedConfig({ ...index(), ...part })).toThrow(message);
  });
});

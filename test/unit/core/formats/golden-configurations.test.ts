import {
  AdaptiveIndex,
  fanOutQuery,
  fanOutSelect,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedKeyspacesConfig,
  shardAttributes,
  shardColumns,
} from '../../../../lib/core';
import {
  KEY_SHARDING,
  KEYSPACES_SHARDING,
  SHARDED_INDEXES,
  shardingMetadata,
} from '../../../../lib/deployment-check/sharding-metadata';
import { FakeIndex } from '../../../support/fakes/fake-index';
import { FormatRegister } from '../../../support/formats/register';
import { folderOf, goldenValues } from '../../../support/golden/golden-values';

/** The table of counts of an index whose counts have not grown. */
const noGrownCount = (countsOf: ShardedConfig): never =>
  ({ countsOf, readCounts: async () => [], readCount: async () => undefined }) as never;

const indexes = goldenValues<{ config: ShardedConfig }>('index-configuration');

test.each(indexes)(
  'golden index configuration %s – writers and readers accept the configuration',
  async (_, { config }) => {
    const { valueAttribute, sortKeyAttributes, tableKey, shardAttribute } = config;
    const isNumber = valueAttribute === 'priority';
    const attributes = [...tableKey, ...sortKeyAttributes, ...(valueAttribute === undefined ? [] : [valueAttribute])];
    const item = Object.fromEntries(attributes.map((name) => [name, name === 'priority' ? 1 : 'x']));
    const { adaptive } = config as ShardedIndexConfig;
    if (adaptive === undefined) expect(shardAttributes(config, item)).toHaveProperty(shardAttribute);
    const source =
      adaptive === undefined ? config : new AdaptiveIndex(config as ShardedIndexConfig, noGrownCount(config));
    const request = valueAttribute === undefined ? {} : { value: isNumber ? 1 : 'x' };
    const { shards } = (await fanOutQuery(new FakeIndex(config), source, request)).stats;
    const { default: usual, byValue } = config.shards;
    expect(shards).toBe((isNumber ? byValue!['1']! : usual).read);
  },
);

test.each(goldenValues<{ config: ShardedKeyspacesConfig }>('keyspaces-configuration'))(
  'golden Keyspaces configuration %s – writers and readers accept the configuration',
  async (_, { config }) => {
    const row = { day: '2026-12-01', at: new Date(0), id: 7 };
    expect(shardColumns(config, row)).toEqual({ [config.shardColumn]: expect.any(Number) });
    const cql = { execute: async () => ({ rows: [], pageState: null }) };
    const { stats } = await fanOutSelect(cql, config, { value: { day: row.day } });
    expect(stats.shards).toBe(config.shards.byValue![row.day]!.read);
  },
);

test.each(goldenValues<{ metadata: Record<string, object> }>('sharding-metadata'))(
  'golden sharding metadata %s – a deployment check reads the shard counts',
  (_, { metadata }) => {
    const keys = [SHARDED_INDEXES, KEY_SHARDING, KEYSPACES_SHARDING];
    const found = keys.flatMap((key) => shardingMetadata<Record<string, { shards?: object }>>(metadata, key) ?? []);
    expect(found).toHaveLength(1);
    const described = 'shards' in found[0]! ? [found[0]] : Object.values(found[0]!);
    for (const { shards } of described as { shards: object }[])
      expect(shards).toMatchObject({ default: { write: expect.any(Number) } });
  },
);

test.each([...new FormatRegister().highestVersions()])(
  'docs/formats.md lists %s with version %d, which has golden bytes',
  (format, version) => {
    const versions = goldenValues(folderOf(format)).map(([name]) => Number(name.split('@')[0]));
    expect(versions).toContain(version);
  },
);

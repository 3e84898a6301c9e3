import { readGuide } from '../construct/guide-link';
import { type ShardFormat, shardFormatOf } from '../core/sharding/shard-format';
import type { ResourceChange } from './compared-stacks';
import { type Finding, finding, type Location } from './finding';
import { changedSettings, type Setting } from './setting-changes';
import { skippedStep, skippedTableStep } from './shard-count-changes';
import {
  type IndexMetadata,
  KEY_SHARDING,
  KEYSPACES_SHARDING,
  type KeyShardingMetadata,
  type KeyspacesMetadata,
  SHARDED_INDEXES,
  shardingMetadata,
} from './sharding-metadata';

/** Findings for changes of sharding settings that must be the same for readers and writers of a table and its indexes. */
export function shardingFindings(change: ResourceChange): Finding[] {
  const indexes = metadataOf<{ [indexName: string]: IndexMetadata }>(change, SHARDED_INDEXES);
  const table = metadataOf<KeyShardingMetadata>(change, KEY_SHARDING);
  const keyspaces = metadataOf<KeyspacesMetadata>(change, KEYSPACES_SHARDING);
  return [
    ...Object.entries(indexes?.synthesized ?? {}).flatMap(([indexName, synthesized]) =>
      Object.hasOwn(indexes!.deployed, indexName)
        ? indexFindings(change, indexName, indexes!.deployed[indexName]!, synthesized)
        : [],
    ),
    ...(table === undefined ? [] : tableFindings(change, table.deployed, table.synthesized)),
    ...(keyspaces === undefined ? [] : keyspacesFindings(change, keyspaces.deployed, keyspaces.synthesized)),
  ];
}

/**
 * Whether both templates contain sharding metadata of an index. If so, only `shardingFindings` compares the key of the
 * index.
 */
export function isDescribedIndex(change: ResourceChange, indexName: string): boolean {
  const indexes = metadataOf<object>(change, SHARDED_INDEXES);
  return (
    indexes !== undefined && [indexes.deployed, indexes.synthesized].every((each) => Object.hasOwn(each, indexName))
  );
}

/**
 * The shard attributes of indexes with sharding metadata. The key layout decides the types of these attributes, and
 * `shardingFindings` compares the layouts.
 */
export function shardAttributes(change: ResourceChange): string[] {
  const indexes = metadataOf<{ [indexName: string]: IndexMetadata }>(change, SHARDED_INDEXES);
  return Object.values(indexes?.deployed ?? {}).map(({ shardAttribute }) => shardAttribute);
}

function metadataOf<M>(
  { deployed, synthesized }: ResourceChange,
  key: string,
): { deployed: M; synthesized: M } | undefined {
  const [before, next] = [deployed, synthesized].map(({ Metadata }) => shardingMetadata<M>(Metadata, key));
  return before === undefined || next === undefined ? undefined : { deployed: before, synthesized: next };
}

function indexFindings(
  change: ResourceChange,
  indexName: string,
  deployed: IndexMetadata,
  synthesized: IndexMetadata,
): Finding[] {
  const isFixedAgain = deployed.adaptive !== undefined && synthesized.adaptive === undefined;
  const fixedAgain =
    `queries of ${indexName} would miss items of values whose adaptive counts are above the fixed shardCounts: first deploy the adaptive ` +
    `counts as initialByValue.${readGuide('adaptive-counts', 'back-to-fixed-counts')}`;
  return [
    ...(isFixedAgain ? [finding(change, 'ShardedIndex.fixedAgain', 'missed', 'split', fixedAgain)] : []),
    ...skippedStep(change, 'ShardedIndex', indexName, deployed.shards, synthesized.shards),
    ...changedSettings(change, 'ShardedIndex', indexName, indexSettings(deployed, synthesized, change)),
  ];
}

const INDEX_GUIDE = readGuide('index-resharding', 'what-cannot-change');
const KEY_OF_INDEX = {
  effect: 'refused',
  consequence:
    'the deployment would fail, because DynamoDB cannot change the key of an index. Add an index with another indexName, and ' +
    `delete this one in a later deployment.${INDEX_GUIDE}`,
} as const;
const VALUES_OF_INDEX = {
  effect: 'missed',
  consequence:
    'queries would miss every item until it is written again, because its shard attribute contains the earlier value. Add an index ' +
    `with another indexName and shardAttribute.${INDEX_GUIDE}`,
} as const;
const TABLE_OF_COUNTS = {
  effect: 'missed',
  consequence:
    'readers would miss items of values whose counts were increased, because they would read the counts from the other ' +
    `table. Keep the table, or acknowledge this warning after the other table has the same counts.${INDEX_GUIDE}`,
} as const;
const FORMAT_OF_INDEX =
  'queries would miss items whose shard attribute has the earlier format, until a mover or a writer writes them again. ' +
  `Add an index with another indexName and shardAttribute.${INDEX_GUIDE}`;

function shardFormatSettings(deployed: ShardFormat, synthesized: ShardFormat, consequence: string): Setting[] {
  const next: Record<string, unknown> = { ...shardFormatOf(synthesized) };
  return Object.entries(shardFormatOf(deployed)).map(([property, before]) => ({
    property,
    deployed: before,
    synthesized: next[property],
    effect: 'missed',
    consequence,
  }));
}

function indexSettings(deployed: IndexMetadata, synthesized: IndexMetadata, { versions }: ResourceChange): Setting[] {
  const both = [deployed, synthesized];
  // In this layout, the partition key of the index is only the shard attribute, so DynamoDB accepts a change of the
  // value attribute.
  const isInShard = both.every((each) => each.keyLayout === 'single-attribute' && each.valueAttribute !== undefined);
  // Without a value attribute, the partition key is the shard number in both layouts.
  const hasValue = both.some((each) => each.valueAttribute !== undefined);
  const setting = (property: keyof IndexMetadata, next: unknown = synthesized[property]) => ({
    property: property as string,
    deployed: deployed[property] as unknown,
    synthesized: next,
  });
  const [countsBefore, countsNext] = [deployed, synthesized].map(({ adaptive }) => adaptive?.countTable);
  const [keyBefore, keyNext] = [versions.deployed.described(countsBefore), versions.synthesized.described(countsNext)];
  const isKnown = keyBefore !== undefined && keyNext !== undefined;
  const isAdaptive = countsBefore !== undefined && countsNext !== undefined;
  const isSameTable = !isAdaptive || (isKnown ? keyNext === keyBefore : countsNext === countsBefore);
  return [
    { ...setting('valueAttribute'), ...(isInShard ? VALUES_OF_INDEX : KEY_OF_INDEX) },
    { ...setting('shardAttribute'), ...KEY_OF_INDEX },
    { ...setting('sortKeyAttributes'), property: 'sortKey', ...KEY_OF_INDEX },
    { ...setting('keyLayout', hasValue ? synthesized.keyLayout : deployed.keyLayout), ...KEY_OF_INDEX },
    ...shardFormatSettings(deployed, synthesized, FORMAT_OF_INDEX),
    {
      property: 'shardCountTable',
      deployed: countsBefore,
      synthesized: isSameTable ? countsBefore : countsNext === countsBefore ? keyNext : countsNext,
      ...TABLE_OF_COUNTS,
    },
  ];
}

function tableFindings(location: Location, deployed: KeyShardingMetadata, synthesized: KeyShardingMetadata): Finding[] {
  return [
    ...skippedTableStep(location, deployed.shards, synthesized.shards),
    ...changedSettings(location, 'KeyShardedTable', 'the table', tableSettings(deployed, synthesized)),
  ];
}

const TABLE_GUIDE = readGuide('key-sharded-tables', 'what-cannot-change');
const KEYS_OF_ITEMS =
  'readers would miss existing items, because their keys do not change. Create another KeyShardedTable, and copy the ' +
  `items, or acknowledge this warning if the table is empty.${TABLE_GUIDE}`;
const VALUES_OF_ITEMS =
  'writers would put items under the values of the other attribute. Create another KeyShardedTable, and copy the items, or ' +
  `acknowledge this warning if both attributes hold the same values.${TABLE_GUIDE}`;
const SHARDS_OF_ITEMS =
  'shardKey would return wrong keys for existing items, and an item that is put again would exist twice. Stop the writers, ' +
  `acknowledge this warning, and start the writers after reshardItems has moved every item to its new shard.${TABLE_GUIDE}`;
const RANDOM_SHARDS =
  'only queries would find items, and an item that is put again would exist twice. Acknowledge this warning if you use ' +
  `the table in this way.${TABLE_GUIDE}`;

function tableSettings(deployed: KeyShardingMetadata, synthesized: KeyShardingMetadata): Setting[] {
  const setting = (property: keyof KeyShardingMetadata, consequence: string, next: unknown = synthesized[property]) =>
    ({ property, deployed: deployed[property], synthesized: next, effect: 'missed', consequence }) as const;
  // A table with random shards has no `shardedBy`, so a change of the strategy also changes `shardedBy`. Report only
  // the strategy.
  const shardedBy = deployed.strategy === synthesized.strategy ? synthesized.shardedBy : deployed.shardedBy;
  return [
    ...shardFormatSettings(deployed, synthesized, KEYS_OF_ITEMS),
    setting('valueAttribute', VALUES_OF_ITEMS),
    setting('strategy', synthesized.strategy === 'random' ? RANDOM_SHARDS : SHARDS_OF_ITEMS),
    setting('shardedBy', SHARDS_OF_ITEMS, shardedBy),
  ];
}

const KEYSPACES_GUIDE = readGuide('keyspaces', 'change-the-number-of-shards');
const PLACES_OF_ROWS =
  'readers would miss existing rows in shards that they no longer query. Create another table, and copy the rows, or ' +
  `acknowledge this warning if the table is empty.${KEYSPACES_GUIDE}`;
const SHARDS_OF_ROWS =
  'selectRow would not find existing rows, and a row that is written again would exist twice. Create another table, and copy ' +
  `the rows, or acknowledge this warning if the table is empty.${KEYSPACES_GUIDE}`;

function keyspacesFindings(location: Location, deployed: KeyspacesMetadata, synthesized: KeyspacesMetadata): Finding[] {
  const setting = (property: keyof KeyspacesMetadata, consequence: string, next: unknown = synthesized[property]) =>
    ({ property, deployed: deployed[property], synthesized: next, effect: 'missed', consequence }) as const;
  const calculatedFrom =
    deployed.strategy === synthesized.strategy ? synthesized.calculatedFrom : deployed.calculatedFrom;
  return [
    ...skippedStep(location, 'ShardedKeyspacesTable', 'the table', deployed.shards, synthesized.shards),
    ...changedSettings(location, 'ShardedKeyspacesTable', 'the table', [
      setting('firstShard', PLACES_OF_ROWS),
      setting('strategy', SHARDS_OF_ROWS),
      setting('calculatedFrom', SHARDS_OF_ROWS, calculatedFrom),
    ]),
  ];
}

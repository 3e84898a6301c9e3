import { Annotations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { readGuide } from '../../construct/guide-link';
import {
  numberingOf,
  type ShardedTableConfig,
  type ShardNumbering,
} from '../../core/sharded-index/config/sharded-index-config';
import { type Setting, warnOfChangedSettings, warnOfSkippedStep, warnOfSkippedTableStep } from './deployed-changes';
import { deployedMetadata } from './deployed-metadata';
import {
  type DescribedIndex,
  type IndexMetadata,
  KEY_SHARDING,
  type KeyShardingMetadata,
  SHARDED_INDEXES,
} from './sharding-metadata';

/** Warns of what a deployment would change in an index so that readers miss items of it, or so that it fails. */
export function warnOfIndexChange(table: IConstruct, index: DescribedIndex): void {
  const { indexName, shards, adaptive } = index.config;
  const deployed = deployedMetadata<{ [indexName: string]: IndexMetadata }>(table, SHARDED_INDEXES)?.[indexName];
  if (deployed === undefined) return;
  if (deployed.adaptive !== undefined && adaptive === undefined) {
    Annotations.of(table).addWarningV2(
      'cdk-even-shards:ShardedIndex.fixedAgain',
      `queries of ${indexName} miss items of values that have grown beyond its fixed shardCounts: deploy what they have grown ` +
        `to as initialByValue before.${readGuide('adaptive-counts', 'back-to-fixed-counts')}`,
    );
  }
  warnOfSkippedStep(table, 'ShardedIndex', indexName, deployed.shards, shards);
  warnOfChangedSettings(table, 'ShardedIndex', indexName, indexSettings(deployed, index));
}

/** Warns of what a deployment would change in a table that is sharded by its own key so that items of it are missed. */
export function warnOfTableChange(table: IConstruct, config: ShardedTableConfig): void {
  const deployed = deployedMetadata<KeyShardingMetadata>(table, KEY_SHARDING);
  if (deployed === undefined) return;
  warnOfSkippedTableStep(table, deployed.shards, config.shards);
  warnOfChangedSettings(table, 'KeyShardedTable', 'the table', tableSettings(deployed, config));
}

const INDEX_GUIDE = readGuide('index-resharding', 'what-cannot-change');
const KEY_OF_INDEX =
  'the deployment would fail, for DynamoDB does not change the key of an index. Add an index with another indexName, and ' +
  `delete this one in a later deployment.${INDEX_GUIDE}`;
const VALUES_OF_INDEX =
  'queries would miss every item until it is written again, for its shard attribute names the earlier value. Add an index ' +
  `with another indexName and shardAttribute.${INDEX_GUIDE}`;
const TABLE_OF_COUNTS =
  'readers and writers would overlook items of values that have grown, for they would look for the counts in the other table. ' +
  `Keep the table, or acknowledge this warning once the other one holds the same counts.${INDEX_GUIDE}`;

const NUMBERS_OF_INDEX =
  'queries would miss items whose shard attribute has the earlier number or form, until a mover or a writer has written them again. ' +
  `Add an index with another indexName and shardAttribute.${INDEX_GUIDE}`;

function numberingSettings(deployed: ShardNumbering, next: ShardNumbering, consequence: string): Setting[] {
  const now: Record<string, unknown> = { ...numberingOf(next) };
  return Object.entries(numberingOf(deployed)).map(([name, was]) => [name, was, now[name], consequence]);
}

function indexSettings(deployed: IndexMetadata, { config, countTable }: DescribedIndex): Setting[] {
  const { keyLayout, valueAttribute, shardAttribute, sortKeyAttributes } = config;
  const both = [deployed, config];
  // In this layout, the key of the index is the shard attribute alone, so DynamoDB has nothing to refuse.
  const isInShard = both.every((each) => each.keyLayout === 'single-attribute' && each.valueAttribute !== undefined);
  // Without a value, the key is the number of the shard in both layouts.
  const hasValue = both.some((each) => each.valueAttribute !== undefined);
  const known = deployed.adaptive?.countTable;
  return [
    ['valueAttribute', deployed.valueAttribute, valueAttribute, isInShard ? VALUES_OF_INDEX : KEY_OF_INDEX],
    ['shardAttribute', deployed.shardAttribute, shardAttribute, KEY_OF_INDEX],
    ['sortKey', deployed.sortKeyAttributes, sortKeyAttributes, KEY_OF_INDEX],
    ['keyLayout', deployed.keyLayout, hasValue ? keyLayout : deployed.keyLayout, KEY_OF_INDEX],
    ...numberingSettings(deployed, config, NUMBERS_OF_INDEX),
    ['shardCountTable', known, known && countTable ? countTable : known, TABLE_OF_COUNTS],
  ];
}

const TABLE_GUIDE = readGuide('sharded-tables', 'what-of-a-table-cannot-change');
const KEYS_OF_ITEMS =
  'readers would miss items that are there, for their keys stay as they are. Make another KeyShardedTable, and copy the ' +
  `items, or acknowledge this warning if the table is empty.${TABLE_GUIDE}`;
const VALUES_OF_ITEMS =
  'writers would put items under the values of the other attribute. Make another KeyShardedTable, and copy the items, or ' +
  `acknowledge this warning if both attributes hold the same values.${TABLE_GUIDE}`;
const SHARDS_OF_ITEMS =
  'shardKey would miss items that are there, and an item that is put again would be there twice. Stop the writers, ' +
  `acknowledge this warning, and let them go on once reshardItems has moved every item to its new shard.${TABLE_GUIDE}`;

const RANDOM_SHARDS =
  'only queries would find items, and an item that is put again would be there twice. Acknowledge this warning if that is how ' +
  `the table is used.${TABLE_GUIDE}`;

function tableSettings(deployed: KeyShardingMetadata, config: ShardedTableConfig): Setting[] {
  const { valueAttribute, strategy, shardedBy } = config;
  const isOfStrategy = deployed.strategy !== strategy;
  return [
    ...numberingSettings(deployed, config, KEYS_OF_ITEMS),
    ['valueAttribute', deployed.valueAttribute, valueAttribute, VALUES_OF_ITEMS],
    ['strategy', deployed.strategy, strategy, strategy === 'random' ? RANDOM_SHARDS : SHARDS_OF_ITEMS],
    // Random shards follow from no attribute, so a change of the strategy changes these, too.
    ['shardedBy', deployed.shardedBy, isOfStrategy ? deployed.shardedBy : shardedBy, SHARDS_OF_ITEMS],
  ];
}

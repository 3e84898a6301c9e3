import type { CfnResource } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { readGuide } from '../construct/guide-link';
import { calculatedFromColumns, type ShardedKeyspacesConfig } from '../core/keyspaces/sharded-keyspaces-config';
import { warnOfChangedSettings, warnOfSkippedStep } from '../table/deployed/deployed-changes';
import { deployedMetadata } from '../table/deployed/deployed-metadata';

/** The key of the metadata of a table that says how it is sharded. */
const KEYSPACES_SHARDING = 'EvenShards::KeyspacesSharding';

/** What no property of the table says. */
type KeyspacesSharding = Pick<ShardedKeyspacesConfig, 'shards' | 'firstShard' | 'strategy'> & {
  readonly calculatedFrom: string[];
};

/** Writes how a table is sharded into its metadata, so that `cdk diff` shows a change of it. */
export function describeSharding(table: CfnResource, config: ShardedKeyspacesConfig): void {
  table.addMetadata(KEYSPACES_SHARDING, shardingOf(config));
}

/** Warns of what a deployment would change in a table so that rows of it are missed. */
export function warnOfKeyspacesChange(table: IConstruct, config: ShardedKeyspacesConfig): void {
  const deployed = deployedMetadata<KeyspacesSharding>(table, KEYSPACES_SHARDING);
  if (deployed === undefined) return;
  const next = shardingOf(config);
  warnOfSkippedStep(table, 'ShardedKeyspacesTable', 'the table', deployed.shards, next.shards);
  const isOfStrategy = deployed.strategy !== next.strategy;
  warnOfChangedSettings(table, 'ShardedKeyspacesTable', 'the table', [
    ['firstShard', deployed.firstShard, next.firstShard, PLACES_OF_ROWS],
    ['strategy', deployed.strategy, next.strategy, SHARDS_OF_ROWS],
    // Random shards follow from no column, so a change of the strategy changes these, too.
    [
      'calculatedFrom',
      deployed.calculatedFrom,
      isOfStrategy ? deployed.calculatedFrom : next.calculatedFrom,
      SHARDS_OF_ROWS,
    ],
  ]);
}

function shardingOf(config: ShardedKeyspacesConfig): KeyspacesSharding {
  const { shards, firstShard, strategy } = config;
  const calculatedFrom = strategy === 'random' ? [] : calculatedFromColumns(config).map(({ name }) => name);
  return { shards, firstShard, strategy, calculatedFrom };
}

const GUIDE = readGuide('keyspaces', 'change-the-number-of-shards');
const PLACES_OF_ROWS =
  'readers would miss rows that are there, in shards that they do not ask any more. Make another table, and copy the rows, or ' +
  `acknowledge this warning if the table is empty.${GUIDE}`;
const SHARDS_OF_ROWS =
  'selectRow would not find rows that are there, and a row that is written again would be there twice. Make another table, and copy ' +
  `the rows, or acknowledge this warning if the table is empty.${GUIDE}`;

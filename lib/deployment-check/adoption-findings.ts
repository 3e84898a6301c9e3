import { readGuide } from '../construct/guide-link';
import { type ComparedStack, type ResourceChange, resourceChanges, resourceKey } from './compared-stacks';
import { type Finding, finding } from './finding';
import { indexNames } from './index-and-replica-findings';
import { configuredFunctions, hasConfig, listed } from './reader-findings';
import type { Replacement } from './resource-findings';
import { RolePermissions } from './role-permissions';
import { type IndexMetadata, KEPT_INDEXES, SHARDED_INDEXES, shardingMetadata } from './sharding-metadata';

/** The ids of the findings that are true only for a table with items. */
export const OF_TABLES_WITH_ITEMS: readonly string[] = [
  'ShardedIndex.adoptedAtOnce',
  'ShardedIndex.unboundWriters',
].map((id) => `cdk-even-shards:${id}`);

const GUIDE = readGuide('index-resharding', 'adopt-an-index-on-a-table-that-has-items');

const WRITES = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:BatchWriteItem'];

/** Findings for sharded indexes that a deployed table gets. The existing items of the table have no shard attributes. */
export function adoptionFindings(
  stacks: readonly ComparedStack[],
  replaced: ReadonlyMap<string, Replacement>,
): Finding[] {
  const versions = stacks.map(({ synthesized }) => synthesized);
  const functions = configuredFunctions(versions);
  const permissions = new RolePermissions(versions);
  return stacks.flatMap(resourceChanges).flatMap((table) => {
    if (replaced.has(resourceKey(table))) return [];
    return adoptedIndexes(table).flatMap((indexName) => {
      const configured = functions.filter((each) => hasConfig(each, table, indexName)).map(({ path }) => path);
      const ofIndex = (index: string | undefined) => index === indexName;
      const ofAll = (index: string | undefined) => index === '*';
      const key = resourceKey(table);
      const readers = [
        ...permissions.holdersOf(['dynamodb:Query'], key, ofIndex),
        ...permissions.holdersOf(['dynamodb:Query'], key, ofAll).filter((each) => configured.includes(each)),
      ];
      const writers = permissions.holdersOf(WRITES, key, (index) => index === undefined);
      const unbound = writers.filter((writer) => !configured.includes(writer));
      return [
        ...(readers.length === 0 ? [] : [adoptedAtOnce(table, indexName, [...new Set(readers)])]),
        ...(isKept(table, indexName) ? [] : [unboundWriters(table, indexName, unbound)]),
      ];
    });
  });
}

/** The new sharded indexes of a deployed table. An index with the shard attribute of another index has all its items. */
function adoptedIndexes({ deployed, synthesized }: ResourceChange): string[] {
  const [before = {}, next = {}] = [deployed, synthesized].map(({ Metadata }) =>
    shardingMetadata<{ readonly [indexName: string]: IndexMetadata }>(Metadata, SHARDED_INDEXES),
  );
  const written = Object.values(before).map(({ shardAttribute }) => shardAttribute);
  const existing = indexNames(deployed);
  return Object.entries(next).flatMap(([indexName, { shardAttribute }]) =>
    existing.includes(indexName) || Object.hasOwn(before, indexName) || written.includes(shardAttribute)
      ? []
      : [indexName],
  );
}

function isKept({ synthesized }: ResourceChange, indexName: string): boolean {
  return (shardingMetadata<readonly string[]>(synthesized.Metadata, KEPT_INDEXES) ?? []).includes(indexName);
}

function adoptedAtOnce(table: ResourceChange, indexName: string, readers: readonly string[]): Finding {
  const text =
    `index ${indexName} would be new, and ${listed(readers)} would query it in the same deployment: a query misses each item without a shard ` +
    'attribute, and no existing item has one. First deploy the index with its writers, a mover or an IndexKeeper. Deploy the readers after all items ' +
    `have shard attributes.${GUIDE}`;
  return finding(table, 'ShardedIndex.adoptedAtOnce', 'missed', 'split', text);
}

function unboundWriters(table: ResourceChange, indexName: string, writers: readonly string[]): Finding {
  const known =
    writers.length === 0
      ? 'no function of this app writes items without them'
      : `these functions or roles may write items without them: ${listed(writers)}`;
  const text =
    `index ${indexName} would be new, and contains only items with shard attributes: ${known}. Bind each writer of the table with bindWriter, also a ` +
    `writer of another app, or add an IndexKeeper for writers that cannot change.${GUIDE}`;
  return finding(table, 'ShardedIndex.unboundWriters', 'missed', 'know', text);
}

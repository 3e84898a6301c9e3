import type { Resource } from '../cloudformation/template';
import { guideAddress, readGuide } from '../construct/guide-link';
import { CORRECTS_ITEMS, SEGMENTS_AT_ONCE } from '../core/contract/function-environment';
import { type ComparedStack, type NameOf, type ResourceChange, resourceChanges, resourceKey } from './compared-stacks';
import { type Finding, finding } from './finding';
import { indexNames } from './index-and-replica-findings';
import { type ConfiguredFunction, configuredFunctions, hasConfig, listed } from './reader-findings';
import type { Replacement } from './resource-findings';
import { RolePermissions } from './role-permissions';
import { type IndexMetadata, KEPT_INDEXES, SHARDED_INDEXES, shardingMetadata } from './sharding-metadata';

/** The ids of the findings that are true only for a table with items. */
export const OF_TABLES_WITH_ITEMS: readonly string[] = [
  'ShardedIndex.adoptedAtOnce',
  'ShardedIndex.unboundWriters',
].map((id) => `cdk-even-shards:${id}`);

const WRITES = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:BatchWriteItem'];

/**
 * Findings for sharded indexes that a deployed table gets, and for sharded indexes that lose their keeper. The existing items of
 * the table have no shard attributes.
 */
export function adoptionFindings(
  stacks: readonly ComparedStack[],
  replaced: ReadonlyMap<string, Replacement>,
  nameOf: NameOf,
): Finding[] {
  const versions = stacks.map(({ synthesized }) => synthesized);
  const functions = configuredFunctions(versions);
  const keepersThat = (corrects: boolean) =>
    functions.flatMap(({ path, name, variable }) =>
      name === CORRECTS_ITEMS && variable === `"${corrects}"` ? [path] : [],
    );
  const [keepers, countingKeepers] = [keepersThat(true), keepersThat(false)];
  // Keepers and movers, also of other indexes, change only shard attributes and keys of existing items.
  const correctors = functions.flatMap(({ path, name }) =>
    name === CORRECTS_ITEMS || name === SEGMENTS_AT_ONCE ? [path] : [],
  );
  const permissions = new RolePermissions(versions);
  const before = stacks.flatMap(({ deployed }) => deployed ?? []);
  const readersBefore = readersIn(configuredFunctions(before), new RolePermissions(before));
  const readersNow = readersIn(functions, permissions);
  return stacks.flatMap(resourceChanges).flatMap((table) => {
    if (replaced.has(resourceKey(table))) return [];
    const key = resourceKey(table);
    const configuredWith = (indexName: string) =>
      functions.filter((each) => hasConfig(each, table, indexName)).map(({ path }) => path);
    const unboundIn = (configured: readonly string[]) =>
      permissions
        .holdersOf(WRITES, key)
        .filter((writer) => !configured.includes(writer) && !correctors.includes(writer))
        .map(nameOf);
    const isKept = (indexName: string) =>
      kept.includes(indexName) || configuredWith(indexName).some((path) => keepers.includes(path));
    const [keptBefore, kept] = [table.deployed, table.synthesized].map(keptIndexes) as [string[], string[]];
    const sharded = Object.keys(shardedIndexes(table.synthesized));
    const lost = keptBefore.filter((indexName) => sharded.includes(indexName) && !isKept(indexName));
    const adopted = adoptedIndexes(table, functions).flatMap((indexName) => {
      const configured = configuredWith(indexName);
      const readers = readersNow(table, indexName);
      return [
        ...(readers.length === 0 ? [] : [adoptedAtOnce(table, indexName, readers.map(nameOf))]),
        ...(isKept(indexName) ? [] : [unboundWriters(table, indexName, unboundIn(configured))]),
      ];
    });
    const onlyCounted = indexNames(table.synthesized).filter(
      (indexName) =>
        indexNames(table.deployed).includes(indexName) &&
        !isKept(indexName) &&
        configuredWith(indexName).some((path) => countingKeepers.includes(path)),
    );
    const early = onlyCounted.flatMap((indexName) => {
      const old = readersBefore(table, indexName);
      const readers = readersNow(table, indexName).filter((each) => !old.includes(each));
      const writers = unboundIn(configuredWith(indexName));
      return readers.length === 0 ? [] : [readBeforeKept(table, indexName, readers.map(nameOf), writers)];
    });
    return [...adopted, ...early, ...lost.map((each) => keeperRemoved(table, each, unboundIn(configuredWith(each))))];
  });
}

/** The functions and roles that query an index of a table. */
function readersIn(functions: readonly ConfiguredFunction[], permissions: RolePermissions) {
  return (table: ResourceChange, indexName: string): string[] => {
    const configured = functions.filter((each) => hasConfig(each, table, indexName)).map(({ path }) => path);
    // A policy that allows queries of every index can be of a reader of another index.
    const named = permissions.holdersOf(['dynamodb:Query'], resourceKey(table), indexName, true);
    return permissions
      .holdersOf(['dynamodb:Query'], resourceKey(table), indexName)
      .filter((each) => configured.includes(each) || named.includes(each));
  };
}

type ShardedIndexes = { readonly [indexName: string]: IndexMetadata };

function shardedIndexes({ Metadata }: Resource): ShardedIndexes {
  return shardingMetadata<ShardedIndexes>(Metadata, SHARDED_INDEXES) ?? {};
}

/**
 * The new sharded indexes of a deployed table. An index with the shard attribute of another index has all its items. A table
 * that is not a `ShardedTable` has no sharding metadata, so a function has the only description of its sharded index.
 */
function adoptedIndexes(table: ResourceChange, functions: readonly ConfiguredFunction[]): string[] {
  const { deployed, synthesized } = table;
  const [before, next] = [deployed, synthesized].map(shardedIndexes) as [ShardedIndexes, ShardedIndexes];
  const written = Object.values(before).map(({ shardAttribute }) => shardAttribute);
  const existing = indexNames(deployed);
  const described = Object.entries(next).flatMap(([indexName, { shardAttribute }]) =>
    existing.includes(indexName) || Object.hasOwn(before, indexName) || written.includes(shardAttribute)
      ? []
      : [indexName],
  );
  const isSharded = ({ variable }: ConfiguredFunction) => variable.includes('\\"shardAttribute\\":');
  const others = indexNames(synthesized).filter(
    (indexName) =>
      !existing.includes(indexName) &&
      !Object.hasOwn(next, indexName) &&
      functions.some((each) => isSharded(each) && hasConfig(each, table, indexName)),
  );
  return [...described, ...others];
}

function keptIndexes({ Metadata }: Resource): string[] {
  return shardingMetadata<string[]>(Metadata, KEPT_INDEXES) ?? [];
}

function adoptedAtOnce(table: ResourceChange, indexName: string, readers: readonly string[]): Finding {
  const text =
    `index ${indexName} would be new, and ${listed(readers)} would query it in the same deployment: a query misses each item without a shard ` +
    'attribute, and no existing item has one. First deploy the index with its writers, a mover or an IndexKeeper. Deploy the readers after all items ' +
    `have shard attributes.${readGuide('adopt', 'consumers-that-read-in-the-meantime')}`;
  return finding(table, 'ShardedIndex.adoptedAtOnce', 'missed', 'split', text);
}

function readBeforeKept(
  table: ResourceChange,
  indexName: string,
  readers: readonly string[],
  writers: readonly string[],
): Finding {
  const text =
    `${listed(readers)} would query index ${indexName}, while its IndexKeeper has correct: false: a query misses each item without shard attributes, ` +
    `and the keeper only counts these items: ${describeUnbound(writers)}. First remove correct: false, and let a sweep ` +
    `complete.${readGuide('adopt', 'writers-that-cannot-change')}`;
  return finding(table, 'ShardedIndex.adoptedAtOnce', 'missed', writers.length === 0 ? 'know' : 'prepare', text);
}

function unboundWriters(table: ResourceChange, indexName: string, writers: readonly string[]): Finding {
  const text =
    `index ${indexName} would be new, and contains only items with shard attributes: ${describeUnbound(writers)}. Bind each writer of the table with bindWriter, also a ` +
    `writer of another app, or add an IndexKeeper for writers that cannot change.${readGuide('adopt', 'writers-that-can-change')} and ` +
    guideAddress('adopt', 'writers-that-cannot-change');
  return finding(table, 'ShardedIndex.unboundWriters', 'missed', 'know', text);
}

function keeperRemoved(table: ResourceChange, indexName: string, writers: readonly string[]): Finding {
  const text =
    `index ${indexName} would lose its IndexKeeper, and queries would miss each item that is then written without shard attributes: ` +
    `${describeUnbound(writers)}. First bind each writer of the table with bindWriter, also a writer of another app.` +
    readGuide('adopt', 'writers-that-can-change');
  return finding(table, 'ShardedIndex.keeperRemoved', 'missed', writers.length === 0 ? 'know' : 'prepare', text);
}

function describeUnbound(writers: readonly string[]): string {
  return writers.length === 0
    ? 'no function of this app writes items without them'
    : `these functions or roles may write items without them: ${listed(writers)}`;
}
